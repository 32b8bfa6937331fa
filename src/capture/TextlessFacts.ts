import type { CallError } from "../domain/Call.ts"
import type { CapturedParams } from "../domain/CapturedCall.ts"
import type { JsonObject } from "../domain/Chat.ts"
import type { Facts } from "./Facts.ts"
import { idOf } from "./worker/seal.js"

/** Without what quotes the request: messages of errors, and the texts among the parameters. `key` is that of the ids of blocks. */
export const withoutText = (facts: Facts, key: Uint8Array): Facts => ({
  ...facts,
  error: codeOf(facts.error),
  attempts: facts.attempts.map((attempt) => ({ ...attempt, error: codeOf(attempt.error) })),
  params: textlessParams(facts.params, key)
})

/** Providers quote what they reject. */
const codeOf = (error: CallError | null): CallError | null => error && { code: error.code, message: null }

/** Requests that differ in these texts alone stay different, by `textId`. Nothing is left to do where they were left out before. */
const textlessParams = (params: CapturedParams, key: Uint8Array): CapturedParams => {
  const { responseFormat, stop, toolChoice, ...rest } = params
  const named = typeof toolChoice === "object" ? (toolChoice as JsonObject | null) : undefined
  const texts = JSON.stringify({ stop, responseFormat, toolChoice: named })
  if (params.textId !== undefined || texts === "{}") return params
  return {
    ...rest,
    ...(stop !== undefined && { stopCount: stop.length }),
    ...(responseFormat !== undefined && { responseFormat: { type: responseFormat["type"] } }),
    ...(toolChoice !== undefined && { toolChoice: named ? { type: named["type"] } : toolChoice }),
    textId: idOf(key, `params\0${texts}`)
  }
}
