import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Idempotency } from "../../calls/Idempotency.ts"
import { type Claim, type Found, IdempotencyStore, type IdempotentId } from "../../calls/IdempotencyStore.ts"
import { MemoryLedger, type MemoryLedgerShape } from "./MemoryLedger.ts"

/** Idempotent requests in memory, whose responses the calls of the ledger in memory keep; nothing expires. */
const store = Layer.effect(
  IdempotencyStore,
  Effect.map(MemoryLedger, (ledger) => {
    const claims = new Map<string, Claim>()
    const nameOf = ({ idempotencyKey, keyId }: IdempotentId): string => `${keyId} ${idempotencyKey}`
    return {
      claim: (claim) =>
        Effect.sync(() => {
          const found = claims.get(nameOf(claim))
          if (found !== undefined && ledger.call(found.runId)?.state !== "expired") return foundOf(ledger, found)
          claims.set(nameOf(claim), claim)
          return undefined
        }),
      release: (run) =>
        Effect.sync(() => {
          if (claims.get(nameOf(run))?.runId === run.runId) claims.delete(nameOf(run))
        }),
      releaseLost: () => Effect.void,
      sweep: Effect.void
    }
  })
)

const foundOf = (ledger: MemoryLedgerShape, { requestHash, runId }: Claim): Found => {
  const kept = ledger.call(runId)?.settlement?.kept
  return kept === undefined ? { state: "running", requestHash } : { state: "finished", requestHash, ...kept }
}

/** Over the ledger in memory. */
export const layer: Layer.Layer<Idempotency, never, MemoryLedger> = Idempotency.layer.pipe(Layer.provide(store))
