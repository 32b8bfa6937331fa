// Promise: Any bytes in, an answer out.
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { figure, inLong } from "../support/Figures.ts"
import { callerKey } from "../support/InProcess.ts"
import { body, full, mutated } from "../wire/chat/ChatArbitraries.ts"
import { fullResponses, naughtyStrings, noRequest, noUtf8, places, replaced, values } from "./Corpus.ts"
import { each, type HardeningHarness, paths, startHardeningHarness } from "./HardeningHarness.ts"

let harness: HardeningHarness
beforeAll(async () => {
  harness = await startHardeningHarness()
})
afterAll(() => harness.stop())

const [chat, responses] = paths
const fullChat = { ...full, model: "one/ok", routing_config: null, models: null, provider: null }
const fulls = [
  [chat, fullChat],
  [responses, fullResponses]
] as const

const small = { model: "one/ok", messages: [{ role: "user", content: "hi" }] }

describe("any bytes in, an answer of ours out", () => {
  it("for texts that are no request", async () => {
    for (const path of paths) {
      await each(noRequest, async (text) => harness.expectError(await harness.send(path, text), text))
    }
  })

  it("for bytes that are no UTF-8", async () => {
    const [before = "", after = ""] = JSON.stringify({ ...small, user: "HERE" }).split("HERE")
    for (const bytes of noUtf8) {
      const response = await harness.send(
        chat,
        Buffer.concat([Buffer.from(before), Uint8Array.from(bytes), Buffer.from(after)])
      )
      expect(await response.json()).toMatchObject({ error: { code: "invalid_utf8" } })
    }
  })

  /** A share of all combinations that still has every string in many places, and in every place many strings. */
  const step = inLong(1, 11)
  const some = <A, B>(first: ReadonlyArray<A>, second: ReadonlyArray<B>): ReadonlyArray<readonly [A, B]> =>
    first.flatMap((a, i) => second.flatMap((b, j) => ((i + j) % step === 0 ? [[a, b] as const] : [])))

  it("for naughty strings in every place that takes one, and as names", async () => {
    for (const [path, whole] of fulls) {
      const strings = [...places(whole)].filter(([, value]) => typeof value === "string").map(([place]) => place)
      const cases = some(strings, naughtyStrings)
      figure(`naughty strings sent to ${path}`, cases.length)
      await each(cases, async ([place, text]) => {
        const sent = JSON.stringify(replaced(whole, place, text))
        await harness.expectAnswer(await harness.send(path, sent), [place, text])
      })
      await each(naughtyStrings, async (name) => {
        for (const at of [{}, { metadata: { [name]: "x" } }, { [name]: { [name]: name } }]) {
          const sent = `{${JSON.stringify(name)}:1,${JSON.stringify({ ...whole, ...at }).slice(1)}`
          await harness.expectAnswer(await harness.send(path, sent), name)
        }
      })
    }
  }, 120_000)

  it("for a value of every kind in every place", async () => {
    for (const [path, whole] of fulls) {
      const everywhere = [...places(whole)].map(([place]) => place)
      const cases = some(everywhere, values)
      figure(`misplaced values sent to ${path}`, cases.length)
      await each(cases, async ([place, value]) => {
        await harness.expectAnswer(await harness.send(path, JSON.stringify(replaced(whole, place, value))), [
          place,
          value
        ])
      })
    }
  }, 120_000)

  it("for bodies made from the schemas and broken at random", async () => {
    const made = fc.oneof({ arbitrary: mutated, weight: 3 }, { arbitrary: body, weight: 1 })
    const bodies = fc.sample(made, { numRuns: inLong(10_000, 2_000), seed: 20_260_101 })
    figure("fuzzed bodies", bodies.length)
    await each(bodies, async (json) => {
      const isObject = typeof json === "object" && json !== null
      const sent = JSON.stringify(isObject && "model" in json ? { ...json, model: "one/ok" } : json) ?? ""
      await harness.expectAnswer(await harness.send(chat, sent), json)
    })
  }, 120_000)

  it("for numbers that JavaScript cannot hold", async () => {
    for (const number of ["1e999", "-1e999", "123456789012345678901234567890", "1e-999", "-0", "1E400", "0.1e1000"]) {
      for (const field of ["temperature", "max_tokens", "seed", "alpha", "n", "top_logprobs"]) {
        const sent = `${JSON.stringify(small).slice(0, -1)},"${field}":${number}}`
        await harness.expectAnswer(await harness.send(chat, sent), sent)
      }
    }
  })

  it("does not forward what it does not know, nor a doubled key's first value", async () => {
    const before = harness.upstream.requests.length
    const sent = `{"model":"nobody/x","api_base":"http://127.0.0.1:9","model":"one/ok","messages":[{"role":"user","content":"first","content":"second","api_key":"x"}]}`
    expect((await harness.send(chat, sent)).status).toBe(200)
    const { text } = harness.upstream.requests[before] ?? { text: "" }
    expect(text).toContain("second")
    for (const hidden of ["first", "api_base", "api_key", "nobody"]) expect(text).not.toContain(hidden)
  })
})

