import type { AssistantBlock, ResultBlock, UserBlock } from "./Blocks.ts"
import type { Conversation } from "./Conversation.ts"

/** Providers reject more breakpoints; a later breakpoint covers a longer prefix. */
const maxBreakpoints = 4

type Block = UserBlock | AssistantBlock | ResultBlock

/** The blocks that end a cached prefix of the prompt, the last ones; `others` are breakpoints outside the conversation. */
export const lastBreakpoints = ({ instructions, turns }: Conversation, others = 0): ReadonlySet<Block> => {
  const found: Array<Block> = []
  const add = (block: Block): void => {
    if (isBreakpoint(block)) found.push(block)
  }
  for (const block of instructions) add(block)
  for (const turn of turns) {
    for (const block of turn.blocks) {
      if (block._tag === "ToolResult") for (const inner of block.content) add(inner)
      add(block)
    }
    if (turn.role === "user") for (const block of turn.instructions ?? []) add(block)
  }
  const room = Math.max(0, maxBreakpoints - others)
  return new Set(room === 0 ? [] : found.slice(-room))
}

const isBreakpoint = (block: Block): boolean =>
  ("isCacheBreakpoint" in block && block.isCacheBreakpoint) ||
  ("cacheControl" in block && block.cacheControl !== undefined)
