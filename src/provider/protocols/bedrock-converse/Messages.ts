import type { JsonObject } from "../../../domain/Chat.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { lastBreakpoints } from "../shared/CacheBreakpoints.ts"
import type {
  AssistantBlock,
  Conversation,
  ReasoningDetailBlock,
  TextBlock,
  UserBlock
} from "../shared/Conversation.ts"
import type { ToolNames } from "../shared/ToolNames.ts"
import type { Family } from "./Family.ts"
import { Documents, lowerImage } from "./Media.ts"

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
  family: Family
): LoweredMessages | ProviderFailure => {
  const lowering = new Lowering(names, family, family.cachePoints ? lastBreakpoints(conversation) : new Set())
  const messages: Array<Message> = []
  for (const { blocks, role } of conversation.turns) {
    const content: Array<JsonObject> = []
    for (const block of blocks) {
      const failure = lowering.add(block, content)
      if (failure !== undefined) return failure
    }
    messages.push({ role, content: withText(content) })
  }
  // many models reject a conversation that ends with an assistant message
  if (messages.at(-1)?.role === "assistant") messages.push({ role: "user", content: [{ text: goOn }] })
  return { system: conversation.instructions.flatMap((block) => lowering.text(block)), messages }
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
  private readonly cached: ReadonlySet<TextBlock>

  constructor(names: ToolNames, family: Family, cached: ReadonlySet<TextBlock>) {
    this.names = names
    this.family = family
    this.cached = cached
  }

  add(block: UserBlock | AssistantBlock, content: Array<JsonObject>): ProviderFailure | undefined {
    const lowered = this.block(block)
    if ("_tag" in lowered) return lowered
    content.push(...lowered.blocks)
    return undefined
  }

  text(block: TextBlock): ReadonlyArray<JsonObject> {
    return this.cached.has(block) ? [{ text: block.text }, cachePoint] : [{ text: block.text }]
  }

  private block(block: UserBlock | AssistantBlock): { readonly blocks: ReadonlyArray<JsonObject> } | ProviderFailure {
    switch (block._tag) {
      case "Text":
        return { blocks: this.text(block) }
      case "Reasoning":
        return { blocks: lowerReasoningDetail(block) }
      case "ToolCall":
        return {
          blocks: [{ toolUse: { toolUseId: block.id, name: this.names.toProvider(block.name), input: block.input } }]
        }
      case "ToolResult": {
        const toolResult = {
          toolUseId: block.id,
          content: block.content.map(({ text }) => ({ text })),
          status: this.family.resultStatus ? (block.isMissing ? "error" : "success") : undefined
        }
        // a tool result cannot contain a cache point
        const isCached = block.content.some((text) => this.cached.has(text))
        return { blocks: isCached ? [{ toolResult }, cachePoint] : [{ toolResult }] }
      }
      case "Image":
        return lowerImage(block)
      case "File":
        return this.documents.lower(block)
      case "Audio":
        return { _tag: "RequestRejected", message: "The provider does not support audio.", param: block.param }
    }
  }
}

const cachePoint: JsonObject = { cachePoint: { type: "default" } }

/** The provider rejects reasoning without a signature. */
const lowerReasoningDetail = ({ detail }: ReasoningDetailBlock): ReadonlyArray<JsonObject> => {
  if (detail.type === "reasoning.encrypted") {
    return detail.data ? [{ reasoningContent: { redactedContent: detail.data } }] : []
  }
  const text = detail.text ?? detail.summary ?? ""
  return detail.signature ? [{ reasoningContent: { reasoningText: { text, signature: detail.signature } } }] : []
}
