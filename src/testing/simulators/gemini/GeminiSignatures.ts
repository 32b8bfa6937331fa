import { createHash } from "node:crypto"
import { isObject, type Json, objectAt } from "../../../provider/protocols/shared/Json.ts"

/** The documented placeholder signature for calls of other models. */
export const standIn = "skip_thought_signature_validator"

/** The signature of a call. */
export const signatureOfCall = (call: Json): string =>
  digest(`call\n${String(call["id"])}\n${String(call["name"])}\n${JSON.stringify(call["args"] ?? {})}`)

/** Text may be joined and split between turns, so its signature proves only the origin. */
export const signatureOfText = (seed: string): string => `${origin}${digest(seed)}`

export const isSigned = (part: Json, signature: string): boolean => {
  const call = objectAt(part, "functionCall")
  return isObject(call) ? signature === signatureOfCall(call) : signature.startsWith(origin)
}

const digest = (text: string): string => createHash("sha256").update(text).digest("base64")

const origin = Buffer.from("reasoning of the simulator", "utf8").toString("base64url").slice(0, 32)
