import type { AssistantBlock, Conversation, TextBlock, UserBlock } from "./Turns.ts"

/** More breakpoints are refused; the later one covers more. */
const mostBreakpoints = 4

/** The texts up to which the prompt is to be cached. */
export const lastBreakpoints = ({ instructions, turns }: Conversation): ReadonlySet<TextBlock> => {
  const all = [...instructions, ...turns.flatMap(({ blocks }): ReadonlyArray<UserBlock | AssistantBlock> => blocks)]
  const texts = all.flatMap((block) =>
    block._tag === "Text" ? [block] : block._tag === "ToolResult" ? block.content : []
  )
  return new Set(texts.filter((block) => block.isCacheBreakpoint).slice(-mostBreakpoints))
}
