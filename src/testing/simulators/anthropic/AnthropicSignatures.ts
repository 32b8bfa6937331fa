import { createHash } from "node:crypto"
import { type Json, textAt } from "../../../provider/protocols/shared/Json.ts"

/** The signature of a model's reasoning; omitted text is signed too. */
export const signatureOf = (model: string, thinking: string): string => digest(`${model}\n${thinking}`)

/** Only reasoning blocks need a signature. */
export const isSigned = (block: Json, model: string): boolean => {
  if (block["type"] === "redacted_thinking") return textAt(block, "data")?.startsWith(redactedBy(model)) === true
  if (block["type"] !== "thinking") return true
  return block["signature"] === signatureOf(model, textAt(block, "thinking") ?? "")
}

export const redactedBy = (model: string): string => `${digest(model)}.`

const digest = (text: string): string => createHash("sha256").update(text).digest("base64")
