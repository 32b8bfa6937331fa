import * as Layer from "effect/Layer"
import { Idempotency, type IdempotencyOptions, issuesOfIdempotencyOptions } from "../calls/Idempotency.ts"
import { IdempotencyStore } from "../calls/IdempotencyStore.ts"
import type { IdGenerator } from "../domain/IdGenerator.ts"
import type { InvalidConfiguration } from "../domain/InvalidConfiguration.ts"
import { layerIfValid } from "../domain/OptionIssues.ts"
import { LedgerNode } from "../ledger/LedgerNodeStore.ts"
import type { DatabaseError, DatabaseServices } from "../sql/DatabaseLayer.ts"

/**
 * Requests with an `Idempotency-Key` are run once: their responses are kept in the database for 24 hours, encrypted with `secret`,
 * in the same statement as the settlement of their calls. To be built together with `LedgerLayer`, whose node runs the calls. Fails with
 * `InvalidConfiguration` where the secret is empty.
 */
export const IdempotencyLayer = (
  options: IdempotencyOptions
): Layer.Layer<Idempotency, DatabaseError | InvalidConfiguration, DatabaseServices | IdGenerator> =>
  layerIfValid(
    () => issuesOfIdempotencyOptions(options),
    () => Idempotency.layerWith(options).pipe(Layer.provide(IdempotencyStore.layer), Layer.provide(LedgerNode.layer))
  )
