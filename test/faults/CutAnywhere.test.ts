// Promise: Fallback before content, only and always.
// Promise: Event streams are exact.
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { model } from "../provider/protocols/calls.ts"
import { figure, inLong } from "../support/Figures.ts"
import { type InProcess, startInProcess } from "../support/InProcess.ts"
import * as Upstreams from "../support/Upstream.ts"
import { type VerdictRequest, verdictOf } from "./ClientVerdict.ts"

const pieces = ["Grüße, ", "naïve ", "世界 ", "👋🏽 ", "and goodbye."]
const whole = Buffer.from(
  [
    ": hello\n\n",
    Upstreams.event({ choices: [{ index: 0, delta: { role: "assistant", content: "" } }] }),
    ...Upstreams.chunksOf(pieces),
    Upstreams.done
  ].join("")
)
const text = pieces.join("")
const firstContent = whole.indexOf("\n\n", whole.indexOf("Gr")) + 2
const finish = whole.indexOf("\n\n", whole.indexOf('"finish_reason":"stop"')) + 2

/** `cut-<n>` breaks after n bytes, `split-<n>` sends n bytes at a time. */
const handler: Upstreams.Handler = (received, response) => {
  const [how, at] = received.model.split("-")
  Upstreams.sse(response)
  if (how === "cut") response.write(whole.subarray(0, Number(at)), () => response.socket?.resetAndDestroy())
  else if (how === "end") response.end(whole.subarray(0, Number(at)))
  else void drip(response, Number(at))
}

const drip = async (response: Parameters<Upstreams.Handler>[1], size: number): Promise<void> => {
  for (let at = 0; at < whole.length; at += size) {
    await new Promise((resolve) => response.write(whole.subarray(at, at + size), resolve))
  }
  response.end()
}

const offsets = Array.from({ length: whole.length + 1 }, (_, at) => at).filter(
  (at) => at % inLong(1, 13) === 0 || Math.abs(at - firstContent) < 2 || Math.abs(at - finish) < 2
)
const sizes = inLong([1, 2, 3, 5, 7, 11, 64, 1_000], [1, 7])

let upstream: Upstreams.Upstream
let gateway: InProcess
const route = (provider: string, upstreamModel: string, quality: number) =>
  model({ id: `${provider}/m`, providerId: provider, upstreamModel, alias: provider, quality })

beforeAll(async () => {
  upstream = await Upstreams.start((received, response, self) =>
    (received.model === "ok" ? answerWhole : handler)(received, response, self)
  )
  const cuts = offsets.flatMap((at) => [`cut-${at}`, `end-${at}`])
  const faulty = [...cuts, ...sizes.map((size) => `split-${size}`)]
  gateway = await startInProcess({
    origins: Object.fromEntries([...faulty, "spare"].map((provider) => [provider, upstream.baseUrl])),
    models: [route("spare", "ok", 0.1), ...faulty.map((name) => route(name, name, 0.9))],
    policy: { defaultAlpha: 1 }
  })
})
const answerWhole: Upstreams.Handler = (received, response) => Upstreams.answer(received, response, [text])
afterAll(async () => {
  expect(await gateway.held()).toBe(0)
  await gateway.stop()
  await upstream.stop()
})

const ask = (provider: string, endpoint: VerdictRequest["endpoint"]) =>
  verdictOf(gateway.url, "auto", { endpoint, stream: true, more: { models: { allow: [`${provider}/*`, "spare/*"] } } })

describe("a stream that breaks at any byte", () => {
  it.each([
    ["cut", "chat"],
    ["cut", "responses"],
    ["cut", "messages"],
    ["end", "chat"],
    ["end", "responses"],
    ["end", "messages"]
  ] as const)(
    "(%s, %s) is another provider's complete response before its content, an error after it, whole after its finish",
    async (how, endpoint) => {
      const counts = { rescued: 0, broken: 0, whole: 0 }
      for (const at of offsets) {
        const seen = await ask(`${how}-${at}`, endpoint)
        const said = `${how} at ${at}: ${seen.ends} ${seen.code} ${seen.text}`
        if (at < firstContent || at >= finish) {
          expect([seen.ends, seen.text], said).toEqual(["answered", text])
          counts[at < firstContent ? "rescued" : "whole"]++
        } else {
          expect([seen.ends, seen.code], said).toEqual(["broken", "provider_disconnected"])
          expect(text.startsWith(seen.text) && seen.text !== "", said).toBe(true)
          expect(seen.isDone).toBe(false)
          counts.broken++
        }
      }
      figure(`streams broken at a byte (${how}, ${endpoint})`, JSON.stringify(counts))
    },
    120_000
  )

  it("is the same answer however its bytes are split", async () => {
    for (const size of sizes) {
      const seen = await ask(`split-${size}`, "chat")
      expect([seen.ends, seen.text]).toEqual(["answered", text])
    }
  })
})