describe("no bytes hold up the others for long", () => {
  const many = <A>(count: number, one: (index: number) => A) => Array.from({ length: count }, (_, index) => one(index))
  it.each([
    ["a million names", () => `{${many(1_000_000, (index) => `"k${index}":0`).join(",")}}`],
    ["ten million values", () => `[${"0,".repeat(9_999_999)}0]`],
    ["three million objects", () => `[${"{},".repeat(2_999_999)}0]`],
    ["a million brackets", () => "[".repeat(1_000_000)],
    ["the most messages", () => JSON.stringify({ ...small, messages: many(20_000, () => small.messages[0]) })]
  ])("%s", async (_, make) => {
    const sent = make()
    const steps: Array<number> = []
    let isOver = false
    const measuring = (async () => {
      while (!isOver) {
        const startedAt = process.cpuUsage()
        await new Promise((resolve) => setImmediate(resolve))
        steps.push(process.cpuUsage(startedAt).user / 1_000)
      }
    })()
    const response = await harness.send(chat, sent)
    await harness.expectAnswer(response, sent.slice(0, 40))
    isOver = true
    await measuring
    // by the processor's time: a busy machine makes others wait too
    const longest = steps.reduce((a, b) => Math.max(a, b), 0)
    figure("longest step in ms", longest.toFixed(0))
    // parsing any of these would take longer, even on an idle machine
    expect(longest).toBeLessThan(1_000)
  })
})

describe("a bearer of any kind", () => {
  it("is no key: one answer for all of them", async () => {
    const bodies = new Set<string>()
    const latin = naughtyStrings.filter((text) => /^[\x20-\x7e\xa0-\xff]*$/.test(text) && text.length < 2_000)
    for (const text of ["", ...latin]) {
      for (const authorization of [
        `Bearer ${text}`,
        `bearer  ${text}`,
        `Basic ${text}`,
        text,
        `Bearer ${callerKey}${text.trim() || "x"}`
      ]) {
        const response = await fetch(`${harness.gateway.url}${chat}`, {
          method: "POST",
          headers: {
            authorization,
            "content-type": "application/json",
            "x-api-key": callerKey,
            cookie: `key=${callerKey}`
          },
          body: JSON.stringify(small)
        })
        expect(response.status, authorization).toBe(401)
        bodies.add(await response.text())
      }
    }
    expect(bodies.size).toBe(1)
  })
})

describe("a path of any kind", () => {
  it.each([
    "/v1/chat/completions/",
    "/v1//chat/completions",
    "//v1/chat/completions",
    "/v1/./chat/completions%2f",
    "/v1/chat%2fcompletions",
    "/v1/%2e%2e/v1/chat/completions",
    "/V1/chat/completions",
    "/v1/chat/completions%00",
    "/v1/chat/completions\\",
    "/v1/models/../../etc/passwd%00",
    "/__proto__",
    "/constructor"
  ])("%s leads nowhere", async (path) => {
    const { status, text } = await raw(path)
    expect(status).toBe(404)
    expect(text).toContain("unknown_path")
  })

  /** fetch would tidy the path up. */
  const raw = async (path: string): Promise<{ readonly status: number; readonly text: string }> => {
    const { request } = await import("node:http")
    return new Promise((resolve, reject) => {
      const asked = request(harness.gateway.url, { path, method: "GET" }, (response) => {
        let text = ""
        response.setEncoding("utf8").on("data", (part: string) => {
          text += part
        })
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
      })
      asked.on("error", reject)
      asked.end()
    })
  }
})
