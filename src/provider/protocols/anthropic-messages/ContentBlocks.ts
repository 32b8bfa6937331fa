import type { ChatEvent } from "../../../domain/ChatEvent.ts"
import { writeExactly } from "../../../domain/ExactJson.ts"
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
  | { readonly _tag: "ToolUse"; readonly index: number; readonly kind: "function"; hasInput: boolean }
  /** The input is inside the JSON arguments, so it is emitted when the arguments are complete. */
  | { readonly _tag: "Custom"; readonly index: number; readonly kind: "custom"; input: string }
  /** Ignored: redacted reasoning, which has no deltas, and blocks of tools that the provider runs itself. */
  | { readonly _tag: "Other" }

/** More tool calls than any valid response has; each call is kept in memory. */
const maxToolCalls = 1024

/** The blocks of one response. The provider uses one index for all blocks; we number reasoning and tool calls separately. */
export class ContentBlocks {
  hasContent = false
  toolCalls = 0
  private reasoningBlocks = 0
  private readonly open = new Map<unknown, Block>()
  private readonly names: ToolNames
  private readonly customTools: ReadonlySet<string>
  private readonly ids: CallIds

  constructor({ request, requestId }: Pick<ProviderCall, "request" | "requestId">) {
    this.names = toolNamesOf(request)
    this.customTools = customToolsOf(request)
    this.ids = new CallIds(requestId)
  }

  start(index: unknown, block: Json): Step {
    if (this.open.has(index)) return invalidBlock("a block that begins twice")
    const begun = this.begin(block)
    if (begun === undefined) return invalidBlock("a block of an unknown type, or a tool call without a name")
    if (this.toolCalls > maxToolCalls) return invalidBlock(`more than ${maxToolCalls} tool calls`)
    const { event, kept } = begun
    this.open.set(index, kept)
    return this.emit(event)
  }

  delta(index: unknown, delta: Json): Step {
    const block = this.open.get(index)
    if (block === undefined) return invalidBlock("a piece of a block that never began")
    if (block._tag === "Other") return incomplete()
    switch (delta["type"]) {
      case "text_delta":
        return block._tag === "Text" ? this.emit(textEvent(textOf(delta, "text"))) : misplaced
      case "thinking_delta":
        return block._tag === "Reasoning"
          ? this.emit(reasoningEvent(block.index, textOf(delta, "thinking")))
          : misplaced
      case "signature_delta":
        return block._tag === "Reasoning"
          ? this.emit(reasoningEvent(block.index, undefined, textOf(delta, "signature")))
          : misplaced
      case "input_json_delta":
        return this.input(block, textOf(delta, "partial_json"))
      // citations of the provider's own search, which is never requested
      case "citations_delta":
        return incomplete()
      default:
        return invalidBlock("a piece of a block of an unknown type")
    }
  }

  /** A call without input deltas has an empty object as its arguments. */
  stop(index: unknown): Step {
    const block = this.open.get(index)
    this.open.delete(index)
    if (block?._tag === "ToolUse" && !block.hasInput) return incomplete([argumentsEvent(block.index, block.kind, "{}")])
    if (block?._tag === "Custom") {
      const text = customInput(block.input)
      return text === "" ? incomplete() : incomplete([argumentsEvent(block.index, block.kind, text)])
    }
    return incomplete()
  }

  /** The remaining events of blocks that got no stop event. */
  stopAll(): ReadonlyArray<ChatEvent> {
    return [...this.open.keys()].flatMap((index) => this.stop(index).events)
  }

  private begin(block: Json): { readonly kept: Block; readonly event: ChatEvent | undefined } | undefined {
    switch (block["type"]) {
      case "text":
        return { kept: { _tag: "Text" }, event: textEvent(textOf(block, "text")) }
      case "thinking": {
        const index = this.reasoningBlocks++
        return {
          kept: { _tag: "Reasoning", index },
          event: reasoningEvent(index, textOf(block, "thinking"), textOf(block, "signature"))
        }
      }
      case "redacted_thinking":
        return {
          kept: { _tag: "Other" },
          event: {
            _tag: "Reasoning",
            index: this.reasoningBlocks++,
            kind: "encrypted",
            text: textOf(block, "data") ?? ""
          }
        }
      case "tool_use":
        return this.beginCall(block)
      default:
        return typeof block["type"] === "string" && isOwnTool(block["type"])
          ? { kept: { _tag: "Other" }, event: undefined }
          : undefined
    }
  }

  private beginCall(block: Json): { readonly kept: Block; readonly event: ChatEvent } | undefined {
    const [given, ownId] = [textOf(block, "name"), textOf(block, "id")]
    if (given === undefined || ownId === undefined) return undefined
    const index = this.toolCalls++
    const id = this.ids.next(ownId, index)
    const name = this.names.toClient(given)
    const input = objectOf(block, "input") ?? {}
    const early = Object.keys(input).length > 0 ? writeExactly(input) : ""
    if (this.customTools.has(name)) {
      const event: ChatEvent = { _tag: "ToolCall", index, kind: "custom", id, name, arguments: "" }
      return { kept: { _tag: "Custom", index, kind: "custom", input: early }, event }
    }
    return {
      kept: { _tag: "ToolUse", index, kind: "function", hasInput: early !== "" },
      event: { _tag: "ToolCall", index, kind: "function", id, name, arguments: early }
    }
  }

  private input(block: Block, piece: string | undefined): Step {
    if (piece === undefined) return incomplete()
    if (block._tag === "Custom") {
      block.input += piece
      return incomplete()
    }
    if (block._tag !== "ToolUse") return misplaced
    block.hasInput = true
    return incomplete([argumentsEvent(block.index, block.kind, piece)])
  }

  private emit(event: ChatEvent | undefined): Step {
    if (event === undefined) return incomplete()
    this.hasContent = true
    return incomplete([event])
  }
}

const misplaced = invalidBlock("a piece of a block of another type")

/** Blocks of tools that the provider runs itself: such tools are never sent, and their blocks are not part of the response. */
const isOwnTool = (type: string): boolean =>
  type === "server_tool_use" || type === "mcp_tool_use" || type === "container_upload" || type.endsWith("_tool_result")

const textEvent = (text: string | undefined): ChatEvent | undefined =>
  text === undefined ? undefined : { _tag: "Text", text }

const reasoningEvent = (index: number, text: string | undefined, signature?: string): ChatEvent | undefined =>
  text === undefined && signature === undefined
    ? undefined
    : { _tag: "Reasoning", index, kind: "text", text: text ?? "", ...(signature !== undefined && { signature }) }
