import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { CallerShape } from "../domain/Caller.ts"
import type { StoreUnavailable, Unauthenticated } from "../domain/GatewayError.ts"

export interface ApiKeysShape {
  /** `authorization` is the header as it came; only `Bearer <key>` counts. */
  readonly authenticate: (
    authorization: string | undefined
  ) => Effect.Effect<CallerShape, Unauthenticated | StoreUnavailable>
}

/** Project API keys: who is calling. */
export class ApiKeys extends Context.Tag("gateway/identity/ApiKeys")<ApiKeys, ApiKeysShape>() {}
