import type { ProviderFailure } from "../../domain/ProviderError.ts"
import {
  activity,
  end,
  event,
  fail,
  finish,
  hang,
  type Script,
  type ScriptStep,
  text,
  used,
  wait
} from "../../provider/simulated/Script.ts"

/** The output of a healthy response of these scripts, in pieces of one word. */
export const words: ReadonlyArray<string> = Array.from({ length: 60 }, (_, index) => `word${index + 1} `)
/** The same output as one text: a client that gets success with less text has lost content. */
export const fullText = words.join("")

const usage = used({ inputTokens: 10, outputTokens: 60 })
const whole: Script = words.map(text)
const half: Script = whole.slice(0, 30)

/** A fault in place of a response. */
const instead = (reason: ProviderFailure): Script => [fail(reason)]
const message = "A message of the provider."
const minute = 60_000

/**
 * Faults of a call at its provider, by name, as scripts for `ScriptedProvider`: the same faults that the gateway's own suite
 * produces on the wire. Where a deadline should expire, the times are longer than any default deadline.
 */
export const faults = {
  none: [...whole, finish(), usage, end],
  refused: instead({ _tag: "Unreachable", detail: "refused" }),
  "unknown-host": instead({ _tag: "Unreachable", detail: "dns" }),
  "no-tls": instead({ _tag: "Insecure", detail: "DEPTH_ZERO_SELF_SIGNED_CERT" }),
  "connect-timeout": [wait(5_000), fail({ _tag: "ConnectTimeout" })],
  "no-socket": instead({ _tag: "NoSocket", detail: "open-files" }),
  reset: instead({ _tag: "Reset" }),
  "reset-reused": instead({ _tag: "Unreachable", detail: "reset-before-response" }),
  "slow-head": [hang],
  "slow-content": [activity, hang],
  /** One word every nine seconds, which is slow but not a fault. */
  trickle: [...whole.flatMap((word): Script => [word, wait(9_000)]), finish(), usage, end],
  "stall-before-content": [activity, wait(5_000), activity, hang],
  "stall-after-content": [...half, hang],
  "cut-before-content": [activity, fail({ _tag: "Disconnected" })],
  "cut-after-content": [...half, fail({ _tag: "Disconnected" })],
  /** Finished, but without usage and without an end. */
  "no-end": [...whole, finish(), hang],
  malformed: [activity, fail({ _tag: "BadResponse", detail: "an event that is not a JSON object" })],
  "malformed-after-content": [...half, fail({ _tag: "BadResponse", detail: "an event that is not a JSON object" })],
  "error-after-content": [...half, fail({ _tag: "ServerError", status: 500 })],
  "rate-limited": instead({ _tag: "RateLimited", retryAfterMillis: 7_000 }),
  "rate-limited-shortly": instead({ _tag: "RateLimited", retryAfterMillis: 1_500 }),
  "rate-limited-bare": instead({ _tag: "RateLimited", retryAfterMillis: null }),
  "out-of-money": instead({ _tag: "QuotaExhausted" }),
  overloaded: instead({ _tag: "Overloaded", retryAfterMillis: null }),
  "server-error": instead({ _tag: "ServerError", status: 500 }),
  "bad-gateway": instead({ _tag: "ServerError", status: 502 }),
  "credential-refused": instead({ _tag: "CredentialRejected" }),
  "model-gone": instead({ _tag: "ModelGone" }),
  rejected: instead({ _tag: "RequestRejected", message, param: null }),
  "context-too-long": instead({ _tag: "ContextLengthExceeded", message }),
  "content-policy": instead({ _tag: "ContentPolicy", message }),
  /** The provider's content filter ends the response, which is a regular end. */
  filtered: [...whole, finish("content_filter"), usage, end],
  empty: [finish(), usage, end],
  blank: instead({ _tag: "EmptyCompletion" }),
  "usage-twice": [...whole, finish(), used({ inputTokens: 10, outputTokens: 1 }), usage, end],
  "usage-missing": [...whole, finish(), end],
  "usage-huge": [...whole, finish(), used({ inputTokens: 10, outputTokens: 1_000_000_000 }), end],
  redirect: instead({ _tag: "Redirected" }),
  "other-model": [event({ _tag: "ResponseInfo", model: "another-model" }), ...whole, finish(), usage, end],
  /** Sends content for longer than any call may last. */
  endless: Array.from({ length: 20 * 60 }, (): Script => [text("more "), wait(minute / 60)]).flat()
} as const satisfies Readonly<Record<string, ReadonlyArray<ScriptStep>>>

/** The name of a fault. */
export type FaultName = keyof typeof faults

/** All of them. */
export const names: ReadonlyArray<FaultName> = Object.keys(faults).filter((name): name is FaultName => name in faults)

/** For models whose upstream name is a fault's name. */
export const byModel = ({ model }: { readonly model: { readonly upstreamModel: string } }): Script => {
  const name = names.find((one) => one === model.upstreamModel)
  if (name === undefined) throw new Error(`no such fault: ${model.upstreamModel}`)
  return faults[name]
}
