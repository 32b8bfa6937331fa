import type { IncomingMessage } from "node:http"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CallerShape } from "../domain/Caller.ts"
import { RateLimited, type StoreUnavailable, type Unauthenticated } from "../domain/GatewayError.ts"
import { Timers } from "../domain/Timers.ts"
import { ApiKeys } from "../identity/ApiKeys.ts"

export interface SecurityShape {
  /** Who is calling, by the one credential that counts: the bearer of the Authorization header. */
  readonly authenticate: (
    request: Pick<IncomingMessage, "headers" | "socket">
  ) => Effect.Effect<CallerShape, Unauthenticated | RateLimited | StoreUnavailable>
}

/** Failed attempts an address may make in a minute: guessing is hopeless anyway, this keeps it cheap. */
const maxFailuresPerMinute = 1_000
const maxAddresses = 10_000
const windowMillis = 60_000

export class Security extends Context.Tag("gateway/http/Security")<Security, SecurityShape>() {
  static readonly layer: Layer.Layer<Security, never, ApiKeys | Timers> = Layer.effect(
    this,
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const timers = yield* Timers
      const failures = new Map<string, { count: number; readonly endsAtMillis: number }>()

      const failed = (address: string): void => {
        const now = timers.now()
        const known = failures.get(address)
        if (known !== undefined && known.endsAtMillis > now) {
          known.count += 1
          return
        }
        if (failures.size >= maxAddresses) failures.clear()
        failures.set(address, { count: 1, endsAtMillis: now + windowMillis })
      }
      const blockedMillis = (address: string): number => {
        const known = failures.get(address)
        return known === undefined || known.count < maxFailuresPerMinute ? 0 : known.endsAtMillis - timers.now()
      }
      return {
        authenticate: ({ headers, socket }) =>
          Effect.tapError(keys.authenticate(headers.authorization), (error) => {
            if (error._tag !== "Unauthenticated") return Effect.void
            const address = socket.remoteAddress ?? ""
            const retryAfterMillis = blockedMillis(address)
            if (retryAfterMillis <= 0) return Effect.sync(() => failed(address))
            return Effect.fail(
              new RateLimited({
                code: "rate_limit_exceeded",
                message: "Too many requests without a valid API key came from this address.",
                retryAfterMillis
              })
            )
          })
      }
    })
  )
}
