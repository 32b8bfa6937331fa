import type { ChatEvent } from "../../../domain/ChatEvent.ts"
import type { ProviderCall } from "../../Provider.ts"
import { argumentsEvent, customInput, invalidBlock } from "../shared/ContentBlocks.ts"
import { objectOf, textOf } from "../shared/Fields.ts"
import type { Json } from "../shared/Json.ts"
import { incomplete, type Step } from "../shared/Protocol.ts"
import { CallIds } from "../shared/ToolIds.ts"
import { type ToolNames, toolNamesOf } from "../shared/ToolNames.ts"
import { customToolsOf } from "../shared/Tools.ts"

type Block =
  | { readonly _tag: "Text" }
  | { readonly _tag: "Reasoning"; readonly index: number }
  /** The fragments are base64 of bytes and can be encoded again only together. */
  | { readonly _tag: "Redacted"; readonly index: number; readonly pieces: Array<Buffer> }
  | { readonly _tag: "ToolUse"; readonly index: number; hasInput: boolean }
  /** The input is inside the JSON arguments, so it is emitted when the arguments are complete. */
  | { readonly _tag: "Custom"; readonly index: number; input: string }

/** More blocks than any valid response has; each block is kept in memory. */
const maxBlocks = 2048

/** The blocks of one response. The provider uses one index for all blocks; we number reasoning and tool calls separately. */
export class ContentBlocks {
  hasContent = false
  toolCalls = 0
  private reasoningBlocks = 0
  private blocks = 0
  private readonly open = new Map<unknown, Block>()
  private readonly names: ToolNames
  private readonly customTools: ReadonlySet<string>
  private readonly ids: CallIds

  constructor({ request, requestId }: Pick<ProviderCall, "request" | "requestId">) {
    this.names = toolNamesOf(request)
    this.customTools = customToolsOf(request)
    this.ids = new CallIds(requestId)
  }

  /** Only tool calls need a start event; an upstream may send start events for other blocks too. */
  start(at: unknown, start: Json): Step {
    const toolUse = objectOf(start, "toolUse")
    if (toolUse === undefined) return incomplete()
    if (this.open.has(at)) return invalidBlock("a block that begins twice")
    const [given, ownId] = [textOf(toolUse, "name"), textOf(toolUse, "toolUseId")]
    if (given === undefined || ownId === undefined) return invalidBlock("a tool call without a name")
    const index = this.toolCalls++
    const id = this.ids.next(ownId, index)
    const name = this.names.toClient(given)
    const isCustom = this.customTools.has(name)
    const failure = this.begin(
      at,
      isCustom ? { _tag: "Custom", index, input: "" } : { _tag: "ToolUse", index, hasInput: false }
    )
    if (failure !== undefined) return failure
    return this.emit({ _tag: "ToolCall", index, kind: isCustom ? "custom" : "function", id, name, arguments: "" })
  }

  delta(at: unknown, delta: Json): Step {
    const text = textOf(delta, "text")
    if (text !== undefined) return this.emit({ _tag: "Text", text })
    const toolUse = objectOf(delta, "toolUse")
    if (toolUse !== undefined) return this.input(this.open.get(at), textOf(toolUse, "input"))
    const reasoning = objectOf(delta, "reasoningContent")
    if (reasoning !== undefined) return this.reasoning(at, reasoning)
    // citations appear only for documents with citations enabled, which is never requested
    return Object.keys(delta).every((key) => key === "text" || key === "citation")
      ? incomplete()
      : invalidBlock("a piece of a block of an unknown type")
  }

  stop(at: unknown): Step {
    const block = this.open.get(at)
    this.open.delete(at)
    switch (block?._tag) {
      case "ToolUse":
        // a call without input deltas has an empty object as its arguments
        return block.hasInput ? incomplete() : incomplete([argumentsEvent(block.index, "function", "{}")])
      case "Custom": {
        const text = customInput(block.input)
        return text === "" ? incomplete() : incomplete([argumentsEvent(block.index, "custom", text)])
      }
      case "Redacted": {
        const text = Buffer.concat(block.pieces).toString("base64")
        return this.emit({ _tag: "Reasoning", index: block.index, kind: "encrypted", text })
      }
      default:
        return incomplete()
    }
  }

  /** The remaining events of blocks that got no stop event. */
  stopAll(): ReadonlyArray<ChatEvent> {
    return [...this.open.keys()].flatMap((at) => this.stop(at).events)
  }

  private begin(at: unknown, block: Block): Step | undefined {
    if (++this.blocks > maxBlocks) return invalidBlock(`more than ${maxBlocks} blocks`)
    this.open.set(at, block)
    return undefined
  }

  private input(block: Block | undefined, piece: string | undefined): Step {
    if (block?._tag !== "ToolUse" && block?._tag !== "Custom")
      return invalidBlock("a piece of a tool call that never began")
    if (piece === undefined) return incomplete()
    if (block._tag === "Custom") {
      block.input += piece
      return incomplete()
    }
    block.hasInput = true
    return incomplete([argumentsEvent(block.index, "function", piece)])
  }

  private reasoning(at: unknown, reasoning: Json): Step {
    const redacted = textOf(reasoning, "redactedContent")
    let block = this.open.get(at)
    if (block?._tag !== "Reasoning" && block?._tag !== "Redacted") {
      const index = this.reasoningBlocks++
      block = redacted === undefined ? { _tag: "Reasoning", index } : { _tag: "Redacted", index, pieces: [] }
      const failure = this.begin(at, block)
      if (failure !== undefined) return failure
    }
    if (block._tag === "Redacted") {
      if (redacted !== undefined) block.pieces.push(Buffer.from(redacted, "base64"))
      return incomplete()
    }
    const text = textOf(reasoning, "text")
    const signature = textOf(reasoning, "signature")
    if (text === undefined && signature === undefined) return incomplete()
    return this.emit({
      _tag: "Reasoning",
      index: block.index,
      kind: "text",
      text: text ?? "",
      ...(signature !== undefined && { signature })
    })
  }

  private emit(event: ChatEvent): Step {
    this.hasContent = true
    return incomplete([event])
  }
}
