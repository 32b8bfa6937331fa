import Anthropic from "@anthropic-ai/sdk"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ScriptedProvider } from "../../../src/testing/index.ts"
import { body, post, served } from "./RoutesApp.ts"

const { answer, fail, hang, text } = ScriptedProvider

const clientOf = (url: string) => new Anthropic({ apiKey: "ours", baseURL: url, maxRetries: 0 })
const asked = { model: "auto", max_tokens: 100, messages: [{ role: "user" as const, content: "Hi." }] }
const postMessage = (url: string, more: object, headers: Record<string, string> = {}) =>
  post(url, body({ max_tokens: 100, ...more }), headers, "/v1/messages")

describe("Anthropic's Messages in an application of HttpLayerRouter", () => {
  it.scopedLive("answer the official client, streamed and not, count tokens and list models", () =>
    Effect.gen(function* () {
      const { ledger, url } = yield* served(answer("All is well."))
      yield* Effect.promise(async () => {
        const client = clientOf(url)
        const plain = await client.messages.create(asked)
        expect([plain.content, plain.stop_reason]).toMatchObject([[{ type: "text", text: "All is well." }], "end_turn"])
        const stream = client.messages.stream(asked)
        expect(await stream.finalText()).toBe("All is well.")
        const { input_tokens } = await client.messages.countTokens({ model: "one/m", messages: asked.messages })
        expect(input_tokens).toBeGreaterThan(0)
        const ids = []
        for await (const { id } of client.models.list()) ids.push(id)
        expect(ids).toEqual(["auto", "one/m"])
      })
      expect(ledger.calls().map(({ state }) => state)).toEqual(["settled", "settled"])
    })
  )

  it.scopedLive("have the errors of their format, with the id of the request and what was dropped", () =>
    Effect.gen(function* () {
      const { url } = yield* served(answer("a"), { creditMicroUsd: 1 })
      yield* Effect.promise(async () => {
        const tools = [{ type: "web_search_20250305", name: "web_search" }]
        for (const [more, status, type, param] of [
          [{ max_tokens: 0 }, 400, "invalid_request_error", "max_tokens"],
          [{ output_config: { effort: "max" } }, 400, "invalid_request_error", "output_config.effort"],
          [{ model: "two/m" }, 404, "not_found_error", "model"],
          [{ stream: true }, 402, "billing_error", null]
        ] as const) {
          const response = await postMessage(url, { tools, ...more })
          const { error, request_id } = (await response.json()) as Record<string, Record<string, unknown>>
          expect([response.status, error?.["type"], error?.["param"]]).toEqual([status, type, param])
          expect(request_id).toBe(response.headers.get("request-id"))
          expect(response.headers.get("x-request-id")).toBe(response.headers.get("request-id"))
          expect(response.headers.get("x-service-dropped-tools")).toBe("web_search_20250305")
        }
        const count = await post(url, { model: "one/m" }, {}, "/v1/messages/count_tokens")
        expect([count.status, await count.json()]).toMatchObject([400, { type: "error" }])
      })
    })
  )

  it.scopedLive(
    "leave an effort out for a model without reasoning where the model is to decide, as Claude Code asks",
    () =>
      Effect.gen(function* () {
        const { url } = yield* served(answer("Done."))
        const asking = { thinking: { type: "adaptive" }, output_config: { effort: "high" } }
        yield* Effect.promise(async () => {
          const response = await postMessage(url, asking)
          expect(response.status).toBe(200)
          const { router_metadata: metadata } = (await response.json()) as Record<string, Record<string, unknown>>
          expect(metadata?.["dropped_parameters"]).toEqual(["thinking", "output_config.effort"])
        })
      })
  )

  it.scopedLive("end a stream that breaks with the error, without message_stop", () =>
    Effect.gen(function* () {
      const { url } = yield* served([text("a"), fail({ _tag: "Disconnected" })])
      const sent = yield* Effect.promise(async () => (await postMessage(url, { stream: true })).text())
      expect(sent.match(/^event: .*$/gm)?.at(-1)).toBe("event: error")
      expect(sent).toContain('"code":"provider_disconnected"')
      expect(sent).not.toContain("message_stop")
    })
  )

  it.scopedLive("keep a silent stream alive with their own pings", () =>
    Effect.gen(function* () {
      const { close, url } = yield* served([text("a"), hang], { heartbeatMillis: 10 })
      const response = yield* Effect.promise(() => postMessage(url, { stream: true }))
      yield* Effect.sleep("60 millis")
      yield* Effect.fork(close)
      const sent = yield* Effect.promise(() => response.text())
      expect(sent).toContain("event: ping")
      expect(sent).toContain('"code":"server_shutdown"')
    })
  )
})
