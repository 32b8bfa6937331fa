import { createHash, timingSafeEqual } from "node:crypto"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Prometheus from "../observe/Prometheus.ts"
import { Drain } from "./Drain.ts"
import * as Errors from "./Errors.ts"
import { Readiness } from "./Readiness.ts"
import { errorResponse, getOnly } from "./RouteAnswers.ts"

/** A readiness check that takes longer than this is a no. */
const readyMillis = 1_000

/** Alive: the process answers, nothing else is asked. */
export const livez = HttpLayerRouter.add(
  "*",
  "/livez",
  getOnly(Effect.succeed(HttpServerResponse.unsafeJson({ status: "ok" })))
)

/** Ready for calls: migrated, the database takes writes, not shutting down. */
export const readyz = HttpLayerRouter.use((router) =>
  Effect.gen(function* () {
    const drain = yield* Drain
    const readiness = yield* Readiness
    const answer = Effect.gen(function* () {
      if (drain.isDraining()) return unready("shutting_down")
      const ready = yield* Effect.timeoutTo(readiness.check, {
        duration: readyMillis,
        onSuccess: (ok) => ok,
        onTimeout: () => false
      })
      return ready ? HttpServerResponse.unsafeJson({ status: "ready" }) : unready("store_unavailable")
    })
    yield* router.add("*", "/readyz", getOnly(answer))
  })
)

/** Prometheus metrics; a token guards them where strangers could ask. */
export const metrics = (
  token: Option.Option<Redacted.Redacted<string>>,
  isLoopback: boolean
): Layer.Layer<never, never, HttpLayerRouter.HttpRouter> => {
  const render = Effect.sync(() =>
    HttpServerResponse.text(Prometheus.render(), { contentType: "text/plain; version=0.0.4; charset=utf-8" })
  )
  const guarded = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => {
    const allowed = Option.match(token, {
      onNone: () => isLoopback && namesThisMachine(headers["host"] ?? ""),
      onSome: (secret) => isSame(headers["authorization"] ?? "", `Bearer ${Redacted.value(secret)}`)
    })
    return allowed ? render : Effect.succeed(errorResponse(Errors.metricsForbidden))
  })
  return HttpLayerRouter.add("*", "/metrics", getOnly(guarded))
}

/** A page of a foreign name that resolves to this machine must not read what needs no token. */
const namesThisMachine = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host)

const unready = (reason: string) => HttpServerResponse.unsafeJson({ status: reason }, { status: 503 })

const isSame = (given: string, expected: string): boolean => timingSafeEqual(digest(given), digest(expected))
const digest = (text: string) => createHash("sha256").update(text).digest()
