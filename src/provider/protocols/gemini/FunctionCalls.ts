import type { ChatEvent } from "../../../domain/ChatEvent.ts"
import { writeExactly } from "../../../domain/ExactJson.ts"
import type { RequestId } from "../../../domain/Ids.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import type { ProviderCall } from "../../Provider.ts"
import { listOf, objectOf, textOf } from "../shared/Fields.ts"
import type { Json } from "../shared/Json.ts"
import { mintToolCallId } from "../shared/ToolIds.ts"
import { type ToolNames, toolNamesOf } from "../shared/ToolNames.ts"
import { customToolsOf } from "../shared/Tools.ts"
import { PartialArgs } from "./PartialArgs.ts"

/** More function calls than any valid response has. */
const maxCalls = 1024

interface PartialCall {
  readonly id: string | undefined
  readonly name: string
  readonly pieces: PartialArgs
  signature: string | undefined
}

/**
 * Function calls come complete, each in its own part; neither chunk nor name distinguishes parallel calls, so one counter
 * numbers all of them. Only the parts of a call with `willContinue` are assembled first.
 */
export class FunctionCalls {
  private readonly requestId: RequestId
  private readonly names: ToolNames
  private readonly custom: ReadonlySet<string>
  private readonly ids = new Set<string>()
  private begun: PartialCall | undefined

  constructor(call: ProviderCall) {
    this.requestId = call.requestId
    this.names = toolNamesOf(call.request)
    this.custom = customToolsOf(call.request)
  }

  get count(): number {
    return this.ids.size
  }

  /** A call with `willContinue` whose next part has not come. */
  get incomplete(): boolean {
    return this.begun !== undefined
  }

  read(part: Json, call: Json, nextBlock: () => number, events: Array<ChatEvent>): ProviderFailure | undefined {
    const name = textOf(call, "name") ?? this.begun?.name
    if (name === undefined) return bad("a function call without a name")
    if (this.count >= maxCalls) return bad(`more than ${maxCalls} function calls`)
    const id = textOf(call, "id")
    const signature = textOf(part, "thoughtSignature")
    const goesOn = call["willContinue"] === true
    const pieces = listOf(call, "partialArgs")
    if (this.begun === undefined && !goesOn && pieces.length === 0) {
      this.emit(id, name, objectOf(call, "args") ?? {}, signature, nextBlock, events)
      return undefined
    }
    this.begun ??= { id, name, pieces: new PartialArgs(), signature }
    const begun = this.begun
    begun.signature = signature ?? begun.signature
    if (!pieces.every((piece) => begun.pieces.add(piece))) return bad("a piece of arguments that has no place")
    if (goesOn) return undefined
    this.begun = undefined
    this.emit(begun.id, begun.name, begun.pieces.args, begun.signature, nextBlock, events)
    return undefined
  }

  /** The signature is emitted with the call and as a reasoning block with the call's id, for clients that send back only reasoning. */
  private emit(
    givenId: string | undefined,
    providerName: string,
    args: Json,
    signature: string | undefined,
    nextBlock: () => number,
    events: Array<ChatEvent>
  ): void {
    const index = this.count
    const isUsable = givenId !== undefined && /^[A-Za-z0-9_-]{1,64}$/.test(givenId) && !this.ids.has(givenId)
    const id = isUsable ? givenId : mintToolCallId(this.requestId, index)
    this.ids.add(id)
    const name = this.names.toClient(providerName)
    const kind = this.custom.has(name) ? "custom" : "function"
    if (signature !== undefined) {
      events.push({ _tag: "Reasoning", index: nextBlock(), kind: "encrypted", text: signature, id })
    }
    events.push({
      _tag: "ToolCall",
      index,
      kind,
      id,
      name,
      arguments: kind === "custom" ? inputOf(args) : writeExactly(args),
      ...(signature !== undefined && { extraContent: { google: { thought_signature: signature } } })
    })
  }
}

/** A custom tool is declared as a function with one string parameter. */
const inputOf = (args: Json): string => {
  const input = args["input"]
  return typeof input === "string" ? input : writeExactly(args)
}

const bad = (detail: string): ProviderFailure => ({ _tag: "BadResponse", detail })
