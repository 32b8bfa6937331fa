import * as Schema from "effect/Schema"
import { maxTools } from "./chat/ChatRequestSchema.ts"
import { isObject } from "./validation/Guard.ts"

const webSearch = /^web_search(_[a-z0-9_]{1,48})?$/

/** Web search is the only hosted tool that is removed without an error, since agents send it with every call. */
export const isWebSearch = (type: string): boolean => webSearch.test(type)

/** The hosted tools that would be removed from a request, valid or not, each once. */
export const webSearchIn = (json: unknown): ReadonlyArray<string> => {
  const given = isObject(json) ? json["tools"] : undefined
  if (!Array.isArray(given)) return []
  const types = given.slice(0, maxTools).map((tool) => (isObject(tool) ? tool["type"] : undefined))
  return [...new Set(types)].filter((type) => typeof type === "string").filter(isWebSearch)
}

export const WebSearchType = Schema.String.pipe(Schema.pattern(webSearch)).annotations({
  description: "Hosted web search: removed before execution, and named in `X-Service-Dropped-Tools`."
})
