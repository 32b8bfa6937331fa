import type { ChatEvent, ReasoningDelta } from "../../../domain/ChatEvent.ts"
import { isObject, type Json, listAt, textAt } from "../../Json.ts"

/** Thoughts come under three names; vendors that send several of them at once send the same text in each. */
export class Reasoning {
  private blocks = 0
  /** The running block of each upstream block. */
  private readonly indexes = new Map<string, number>()
  private detailed = false

  read(delta: Json, events: Array<ChatEvent>): void {
    const details = listAt(delta, "reasoning_details").filter(isObject)
    if (details.length > 0) this.detailed = true
    for (const detail of details) this.detail(detail, events)
    if (!this.detailed) this.plain(textAt(delta, "reasoning_content") ?? textAt(delta, "reasoning"), events)
  }

  plain(text: string | undefined, events: Array<ChatEvent>): void {
    if (text !== undefined) events.push({ _tag: "Reasoning", index: this.indexOf("plain"), kind: "text", text })
  }

  private detail(detail: Json, events: Array<ChatEvent>): void {
    const kind = kinds.get(detail["type"])
    if (kind === undefined) return
    const text = textAt(detail, fields[kind]) ?? ""
    const signature = textAt(detail, "signature")
    const id = textAt(detail, "id")
    if (text === "" && signature === undefined && id === undefined) return
    events.push({
      _tag: "Reasoning",
      index: this.indexOf(`${kind} ${String(detail["index"] ?? id ?? "")}`),
      kind,
      text,
      ...(signature !== undefined && { signature }),
      ...(id !== undefined && { id })
    })
  }

  private indexOf(block: string): number {
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
