import { createHash, timingSafeEqual } from "node:crypto"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { DatabaseOutage } from "../../domain/DatabaseOutage.ts"
import * as Prometheus from "../../observe/Prometheus.ts"
import { Scrape } from "../../observe/Scrape.ts"
import * as Errors from "../Errors.ts"
import { Drain } from "../server/Drain.ts"
import { Readiness } from "../server/Readiness.ts"
import { errorResponse, getOnly } from "../server/RouterResponse.ts"

/** A readiness check that takes longer than this counts as failed. */
const readyMillis = 1_000

/** Liveness: the process answers; nothing else is checked. */
export const livez = getOnly(Effect.succeed(HttpServerResponse.unsafeJson({ status: "ok" })))

/** Readiness: the database is migrated and accepts writes, and the node is not shutting down. */
export const readyz = Effect.gen(function* () {
  const drain = yield* Drain
  const readiness = yield* Readiness
  const answer = Effect.gen(function* () {
    if (drain.isLeaving()) return unready({ status: "shutting_down" })
    const ready = yield* Effect.timeoutTo(readiness.check, {
      duration: readyMillis,
      onSuccess: (ok) => ok,
      onTimeout: () => false
    })
    if (!ready) return unready({ status: "store_unavailable", reason: readiness.outage() ?? "unreachable" })
    const violations = readiness.violations()
    const details = Object.keys(violations).length === 0 ? {} : { ledger_violations: violations }
    return HttpServerResponse.unsafeJson({ status: "ready", ...details })
  })
  return getOnly(answer)
})

/** Prometheus metrics; a token is required unless the server listens on loopback only. */
export const metrics = Effect.fnUntraced(function* (
  token: Option.Option<Redacted.Redacted<string>>,
  isLoopback: boolean
) {
  const render = Effect.map(yield* Scrape, (exposition) =>
    HttpServerResponse.text(Prometheus.render(exposition), { contentType: "text/plain; version=0.0.4; charset=utf-8" })
  )
  const guarded = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => {
    const allowed = Option.match(token, {
      onNone: () => isLoopback && namesThisMachine(headers["host"] ?? ""),
      onSome: (secret) => isSame(headers["authorization"] ?? "", `Bearer ${Redacted.value(secret)}`)
    })
    return allowed ? render : Effect.succeed(errorResponse(Errors.metricsForbidden))
  })
  return getOnly(guarded)
})

/** Rejects other host names, against DNS rebinding while no token is required. */
const namesThisMachine = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host)

interface Unready {
  readonly status: "shutting_down" | "store_unavailable"
  readonly reason?: DatabaseOutage
}

const unready = (body: Unready) => HttpServerResponse.unsafeJson(body, { status: 503 })

const isSame = (given: string, expected: string): boolean => timingSafeEqual(digest(given), digest(expected))
const digest = (text: string) => createHash("sha256").update(text).digest()
