import type { CallRecord } from "../domain/Call.ts"
import type { CallObserver } from "../domain/CallObserver.ts"
import type { CallFailure } from "../domain/GatewayError.ts"
import * as Metrics from "./Metrics.ts"

/** Status and code of a failure, as its caller receives them. */
export type Describe = (error: CallFailure) => { readonly status: number; readonly code: string }

/** Counts calls, attempts and their failures, tokens and costs; and refusals where errors can be described. */
export const make = (describe?: Describe): CallObserver => ({
  refused: (_, error) => {
    if (describe === undefined) return
    const { code, status } = describe(error)
    const [reason, scope] =
      error._tag === "InsufficientFunds"
        ? [error.reason, error.scope]
        : ["", error._tag === "RateLimited" ? (error.scope ?? "") : ""]
    Metrics.refusal(status, code, reason, scope)
  },
  attemptEnded: (_, { firstContentMillis, record }) => {
    Metrics.attempt(record.provider, record.error?.code ?? record.status, record.latency_ms / 1_000)
    if (firstContentMillis !== null) Metrics.attemptFirstContentSeconds(record.provider, firstContentMillis / 1_000)
  },
  attemptFailed: (_, { error, model, next }) =>
    Metrics.attemptFailure(model.providerId, error.reason._tag, error.facts.fault, next._tag),
  settled: ({ caller }, record) => {
    Metrics.calls(record.endpoint, record.status)
    Metrics.callSeconds(record.latencyMillis / 1_000)
    if (record.firstContentMillis !== null) Metrics.firstContentSeconds(record.firstContentMillis / 1_000)
    used(record)
    if (caller.billingMode === "byok") return
    for (const [position, { provider }] of record.attempts.entries()) {
      const failed = record.failedUsage[position]
      if (failed !== null && failed !== undefined && failed.cost > 0) Metrics.absorbed(provider, failed.cost)
    }
  }
})

/** The kinds are disjoint: their sum is what prompt and completion have in all. */
const used = ({ cost, model, provider, usage }: CallRecord): void => {
  if (usage === null || provider === null || model === null) return
  Metrics.tokens(provider, model, "input", usage.inputTokens)
  Metrics.tokens(provider, model, "cache_read", usage.cacheReadTokens)
  Metrics.tokens(provider, model, "cache_write", usage.cacheWriteTokens)
  Metrics.tokens(provider, model, "output", usage.outputTokens)
  Metrics.tokens(provider, model, "reasoning", usage.reasoningTokens)
  Metrics.cost(provider, model, cost.basis, cost.amount_microusd)
}
