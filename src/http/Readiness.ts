import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Whether what the node depends on answers; the server asks it for `/readyz`. */
export class Readiness extends Context.Tag("gateway/http/Readiness")<
  Readiness,
  { readonly check: Effect.Effect<boolean> }
>() {}
