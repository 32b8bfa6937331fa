import type { JsonObject } from "../../../domain/Chat.ts"
import { writeExactly } from "../../../domain/ExactJson.ts"
import { strictSchema } from "../anthropic-messages/StrictSchema.ts"
import type { AssistantBlock, ResultBlock, TextBlock, UserBlock } from "../shared/Blocks.ts"
import type { Conversation } from "../shared/Conversation.ts"
import type { ToolNames } from "../shared/ToolNames.ts"
import type { AvailableTool, ToolSet } from "../shared/Tools.ts"
import { cachePoint } from "./Messages.ts"

/**
 * The tools of a call. A conversation with tool calls requires tool definitions: when the request has none, the tools that were
 * called before are declared, with a description that forbids calling them.
 */
export const lowerTools = (
  toolSet: ToolSet,
  conversation: Conversation,
  names: ToolNames,
  isCached: boolean
): JsonObject | undefined => {
  if (toolSet.choice?._tag === "None") return undefined
  if (toolSet.tools.length > 0) {
    const specs = toolSet.tools.map((tool) => toolSpec(tool, names))
    return { tools: isCached ? [...specs, cachePoint] : specs, toolChoice: lowerChoice(toolSet, names) }
  }
  const called = calledIn(conversation)
  return called.length === 0 ? undefined : { tools: called.map((name) => retiredTool(names.toProvider(name))) }
}

/**
 * The same conversation with tool calls and results written as text. The API has no tool choice `none`, so a request that must
 * not call tools is sent without tools, and then the conversation may not contain tool blocks either.
 */
export const withoutTools = (conversation: Conversation): Conversation => ({
  ...conversation,
  turns: conversation.turns.map((turn) =>
    turn.role === "user"
      ? { ...turn, blocks: turn.blocks.flatMap((block): ReadonlyArray<UserBlock> => resultAsText(block)) }
      : { ...turn, blocks: turn.blocks.map((block): AssistantBlock => callAsText(block)) }
  )
})

const callAsText = (block: AssistantBlock): AssistantBlock =>
  block._tag === "ToolCall" ? textBlock(`[Called the tool ${block.name} with ${writeExactly(block.input)}]`) : block

/** What a result has besides text follows it. */
const resultAsText = (block: UserBlock): ReadonlyArray<UserBlock> => {
  if (block._tag !== "ToolResult") return [block]
  const texts = block.content.filter((inner) => inner._tag === "Text")
  const others = block.content.filter((inner): inner is Exclude<ResultBlock, TextBlock> => inner._tag !== "Text")
  const isBreakpoint =
    block.cacheControl !== undefined || block.content.some((inner) => inner.cacheControl !== undefined)
  const text = `[The tool ${block.name} answered]\n${texts.map(({ text }) => text).join("\n")}`
  return [textBlock(text, isBreakpoint || texts.some(({ isCacheBreakpoint }) => isCacheBreakpoint)), ...others]
}

const textBlock = (text: string, isCacheBreakpoint = false): TextBlock => ({ _tag: "Text", text, isCacheBreakpoint })

const toolSpec = (tool: AvailableTool, names: ToolNames): JsonObject => ({
  toolSpec: {
    name: names.toProvider(tool.name),
    description: tool.description === "" ? undefined : tool.description,
    inputSchema: { json: tool.strict === true ? strictSchema(tool.parameters) : tool.parameters },
    strict: tool.strict === true ? true : undefined
  }
})

const retiredTool = (name: string): JsonObject => ({
  toolSpec: {
    name,
    description: "Was called earlier in this conversation. It is not available any more: do not call it.",
    inputSchema: { json: { type: "object", properties: {} } }
  }
})

const lowerChoice = ({ choice }: ToolSet, names: ToolNames): JsonObject | undefined => {
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
