import type { CallerShape } from "../../src/domain/Caller.ts"
import { scopeIdsOf } from "../../src/ledger/Hold.ts"
import type { LedgerCall } from "../../src/testing/doubles/MemoryLedger.ts"
import type { SimulatedDatabase } from "./SimulatedDatabase.ts"
import { exactCost, models, usageOf } from "./SimulatedProviders.ts"
import type { ClientCall } from "./Simulation.ts"

/** Up to this part of every limit, no call is refused for money that running calls hold and will not use. */
const promisedPart = 0.8

/**
 * Whether a refusal breaks the promise: what is spent, what running calls will truly cost and what this one would come to less
 * than the promised part of every limit. A call that has ended, or whose node is away, counts with all that it holds.
 */
export const isPhantom = (
  refused: ClientCall,
  database: SimulatedDatabase,
  runningCall: (callId: string) => ClientCall | undefined
): boolean => {
  const cost = cheapestCost(refused)
  const holds = database.openHolds()
  const trueCost = (hold: LedgerCall): number => {
    const attempt = runningCall(hold.callId)?.attempts.at(-1)
    return attempt === undefined ? hold.amount : Math.min(hold.amount, attempt.fullCostMicroUsd)
  }
  return database.scopes(refused.caller).every(({ id, limit, spent }) => {
    const counted = holds.filter(({ caller }: { readonly caller: CallerShape }) => scopeIdsOf(caller).includes(id))
    return spent + counted.reduce((sum, hold) => sum + trueCost(hold), 0) + cost <= promisedPart * limit
  })
}

/** At the cheapest model that it may go to. */
const cheapestCost = ({ request, words }: ClientCall): number => {
  const candidates = models.filter(({ id }) => request.model === "auto" || id === request.model)
  const used = usageOf(request, Math.min(words, request.maxOutputTokens ?? words))
  return Math.min(...candidates.map((model) => exactCost(model, used)))
}
