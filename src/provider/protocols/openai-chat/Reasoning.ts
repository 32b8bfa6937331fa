import type { ChatEvent, ReasoningDelta } from "../../../domain/ChatEvent.ts"
import { malformed, objectsOf, textOf } from "../../Fields.ts"
import { type Json, textAt } from "../../Json.ts"

/** Thoughts come under three names; vendors that send several of them at once send the same text in each. */
export class Reasoning {
  private blocks = 0
  /** The running block of each upstream block. */
  private indexes: Map<string, number> | undefined
  private detailed = false
  private readonly repeats: boolean
  /** What each block has said, kept only where fragments repeat it. */
  private said: Map<number, string> | undefined

  constructor(repeats: boolean) {
    this.repeats = repeats
  }

  read(delta: Json, events: Array<ChatEvent>): void {
    for (const detail of objectsOf(delta, "reasoning_details")) {
      this.detailed = true
      this.detail(detail, events)
    }
    if (!this.detailed) this.plain(textOf(delta, "reasoning_content") ?? textOf(delta, "reasoning"), events)
  }

  plain(text: string | undefined, events: Array<ChatEvent>): void {
    if (text !== undefined) events.push({ _tag: "Reasoning", index: this.indexOf("plain"), kind: "text", text })
  }

  private detail(detail: Json, events: Array<ChatEvent>): void {
    const kind = kinds.get(detail["type"]) ?? malformed("a thought of an unknown type")
    const given = textOf(detail, fields[kind]) ?? ""
    const signature = textOf(detail, "signature")
    const id = textAt(detail, "id")
    if (given === "" && signature === undefined && id === undefined) return
    const index = this.indexOf(`${kind} ${String(detail["index"] ?? id ?? "")}`)
    const text = this.repeats ? this.unsaid(index, given) : given
    events.push({
      _tag: "Reasoning",
      index,
      kind,
      text,
      ...(signature !== undefined && { signature }),
      ...(id !== undefined && { id })
    })
  }

  private unsaid(index: number, text: string): string {
    this.said ??= new Map()
    const said = this.said.get(index) ?? ""
    const fresh = text.startsWith(said) ? text.slice(said.length) : text
    this.said.set(index, said + fresh)
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

const kinds: ReadonlyMap<unknown, ReasoningDelta["kind"]> = new Map([
  ["reasoning.text", "text"],
  ["reasoning.summary", "summary"],
  ["reasoning.encrypted", "encrypted"]
])

const fields: Readonly<Record<ReasoningDelta["kind"], string>> = { text: "text", summary: "summary", encrypted: "data" }
