import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Whether the node could serve and charge for a call now; the server asks it for `/readyz`. */
export class Readiness extends Context.Tag("gateway/http/Readiness")<
  Readiness,
  { readonly check: Effect.Effect<boolean> }
>() {}
