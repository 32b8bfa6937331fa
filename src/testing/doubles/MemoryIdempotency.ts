import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Idempotency } from "../../calls/Idempotency.ts"
import { type Claim, type Found, IdempotencyStore, type IdempotentId } from "../../calls/IdempotencyStore.ts"

interface Row extends Found {
  readonly runId: string
}

/** Idempotent requests in memory; nothing expires. */
const store = Layer.sync(IdempotencyStore, () => {
  const rows = new Map<string, Row>()
  const nameOf = ({ idempotencyKey, keyId }: IdempotentId): string => `${keyId} ${idempotencyKey}`
  return {
    claim: (claim: Claim) =>
      Effect.sync(() => {
        const found = rows.get(nameOf(claim))
        if (found === undefined) {
          const { requestHash: request_hash, runId } = claim
          rows.set(nameOf(claim), { request_hash, runId, state: "running", content_type: null, answer: null })
        }
        return found
      }),
    finish: (run, { contentType, sealed }) =>
      Effect.sync(() => {
        const row = rows.get(nameOf(run))
        if (row?.runId !== run.runId) return
        rows.set(nameOf(run), { ...row, state: "finished", content_type: contentType, answer: sealed })
      }),
    release: (run) =>
      Effect.sync(() => {
        if (rows.get(nameOf(run))?.runId === run.runId) rows.delete(nameOf(run))
      }),
    sweep: Effect.void
  }
})

export const layer: Layer.Layer<Idempotency> = Idempotency.layer.pipe(Layer.provide(store))
