import { createHash } from "node:crypto"
import { isObject, type Json, objectAt } from "../../provider/Json.ts"

/** The documented way to say that a call was another model's. */
export const standIn = "skip_thought_signature_validator"

/** Proves that this very call was made here. */
export const signatureOfCall = (call: Json): string =>
  digest(`call\n${String(call["id"])}\n${String(call["name"])}\n${JSON.stringify(call["args"] ?? {})}`)

/** Text may be put together and taken apart between turns, so that its signature only proves where it comes from. */
export const signatureOfText = (seed: string): string => `${origin}${digest(seed)}`

export const isSigned = (part: Json, signature: string): boolean => {
  const call = objectAt(part, "functionCall")
  return isObject(call) ? signature === signatureOfCall(call) : signature.startsWith(origin)
}

const digest = (text: string): string => createHash("sha256").update(text).digest("base64")

const origin = Buffer.from("a thought of the simulator", "utf8").toString("base64url").slice(0, 32)
