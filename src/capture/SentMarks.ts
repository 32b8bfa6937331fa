import type { CapturedBlock } from "../domain/CapturedCall.ts"

type Mark = CapturedBlock["cacheMark"]

/** The longest time for which an attempt could mark a prompt for its provider's cache, by what of the request was not sent; `null`: no mark was. */
export const maxMarkOf = (dropped: ReadonlyArray<string>): Mark => {
  // a request has marks of one kind: those of Messages, or those of chat completions and Responses
  if (dropped.includes("cache_control") || dropped.includes("messages.prompt_cache_breakpoint")) return null
  return dropped.includes("cache_control.ttl") ? "5m" : "1h"
}

/** What the provider was sent of a mark. */
export const sentMark = (mark: Mark, longest: Mark): Mark => (mark === null || longest === "1h" ? mark : longest)
