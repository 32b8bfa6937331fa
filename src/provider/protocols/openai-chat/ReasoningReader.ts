import type { ChatEvent, ReasoningDelta } from "../../../domain/ChatEvent.ts"
import { malformed, objectsOf, textOf } from "../shared/Fields.ts"
import { type Json, textAt } from "../shared/Json.ts"

/** Reasoning comes in one of three fields; vendors that fill several fields at once send the same text in each. */
export class ReasoningReader {
  private blocks = 0
  /** Our block index of each upstream block. */
  private indexes: Map<string, number> | undefined
  private detailed = false
  private readonly repeats: boolean
  /** The text of each block, kept only where fragments repeat it. */
  private texts: Map<number, string> | undefined
  /** The blocks whose format has been told: clients that add fragments up would repeat it. */
  private formatted: Set<number> | undefined

  constructor(repeats: boolean) {
    this.repeats = repeats
  }

  read(delta: Json, events: Array<ChatEvent>): void {
    for (const detail of objectsOf(delta, "reasoning_details")) {
      this.detailed = true
      this.detail(detail, events)
    }
    if (!this.detailed) this.emitText(textOf(delta, "reasoning_content") ?? textOf(delta, "reasoning"), events)
  }

  emitText(text: string | undefined, events: Array<ChatEvent>): void {
    if (text !== undefined) events.push({ _tag: "Reasoning", index: this.indexOf("plain"), kind: "text", text })
  }

  private detail(detail: Json, events: Array<ChatEvent>): void {
    const kind = kinds.get(detail["type"]) ?? malformed("a reasoning detail of an unknown type")
    const given = textOf(detail, fields[kind]) ?? ""
    const signature = textOf(detail, "signature")
    const id = textAt(detail, "id")
    if (given === "" && signature === undefined && id === undefined) return
    const index = this.indexOf(`${kind} ${String(detail["index"] ?? id ?? "")}`)
    const text = this.repeats ? this.newText(index, given) : given
    const providerFormat = text === "" && signature === undefined ? undefined : this.newFormat(index, detail)
    events.push({
      _tag: "Reasoning",
      index,
      kind,
      text,
      ...(signature !== undefined && { signature }),
      ...(id !== undefined && { id }),
      ...(providerFormat !== undefined && { providerFormat })
    })
  }

  private newFormat(index: number, detail: Json): string | undefined {
    const format = textAt(detail, "format")
    if (format === undefined || format.length > maxFormatCharacters || this.formatted?.has(index) === true)
      return undefined
    this.formatted ??= new Set()
    this.formatted.add(index)
    return format
  }

  private newText(index: number, text: string): string {
    this.texts ??= new Map()
    const before = this.texts.get(index) ?? ""
    const fresh = text.startsWith(before) ? text.slice(before.length) : text
    this.texts.set(index, before + fresh)
    return fresh
  }

  private indexOf(block: string): number {
    this.indexes ??= new Map()
    const known = this.indexes.get(block)
    if (known !== undefined) return known
    const index = this.blocks++
    this.indexes.set(block, index)
    return index
  }
}

/** Far longer than any name of a format. */
const maxFormatCharacters = 100

const kinds: ReadonlyMap<unknown, ReasoningDelta["kind"]> = new Map([
  ["reasoning.text", "text"],
  ["reasoning.summary", "summary"],
  ["reasoning.encrypted", "encrypted"]
])

const fields: Readonly<Record<ReasoningDelta["kind"], string>> = { text: "text", summary: "summary", encrypted: "data" }
