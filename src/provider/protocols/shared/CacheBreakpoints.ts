import type { AssistantBlock, Conversation, TextBlock, UserBlock } from "./Conversation.ts"

/** Providers reject more breakpoints; a later breakpoint covers a longer prefix. */
const maxBreakpoints = 4

/** The text blocks that end a cached prefix of the prompt. */
export const lastBreakpoints = ({ instructions, turns }: Conversation): ReadonlySet<TextBlock> => {
  const all = [...instructions, ...turns.flatMap(({ blocks }): ReadonlyArray<UserBlock | AssistantBlock> => blocks)]
  const texts = all.flatMap((block) =>
    block._tag === "Text" ? [block] : block._tag === "ToolResult" ? block.content : []
  )
  return new Set(texts.filter((block) => block.isCacheBreakpoint).slice(-maxBreakpoints))
}
