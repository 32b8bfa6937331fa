import type { ChatRequest } from "../../../domain/Chat.ts"
import type { ChatEvent } from "../../../domain/ChatEvent.ts"
import { objectOf, textOf } from "../../Fields.ts"
import { type Json, parseObject } from "../../Json.ts"
import { failed, more, type Step } from "../../Protocol.ts"
import { type ToolNames, toolNamesOf } from "../turns/ToolNames.ts"
import { customToolsOf } from "../turns/Tools.ts"

type Block =
  | { readonly _tag: "Text" }
  | { readonly _tag: "Thought"; readonly index: number }
  /** Pieces of it are bytes, and text only when they are together. */
  | { readonly _tag: "Redacted"; readonly index: number; readonly pieces: Array<Buffer> }
  | { readonly _tag: "ToolUse"; readonly index: number; hasInput: boolean }
  /** Its input is inside the arguments and comes out when they are whole. */
  | { readonly _tag: "Custom"; readonly index: number; input: string }

/** No honest answer has more blocks; each is kept in memory. */
const mostBlocks = 2048

/** The blocks of one answer. They are numbered together; thoughts and tool calls each count for themselves with us. */
export class ContentBlocks {
  hasContent = false
  toolCalls = 0
  private thoughts = 0
  private blocks = 0
  private readonly open = new Map<unknown, Block>()
  private readonly names: ToolNames
  private readonly customTools: ReadonlySet<string>

  constructor(request: ChatRequest) {
    this.names = toolNamesOf(request)
    this.customTools = customToolsOf(request)
  }

  /** Only tool calls have to begin; an upstream may begin the others as well. */
  start(at: unknown, start: Json): Step {
    const toolUse = objectOf(start, "toolUse")
    if (toolUse === undefined) return more()
    if (this.open.has(at)) return bad("a block that begins twice")
    const [given, id] = [textOf(toolUse, "name"), textOf(toolUse, "toolUseId")]
    if (given === undefined || id === undefined) return bad("a tool call without a name")
    const index = this.toolCalls++
    const name = this.names.toClient(given)
    const isCustom = this.customTools.has(name)
    const failure = this.begin(
      at,
      isCustom ? { _tag: "Custom", index, input: "" } : { _tag: "ToolUse", index, hasInput: false }
    )
    if (failure !== undefined) return failure
    return this.said({ _tag: "ToolCall", index, kind: isCustom ? "custom" : "function", id, name, arguments: "" })
  }

  delta(at: unknown, delta: Json): Step {
    const text = textOf(delta, "text")
    if (text !== undefined) return this.said({ _tag: "Text", text })
    const toolUse = objectOf(delta, "toolUse")
    if (toolUse !== undefined) return this.input(this.open.get(at), textOf(toolUse, "input"))
    const reasoning = objectOf(delta, "reasoningContent")
    if (reasoning !== undefined) return this.thought(at, reasoning)
    // citations are of documents that Bedrock was asked to cite, which it never is
    return Object.keys(delta).every((key) => key === "text" || key === "citation")
      ? more()
      : bad("a piece of a block of an unknown type")
  }

  stop(at: unknown): Step {
    const block = this.open.get(at)
    this.open.delete(at)
    switch (block?._tag) {
      case "ToolUse":
        // a call without any input has none: that is an empty object
        return block.hasInput ? more() : more([functionPiece(block.index, "{}")])
      case "Custom": {
        const input = parseObject(block.input)?.["input"]
        const text = typeof input === "string" ? input : block.input
        return text === "" ? more() : more([{ _tag: "ToolCall", index: block.index, kind: "custom", arguments: text }])
      }
      case "Redacted": {
        const text = Buffer.concat(block.pieces).toString("base64")
        return this.said({ _tag: "Reasoning", index: block.index, kind: "encrypted", text })
      }
      default:
        return more()
    }
  }

  /** Blocks that nobody has stopped. */
  stopAll(): ReadonlyArray<ChatEvent> {
    return [...this.open.keys()].flatMap((at) => this.stop(at).events)
  }

  private begin(at: unknown, block: Block): Step | undefined {
    if (++this.blocks > mostBlocks) return bad(`more than ${mostBlocks} blocks`)
    this.open.set(at, block)
    return undefined
  }

  private input(block: Block | undefined, piece: string | undefined): Step {
    if (block?._tag !== "ToolUse" && block?._tag !== "Custom") return bad("a piece of a tool call that never began")
    if (piece === undefined) return more()
    if (block._tag === "Custom") {
      block.input += piece
      return more()
    }
    block.hasInput = true
    return more([functionPiece(block.index, piece)])
  }

  private thought(at: unknown, reasoning: Json): Step {
    const redacted = textOf(reasoning, "redactedContent")
    let block = this.open.get(at)
    if (block?._tag !== "Thought" && block?._tag !== "Redacted") {
      const index = this.thoughts++
      block = redacted === undefined ? { _tag: "Thought", index } : { _tag: "Redacted", index, pieces: [] }
      const failure = this.begin(at, block)
      if (failure !== undefined) return failure
    }
    if (block._tag === "Redacted") {
      if (redacted !== undefined) block.pieces.push(Buffer.from(redacted, "base64"))
      return more()
    }
    const text = textOf(reasoning, "text")
    const signature = textOf(reasoning, "signature")
    if (text === undefined && signature === undefined) return more()
    return this.said({
      _tag: "Reasoning",
      index: block.index,
      kind: "text",
      text: text ?? "",
      ...(signature !== undefined && { signature })
    })
  }

  private said(event: ChatEvent): Step {
    this.hasContent = true
    return more([event])
  }
}

const functionPiece = (index: number, piece: string): ChatEvent => ({
  _tag: "ToolCall",
  index,
  kind: "function",
  arguments: piece
})

const bad = (detail: string): Step => failed({ _tag: "BadResponse", detail })
