import type { ToolCallDelta } from "../domain/ChatEvent.ts"
import { writeTool } from "./ArtifactTools.ts"
import type { Draft } from "./LiveTurn.ts"

/** Arguments are read again when they have grown by so much: however long they get, the work stays in proportion. */
const minGrowth = 64
const growthShare = 32

interface Reading {
  isWrite: boolean
  json: string
  readLength: number
}

/** Reads the text of artifacts out of the arguments of calls that are still coming. */
export class Drafts {
  private readonly calls = new Map<number, Reading>()

  /** The draft as far as it can be read; `undefined` where there is nothing new of one. */
  add({ arguments: json, index, name }: ToolCallDelta): Draft | undefined {
    const call = this.calls.get(index) ?? { isWrite: false, json: "", readLength: 0 }
    this.calls.set(index, call)
    if (name !== undefined) call.isWrite = name === writeTool
    if (!call.isWrite) return undefined
    call.json += json
    const grown = call.json.length - call.readLength
    if (grown < Math.max(minGrowth, call.json.length / growthShare)) return undefined
    call.readLength = call.json.length
    const [artifact, text] = [fieldOf(call.json, nameField), fieldOf(call.json, contentField)]
    return artifact?.isWhole && text !== undefined ? { name: artifact.text, text: text.text } : undefined
  }
}

const nameField = /"name"\s*:\s*"/
const contentField = /"content"\s*:\s*"/

/** The artifact that arguments name which are not complete; `undefined` where the name is not. */
export const nameIn = (json: string): string | undefined => {
  const name = fieldOf(json, nameField)
  return name?.isWhole ? name.text : undefined
}

/** A string of an object whose JSON is not complete. Inside of a string no quote stands alone, so that no name is found there. */
const fieldOf = (json: string, field: RegExp): { readonly text: string; readonly isWhole: boolean } | undefined => {
  const begun = field.exec(json)
  if (begun === null) return undefined
  const from = begun.index + begun[0].length
  let end = from
  while (end < json.length && json[end] !== '"') end += json[end] === "\\" ? 2 : 1
  const isWhole = end < json.length
  const raw = json.slice(from, Math.min(end, json.length))
  try {
    const text: unknown = JSON.parse(`"${isWhole ? raw : raw.replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, "")}"`)
    return typeof text === "string" ? { text: text.replace(/[\uD800-\uDBFF]$/, ""), isWhole } : undefined
  } catch {
    return undefined
  }
}
