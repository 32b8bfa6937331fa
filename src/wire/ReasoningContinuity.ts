import type { ReasoningDetail } from "../domain/Chat.ts"
import type { ReasoningBlock } from "../domain/Completion.ts"
import { parse as parseBounded } from "./validation/JsonBounds.ts"

/** Marks values created by this gateway; values of other services cannot be read. */
const prefix = "mrg1."

/** Each field has two or three. */
const maxMarks = 32

/**
 * The content of `encrypted_content` of Responses and of `signature` of Messages: the model that produced the block, and its
 * signature or opaque data. It is the client's own history, so it is encoded, not encrypted.
 */
interface Continuity {
  /** `<provider>/<model>`: the signature is valid for this model only. */
  readonly origin: string
  readonly kind: ReasoningBlock["kind"]
  readonly signature?: string
  readonly data?: string
  /** What was signed, where the client is not shown it. */
  readonly text?: string
  readonly id?: string
  readonly providerFormat?: string
}

/** The `encrypted_content` of a reasoning item; `isOmitted` where the item does not have the block's text. */
export const encodeReasoning = (block: ReasoningBlock, origin: string, isOmitted = false): string => {
  const continuity: Continuity = {
    origin,
    kind: block.kind,
    ...(block.signature === null ? {} : { signature: block.signature }),
    ...(block.kind === "encrypted" ? { data: block.text } : {}),
    ...(isOmitted && block.kind !== "encrypted" && block.text !== "" ? { text: block.text } : {}),
    ...(block.id === null ? {} : { id: block.id }),
    ...(block.providerFormat === undefined ? {} : { providerFormat: block.providerFormat })
  }
  return prefix + Buffer.from(JSON.stringify(continuity), "utf8").toString("base64url")
}

/** The block of an `encrypted_content` created by `encodeReasoning`; `undefined` for any other value. `shown` is the text of the item. */
export const decodeReasoning = (encryptedContent: string, shown: string): ReasoningDetail | undefined => {
  const continuity = parse(encryptedContent)
  if (continuity === undefined) return undefined
  const text = continuity.text ?? shown
  const more = {
    format: continuity.origin,
    ...(continuity.signature === undefined ? {} : { signature: continuity.signature }),
    ...(continuity.id === undefined ? {} : { id: continuity.id }),
    ...(continuity.providerFormat === undefined ? {} : { provider_format: continuity.providerFormat })
  }
  switch (continuity.kind) {
    case "text":
      return { type: "reasoning.text", text, ...more }
    case "summary":
      return { type: "reasoning.summary", summary: text, ...more }
    case "encrypted":
      return { type: "reasoning.encrypted", data: continuity.data ?? "", ...more }
  }
}

const parse = (encryptedContent: string): Continuity | undefined => {
  if (!encryptedContent.startsWith(prefix)) return undefined
  const json = parseBounded(Buffer.from(encryptedContent.slice(prefix.length), "base64url").toString("utf8"), maxMarks)
  return isContinuity(json) ? json : undefined
}

const isContinuity = (json: unknown): json is Continuity =>
  typeof json === "object" &&
  json !== null &&
  "origin" in json &&
  typeof json.origin === "string" &&
  "kind" in json &&
  (json.kind === "text" || json.kind === "summary" || json.kind === "encrypted") &&
  isAbsentOrString("signature" in json ? json.signature : undefined) &&
  isAbsentOrString("data" in json ? json.data : undefined) &&
  isAbsentOrString("text" in json ? json.text : undefined) &&
  isAbsentOrString("id" in json ? json.id : undefined) &&
  isAbsentOrString("providerFormat" in json ? json.providerFormat : undefined)

const isAbsentOrString = (value: unknown): boolean => value === undefined || typeof value === "string"
