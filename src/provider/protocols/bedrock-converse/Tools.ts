import type { JsonObject } from "../../../domain/Chat.ts"
import { strictSchema } from "../anthropic-messages/StrictSchema.ts"
import type { ToolNames } from "../turns/ToolNames.ts"
import type { Offer, OfferedTool } from "../turns/Tools.ts"
import type { AssistantBlock, Conversation, TextBlock, UserBlock } from "../turns/Turns.ts"

/**
 * The tools of a call. Whenever the conversation has calls there must be some: without any on offer those that were called
 * stand there, and the model is told to leave them alone.
 */
export const toolConfigOf = (offer: Offer, conversation: Conversation, names: ToolNames): JsonObject | undefined => {
  if (offer.choice?._tag === "None") return undefined
  if (offer.tools.length > 0) {
    return { tools: offer.tools.map((tool) => toolSpec(tool, names)), toolChoice: lowerChoice(offer, names) }
  }
  const called = calledIn(conversation)
  return called.length === 0 ? undefined : { tools: called.map((name) => retired(names.toProvider(name))) }
}

/**
 * The same conversation in words: what was called, with what, and what came back. There is no choice by which a model could be
 * kept from calling, so that a call that must bring none has no tools, and then the conversation may not have any either.
 */
export const withoutTools = (conversation: Conversation): Conversation => ({
  ...conversation,
  turns: conversation.turns.map((turn) =>
    turn.role === "user"
      ? { ...turn, blocks: turn.blocks.map((block): UserBlock => toldResult(block)) }
      : { ...turn, blocks: turn.blocks.map((block): AssistantBlock => toldCall(block)) }
  )
})

const toldCall = (block: AssistantBlock): AssistantBlock =>
  block._tag === "ToolCall" ? told(`[Called the tool ${block.name} with ${JSON.stringify(block.input)}]`) : block

const toldResult = (block: UserBlock): UserBlock =>
  block._tag === "ToolResult"
    ? told(
        `[The tool ${block.name} answered]\n${block.content.map(({ text }) => text).join("\n")}`,
        block.content.some(({ isCacheBreakpoint }) => isCacheBreakpoint)
      )
    : block

const told = (text: string, isCacheBreakpoint = false): TextBlock => ({ _tag: "Text", text, isCacheBreakpoint })

const toolSpec = (tool: OfferedTool, names: ToolNames): JsonObject => ({
  toolSpec: {
    name: names.toProvider(tool.name),
    description: tool.description === "" ? undefined : tool.description,
    inputSchema: { json: tool.strict === true ? strictSchema(tool.parameters) : tool.parameters },
    strict: tool.strict === true ? true : undefined
  }
})

const retired = (name: string): JsonObject => ({
  toolSpec: {
    name,
    description: "Was called earlier in this conversation. It is not available any more: do not call it.",
    inputSchema: { json: { type: "object", properties: {} } }
  }
})

const lowerChoice = ({ choice }: Offer, names: ToolNames): JsonObject | undefined => {
  switch (choice?._tag) {
    case "Auto":
      return { auto: {} }
    case "Required":
      return { any: {} }
    case "Tool":
      return { tool: { name: names.toProvider(choice.name) } }
    default:
      return undefined
  }
}

const calledIn = ({ turns }: Conversation): ReadonlyArray<string> => [
  ...new Set(
    turns.flatMap(({ blocks, role }) =>
      role === "assistant" ? blocks.flatMap((block) => (block._tag === "ToolCall" ? [block.name] : [])) : []
    )
  )
]
