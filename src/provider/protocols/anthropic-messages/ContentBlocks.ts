import type { ChatRequest } from "../../../domain/Chat.ts"
import type { ChatEvent } from "../../../domain/ChatEvent.ts"
import { objectOf, textOf } from "../../Fields.ts"
import { type Json, parseObject } from "../../Json.ts"
import { failed, more, type Step } from "../../Protocol.ts"
import { type ToolNames, toolNamesOf } from "../turns/ToolNames.ts"
import { customToolsOf } from "../turns/Tools.ts"

type Block =
  | { readonly _tag: "Text" }
  | { readonly _tag: "Thinking"; readonly index: number }
  | { readonly _tag: "ToolUse"; readonly index: number; readonly kind: "function"; hasInput: boolean }
  /** Its input is inside the arguments and comes out when they are whole. */
  | { readonly _tag: "Custom"; readonly index: number; readonly kind: "custom"; input: string }
  /** Not for us, such as what the provider's own tools do. */
  | { readonly _tag: "Other" }

/** No honest answer calls more tools; each call is kept in memory. */
const mostToolCalls = 1024

/** The blocks of one answer. They are numbered together; thoughts and tool calls each count for themselves with us. */
export class ContentBlocks {
  hasContent = false
  toolCalls = 0
  private thoughts = 0
  private readonly open = new Map<unknown, Block>()
  private readonly names: ToolNames
  private readonly customTools: ReadonlySet<string>

  constructor(request: ChatRequest) {
    this.names = toolNamesOf(request)
    this.customTools = customToolsOf(request)
  }

  start(index: unknown, block: Json): Step {
    if (this.open.has(index)) return bad("a block that begins twice")
    const begun = this.begin(block)
    if (begun === undefined) return bad("a block of an unknown type, or a tool call without a name")
    if (this.toolCalls > mostToolCalls) return bad(`more than ${mostToolCalls} tool calls`)
    const { event, kept } = begun
    this.open.set(index, kept)
    return this.said(event)
  }

  delta(index: unknown, delta: Json): Step {
    const block = this.open.get(index)
    if (block === undefined) return bad("a piece of a block that never began")
    if (block._tag === "Other") return more()
    switch (delta["type"]) {
      case "text_delta":
        return block._tag === "Text" ? this.said(textEvent(textOf(delta, "text"))) : misplaced
      case "thinking_delta":
        return block._tag === "Thinking" ? this.said(thought(block.index, textOf(delta, "thinking"))) : misplaced
      case "signature_delta":
        return block._tag === "Thinking"
          ? this.said(thought(block.index, undefined, textOf(delta, "signature")))
          : misplaced
      case "input_json_delta":
        return this.input(block, textOf(delta, "partial_json"))
      // of the provider's own search, which is never asked for
      case "citations_delta":
        return more()
      default:
        return bad("a piece of a block of an unknown type")
    }
  }

  /** A call without any input has none: that is an empty object. */
  stop(index: unknown): Step {
    const block = this.open.get(index)
    this.open.delete(index)
    if (block?._tag === "ToolUse" && !block.hasInput) return more([pieceOf(block, "{}")])
    if (block?._tag === "Custom") {
      const input = parseObject(block.input)?.["input"]
      const text = typeof input === "string" ? input : block.input
      return text === "" ? more() : more([pieceOf(block, text)])
    }
    return more()
  }

  /** What is still to be said of blocks that nobody has stopped. */
  stopAll(): ReadonlyArray<ChatEvent> {
    return [...this.open.keys()].flatMap((index) => this.stop(index).events)
  }

  private begin(block: Json): { readonly kept: Block; readonly event: ChatEvent | undefined } | undefined {
    switch (block["type"]) {
      case "text":
        return { kept: { _tag: "Text" }, event: textEvent(textOf(block, "text")) }
      case "thinking": {
        const index = this.thoughts++
        return {
          kept: { _tag: "Thinking", index },
          event: thought(index, textOf(block, "thinking"), textOf(block, "signature"))
        }
      }
      case "redacted_thinking":
        return {
          kept: { _tag: "Other" },
          event: { _tag: "Reasoning", index: this.thoughts++, kind: "encrypted", text: textOf(block, "data") ?? "" }
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
    const [given, id] = [textOf(block, "name"), textOf(block, "id")]
    if (given === undefined || id === undefined) return undefined
    const index = this.toolCalls++
    const name = this.names.toClient(given)
    const input = objectOf(block, "input") ?? {}
    const early = Object.keys(input).length > 0 ? JSON.stringify(input) : ""
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
    if (piece === undefined) return more()
    if (block._tag === "Custom") {
      block.input += piece
      return more()
    }
    if (block._tag !== "ToolUse") return misplaced
    block.hasInput = true
    return more([pieceOf(block, piece)])
  }

  private said(event: ChatEvent | undefined): Step {
    if (event === undefined) return more()
    this.hasContent = true
    return more([event])
  }
}

const bad = (detail: string): Step => failed({ _tag: "BadResponse", detail })

const misplaced = bad("a piece of a block of another type")

/** What the provider's own tools do; they are never sent, and what they say of themselves is no part of the answer. */
const isOwnTool = (type: string): boolean =>
  type === "server_tool_use" || type === "mcp_tool_use" || type === "container_upload" || type.endsWith("_tool_result")

const textEvent = (text: string | undefined): ChatEvent | undefined =>
  text === undefined ? undefined : { _tag: "Text", text }

const thought = (index: number, text: string | undefined, signature?: string): ChatEvent | undefined =>
  text === undefined && signature === undefined
    ? undefined
    : { _tag: "Reasoning", index, kind: "text", text: text ?? "", ...(signature !== undefined && { signature }) }

const pieceOf = (
  block: { readonly index: number; readonly kind: "function" | "custom" },
  piece: string
): ChatEvent => ({
  _tag: "ToolCall",
  index: block.index,
  kind: block.kind,
  arguments: piece
})
