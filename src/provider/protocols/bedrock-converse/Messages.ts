import type { JsonObject } from "../../../domain/Chat.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import type {
  AssistantBlock,
  ReasoningDetailBlock,
  ResultBlock,
  TextBlock,
  ToolResultBlock,
  UserBlock
} from "../shared/Blocks.ts"
import { lastBreakpoints } from "../shared/CacheBreakpoints.ts"
import type { Conversation } from "../shared/Conversation.ts"
import type { ToolNames } from "../shared/ToolNames.ts"
import type { Family } from "./Family.ts"
import { Documents, type LoweredBlocks, lowerImage } from "./Media.ts"

export interface LoweredMessages {
  readonly system: ReadonlyArray<JsonObject>
  readonly messages: ReadonlyArray<Message>
}

interface Message {
  readonly role: "user" | "assistant"
  readonly content: ReadonlyArray<JsonObject>
}

export const lowerMessages = (
  conversation: Conversation,
  names: ToolNames,
  family: Family,
  caching: Caching
): LoweredMessages | ProviderFailure => {
  const others = (caching.ofTools ? 1 : 0) + (caching.ofWhole ? 1 : 0)
  const lowering = new Lowering(names, family, family.cachePoints ? lastBreakpoints(conversation, others) : new Set())
  const messages: Array<Message> = []
  for (const { blocks, role } of conversation.turns) {
    const content: Array<JsonObject> = []
    for (const block of blocks) {
      const failure = lowering.add(block, content)
      if (failure !== undefined) return failure
    }
    messages.push({ role, content: withText(content) })
  }
  const last = messages.at(-1)
  if (family.cachePoints && caching.ofWhole && last !== undefined) {
    messages[messages.length - 1] = { role: last.role, content: [...last.content, cachePoint] }
  }
  // many models reject a conversation that ends with an assistant message
  if (messages.at(-1)?.role === "assistant") messages.push({ role: "user", content: [{ text: goOn }] })
  return { system: conversation.instructions.flatMap((block) => lowering.text(block)), messages }
}

/** Cache points that do not stand at a block of the conversation. */
export interface Caching {
  readonly ofTools: boolean
  /** After the last block. */
  readonly ofWhole: boolean
}

const goOn = "(continue)"

/** The API accepts a document only together with a text block. */
const withText = (content: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> =>
  content.some((block) => "document" in block) && !content.some((block) => "text" in block)
    ? [...content, { text: "(see the document)" }]
    : content

class Lowering {
  private readonly documents = new Documents()
  private readonly names: ToolNames
  private readonly family: Family
  private readonly cached: ReturnType<typeof lastBreakpoints>

  constructor(names: ToolNames, family: Family, cached: ReturnType<typeof lastBreakpoints>) {
    this.names = names
    this.family = family
    this.cached = cached
  }

  add(block: UserBlock | AssistantBlock, content: Array<JsonObject>): ProviderFailure | undefined {
    const lowered = this.block(block)
    if ("_tag" in lowered) return lowered
    content.push(...lowered.blocks)
    if (block._tag !== "Text" && this.isCached(block)) content.push(cachePoint)
    return undefined
  }

  text(block: TextBlock): ReadonlyArray<JsonObject> {
    return this.cached.has(block) ? [{ text: block.text }, cachePoint] : [{ text: block.text }]
  }

  private block(block: UserBlock | AssistantBlock): LoweredBlocks | ProviderFailure {
    switch (block._tag) {
      case "Text":
        return { blocks: this.text(block) }
      case "Reasoning":
        return { blocks: lowerReasoningDetail(block) }
      case "ToolCall":
        return {
          blocks: [{ toolUse: { toolUseId: block.id, name: this.names.toProvider(block.name), input: block.input } }]
        }
      case "ToolResult":
        return this.result(block)
      case "Image":
      case "File":
        return this.attachment(block)
      case "Audio":
        return { _tag: "RequestRejected", message: "The provider does not support audio.", param: block.param }
    }
  }

  private result(block: ToolResultBlock): LoweredBlocks | ProviderFailure {
    const content: Array<JsonObject> = []
    for (const inner of block.content) {
      const lowered = inner._tag === "Text" ? { blocks: [{ text: inner.text }] } : this.attachment(inner)
      if ("_tag" in lowered) return lowered
      content.push(...lowered.blocks)
    }
    const status = this.family.resultStatus ? (block.isError ? "error" : "success") : undefined
    return { blocks: [{ toolResult: { toolUseId: block.id, content, status } }] }
  }

  private attachment(block: Exclude<ResultBlock, TextBlock>): LoweredBlocks | ProviderFailure {
    return block._tag === "Image" ? lowerImage(block) : this.documents.lower(block)
  }

  /** A tool result cannot contain a cache point: it stands after the result. */
  private isCached(block: UserBlock | AssistantBlock): boolean {
    if (this.cached.has(block)) return true
    return block._tag === "ToolResult" && block.content.some((inner) => this.cached.has(inner))
  }
}

export const cachePoint: JsonObject = { cachePoint: { type: "default" } }

/** The provider rejects reasoning without a signature. */
const lowerReasoningDetail = ({ detail }: ReasoningDetailBlock): ReadonlyArray<JsonObject> => {
  if (detail.type === "reasoning.encrypted") {
    return detail.data ? [{ reasoningContent: { redactedContent: detail.data } }] : []
  }
  const text = detail.text ?? detail.summary ?? ""
  return detail.signature ? [{ reasoningContent: { reasoningText: { text, signature: detail.signature } } }] : []
}
