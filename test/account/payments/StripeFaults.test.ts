import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import { afterAll, beforeAll } from "vitest"
import { Checkouts } from "../../../src/account/payments/Checkouts.ts"
import { PaymentId } from "../../../src/domain/Ids.ts"
import { Timers } from "../../../src/domain/Timers.ts"
import * as OutgoingHttp from "../../../src/egress/OutgoingHttp.ts"

const secret = "sk_test_0123456789abcdef"

/** Stripe, which refuses every key and repeats the end of it. */
const refusing = createServer((request, response) => {
  request.resume()
  const error = { type: "invalid_request_error", message: `Invalid API Key provided: ${secret}` }
  response.writeHead(401, { "content-type": "application/json", "request-id": "req_1" }).end(JSON.stringify({ error }))
})
beforeAll(async () => {
  refusing.listen(0, "127.0.0.1")
  await once(refusing, "listening")
})
afterAll(() => {
  refusing.closeAllConnections()
  refusing.close()
})

/** Lines of the log after two checkouts and two webhooks that are not Stripe's. */
const linesAt = (apiUrl: string) =>
  Effect.gen(function* () {
    const lines: Array<Record<string, unknown>> = []
    const log = Logger.make(({ annotations, logLevel, message }) => {
      lines.push({
        level: logLevel.label,
        message: String(message),
        ...Object.fromEntries(HashMap.toEntries(annotations))
      })
    })
    const layer = Checkouts.layerStripe({
      secretKey: Redacted.make(secret),
      webhookSecret: Redacted.make("whsec_0123456789abcdef"),
      apiUrl
    }).pipe(
      Layer.provide([OutgoingHttp.layer({}), Timers.layer]),
      Layer.provideMerge(Logger.replace(Logger.defaultLogger, log))
    )
    yield* Effect.gen(function* () {
      const checkouts = yield* Checkouts
      for (let times = 0; times < 2; times++) {
        const id = PaymentId.make("01990000-0000-7000-8000-000000000001")
        const failed = yield* Effect.flip(
          checkouts?.open({ id, amountCents: 1_000 }, "http://127.0.0.1") ?? Effect.never
        )
        expect(failed._tag).toBe("PaymentProviderFailed")
        yield* Effect.flip(checkouts?.verify?.(Buffer.from("{}"), "t=1,v1=00") ?? Effect.never)
      }
    }).pipe(Effect.provide(layer))
    return lines
  })

it.scopedLive(
  "a key that Stripe refuses, and a secret that its webhooks are not signed with, are told once with the variable",
  () =>
    Effect.gen(function* () {
      const { port } = refusing.address() as AddressInfo
      const lines = yield* linesAt(`http://127.0.0.1:${port}`)
      expect(lines).toMatchObject([
        { level: "WARN", message: "Stripe has not taken a request", status: 401, variable: "STRIPE_SECRET_KEY" },
        { level: "WARN", message: "a webhook has no signature of Stripe", variable: "STRIPE_WEBHOOK_SECRET" }
      ])
      expect(JSON.stringify(lines)).not.toContain(secret)
    })
)

it.scopedLive("what keeps Stripe from being reached is told", () =>
  Effect.gen(function* () {
    const lines = yield* linesAt("http://127.0.0.1:1")
    expect(lines[0]).toMatchObject({ message: "Stripe has not taken a request", status: null })
    expect(lines[0]?.["reason"]).toContain("ECONNREFUSED")
  })
)

it.scopedLive("a fault of Stripe's own, which it repeats for a key, does not outlive it", () =>
  Effect.gen(function* () {
    let isFailing = true
    const kept = new Map<string, number>()
    const bodies: Array<URLSearchParams> = []
    const failing = yield* Effect.acquireRelease(
      Effect.promise(async () => {
        const server = createServer(async (request, response) => {
          bodies.push(new URLSearchParams(await text(request)))
          const key = String(request.headers["idempotency-key"])
          const status = kept.get(key) ?? (isFailing ? 500 : 200)
          kept.set(key, status)
          const body = status === 200 ? { id: "cs_1", url: "https://pay.example" } : { error: { type: "api_error" } }
          response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
        })
        server.listen(0, "127.0.0.1")
        await once(server, "listening")
        return server
      }),
      (server) =>
        Effect.sync(() => {
          server.closeAllConnections()
          server.close()
        })
    )
    const { port } = failing.address() as AddressInfo
    const layer = Checkouts.layerStripe({
      secretKey: Redacted.make(secret),
      webhookSecret: null,
      apiUrl: `http://127.0.0.1:${port}`
    }).pipe(Layer.provide([OutgoingHttp.layer({}), Timers.layer]), Layer.provideMerge(silent))
    const id = PaymentId.make("01990000-0000-7000-8000-000000000002")
    yield* Effect.gen(function* () {
      const checkouts = yield* Checkouts
      const open = checkouts?.open({ id, amountCents: 1_000 }, "http://127.0.0.1") ?? Effect.never
      expect((yield* Effect.flip(open))._tag).toBe("PaymentProviderFailed")
      isFailing = false
      expect(yield* open).toEqual({ sessionId: "cs_1", url: "https://pay.example" })
      // the payment's own key first: a page whose answer was lost is given again
      expect([...kept.keys()][0]).toBe(id)
      // refunds and disputes have to be in the currency of the credit
      expect(bodies.map((body) => body.get("adaptive_pricing[enabled]"))).toEqual(bodies.map(() => "false"))
    }).pipe(Effect.provide(layer))
  })
)

const silent = Logger.replace(Logger.defaultLogger, Logger.none)
