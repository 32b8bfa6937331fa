import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ScriptedProvider } from "../../../src/testing/index.ts"
import { body, post, served } from "./RoutesApp.ts"

const { answer, fail, text, wait } = ScriptedProvider

const paths = ["/v1/chat/completions", "/v1/responses", "/v1/messages"] as const
const requestTo = (path: (typeof paths)[number], more: object = {}) =>
  path === "/v1/responses" ? { model: "one/m", input: "Hi.", ...more } : body({ max_tokens: 100, ...more })
const named = { "idempotency-key": "first" }
const codeOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string } }
  return [response.status, error.code]
}

describe.each(paths)("an Idempotency-Key at %s of an application", (path) => {
  it.scopedLive("runs the request once: its repetition gets the same answer, which costs nothing", () =>
    Effect.gen(function* () {
      const { ledger, provider, url } = yield* served(answer("All is well."), { isIdempotent: true })
      yield* Effect.promise(async () => {
        for (const stream of [false, true]) {
          const headers = { "idempotency-key": `of ${stream}` }
          const first = await post(url, requestTo(path, { stream }), headers, path)
          // the head of a stream comes while its request still runs
          const whole = await first.text()
          const second = await post(url, requestTo(path, { stream }), headers, path)
          expect([first.status, second.status]).toEqual([200, 200])
          expect(first.headers.get("idempotent-replayed")).toBeNull()
          expect(second.headers.get("idempotent-replayed")).toBe("true")
          expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"))
          expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"))
          expect(await second.text()).toBe(whole)
          const other = await post(url, requestTo(path, { stream, temperature: 1 }), headers, path)
          expect(await codeOf(other)).toEqual([400, "idempotency_key_reused"])
        }
      })
      expect(provider.calls.length).toBe(2)
      expect(ledger.calls().map(({ state }) => state)).toEqual(["settled", "settled"])
    })
  )

  it.scopedLive("is in progress while the request runs, which goes on when its client leaves", () =>
    Effect.gen(function* () {
      for (const stream of [false, true]) {
        const script = [text("a"), wait(150), text("b"), ...answer("c")]
        const { ledger, provider, url } = yield* served(script, { isIdempotent: true })
        yield* Effect.promise(async () => {
          const leaving = new AbortController()
          const first = fetch(`${url}${path}`, {
            method: "POST",
            headers: { authorization: "Bearer ours", "content-type": "application/json", ...named },
            body: JSON.stringify(requestTo(path, { stream })),
            signal: leaving.signal
          })
          first.catch(() => {})
          while (provider.calls.length === 0) await new Promise(setImmediate)
          const meanwhile = await post(url, requestTo(path, { stream }), named, path)
          expect(meanwhile.headers.get("retry-after")).toBe("1")
          expect(await codeOf(meanwhile)).toEqual([429, "idempotent_request_in_progress"])
          leaving.abort()
        })
        yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => ledger.calls()[0]?.state !== "held" })
        expect(ledger.calls().map(({ state }) => state)).toEqual(["settled"])
        const again = yield* Effect.promise(() => post(url, requestTo(path, { stream }), named, path))
        expect(again.headers.get("idempotent-replayed")).toBe("true")
        const sent = yield* Effect.promise(() => again.text())
        for (const piece of ["a", "b", "c"]) expect(sent).toContain(piece)
        expect(provider.calls.length).toBe(1)
      }
    })
  )

  it.scopedLive("keeps the failure of a call whose providers have all failed, and no refusal", () =>
    Effect.gen(function* () {
      const { provider, url } = yield* served([fail({ _tag: "ServerError", status: 500 })], { isIdempotent: true })
      yield* Effect.promise(async () => {
        for (const replayed of [null, "true"]) {
          for (const stream of [false, true]) {
            const headers = { "idempotency-key": `failing ${stream}` }
            const response = await post(url, requestTo(path, { stream }), headers, path)
            expect([response.status, response.headers.get("idempotent-replayed")]).toEqual([502, replayed])
            expect(response.headers.get("x-should-retry")).toBe("false")
          }
        }
        const asked = provider.calls.length
        for (const _ of [1, 2]) {
          const refused = await post(url, requestTo(path, { model: "two/m" }), { "idempotency-key": "refused" }, path)
          expect(await codeOf(refused)).toEqual([404, "model_not_found"])
          expect(refused.headers.get("idempotent-replayed")).toBeNull()
        }
        expect(provider.calls.length).toBe(asked)
      })
    })
  )

  it.scopedLive("is refused where it is malformed, and where nothing is kept", () =>
    Effect.gen(function* () {
      const kept = yield* served(answer("a"), { isIdempotent: true })
      const malformed = yield* Effect.promise(() =>
        post(kept.url, requestTo(path), { "idempotency-key": "x".repeat(256) }, path)
      )
      expect(yield* Effect.promise(() => codeOf(malformed))).toEqual([400, "invalid_value"])
      const { provider, url } = yield* served(answer("a"))
      const refused = yield* Effect.promise(() => post(url, requestTo(path), named, path))
      expect(yield* Effect.promise(() => codeOf(refused))).toEqual([400, "unsupported_parameter"])
      expect(provider.calls).toEqual([])
    })
  )
})
