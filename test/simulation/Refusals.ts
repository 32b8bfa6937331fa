import type { CallerShape } from "../../src/domain/Caller.ts"
import { scopeIdsOf } from "../../src/ledger/Hold.ts"
import type { LedgerCall } from "../../src/testing/doubles/MemoryLedger.ts"
import type { SimulatedDatabase } from "./SimulatedDatabase.ts"
import { exactCost, models, usageOf } from "./SimulatedProviders.ts"
import type { ClientCall } from "./Simulation.ts"

/** Up to this part of every limit, no call is refused for money that running calls hold and will not use. */
const promisedPart = 0.8

/** What the refused call's simulation knows of the calls behind open holds. */
export interface HoldingCalls {
  /** A call that runs on a node which is there. */
  readonly running: (callId: string) => ClientCall | undefined
  /** Its node is stopped, paused or cut off. */
  readonly isAway: (callId: string) => boolean
}

/**
 * Whether a refusal breaks the promise: what is spent, what running calls will truly cost and what this one would come to less
 * than the promised part of every limit. A call that has ended counts with all that it holds. The rest of a limit is the margin
 * that holds may take beyond true costs: nothing is promised while nodes that are away hold more than that.
 */
export const isPhantom = (refused: ClientCall, database: SimulatedDatabase, calls: HoldingCalls): boolean => {
  const cost = cheapestCost(refused)
  const holds = database.openHolds()
  const trueCost = (hold: LedgerCall): number => {
    const attempt = calls.running(hold.callId)?.attempts.at(-1)
    return attempt === undefined ? hold.amount : Math.min(hold.amount, attempt.fullCostMicroUsd)
  }
  return database.scopes(refused.caller).every(({ id, limit, spent }) => {
    const counted = holds.filter(({ caller }: { readonly caller: CallerShape }) => scopeIdsOf(caller).includes(id))
    const away = counted.filter(({ callId }) => calls.isAway(callId)).reduce((sum, { amount }) => sum + amount, 0)
    const due = counted.reduce((sum, hold) => sum + trueCost(hold), 0)
    return spent + due + cost <= promisedPart * limit && away <= (1 - promisedPart) * limit
  })
}

/** At the cheapest model that it may go to. */
const cheapestCost = ({ request, words }: ClientCall): number => {
  const candidates = models.filter(({ id }) => request.model === "auto" || id === request.model)
  const used = usageOf(request, Math.min(words, request.maxOutputTokens ?? words))
  return Math.min(...candidates.map((model) => exactCost(model, used)))
}
