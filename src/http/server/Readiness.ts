import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { DatabaseOutage } from "../../domain/DatabaseOutage.ts"

/** Whether the node can serve and charge for a call now; used by `/readyz`. */
export class Readiness extends Context.Tag("gateway/http/Readiness")<
  Readiness,
  {
    readonly check: Effect.Effect<boolean>
    /** Why not, where the database has said so. */
    readonly outage: () => DatabaseOutage | undefined
    /** Broken invariants of the ledger, with the number of rows that break each; a node that is ready shows them. */
    readonly violations: () => Readonly<Record<string, number>>
  }
>() {}
