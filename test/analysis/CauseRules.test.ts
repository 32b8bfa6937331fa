import { describe, expect, it } from "vitest"
import { type CauseInput, turnsOf } from "../../src/analysis/Cause.ts"
import { cacheLost } from "../../src/analysis/causes/CacheLost.ts"
import { duplicate } from "../../src/analysis/causes/Duplicate.ts"
import { prefixVolatile } from "../../src/analysis/causes/PrefixVolatile.ts"
import { routeSwitch } from "../../src/analysis/causes/RouteSwitch.ts"
import { schemaReask } from "../../src/analysis/causes/SchemaReask.ts"
import { truncatedRetry } from "../../src/analysis/causes/TruncatedRetry.ts"
import { ttlGap } from "../../src/analysis/causes/TtlGap.ts"
import { writeNeverRead } from "../../src/analysis/causes/WriteNeverRead.ts"
import { diagnose } from "../../src/analysis/Diagnose.ts"
import { Rebill } from "../../src/analysis/Rebill.ts"
import type { WorkBlock, WorkCall } from "../../src/analysis/Workload.ts"
import type { PromptCache } from "../../src/domain/Model.ts"

const marked: PromptCache = {
  mode: "explicit",
  minTokens: 1_024,
  stepTokens: 1,
  ttlSeconds: 300,
  longTtl: { seconds: 3_600, writeFactor: 2 },
  guaranteed: true
}
const automatic: PromptCache = { ...marked, mode: "auto", longTtl: null }
const minute = 60_000

const block = (key: number, tokens: number, mark: WorkBlock["mark"] = null): WorkBlock => ({
  key,
  canonical: key,
  text: key,
  kind: key === 1 ? "system" : "user",
  tool: null,
  tokens,
  mark,
  facts: null
})

/** Charged as the usage says, at 1 micro-USD for a token of input, 1.25 for a written and .1 for a read one. */
const callOf = (
  parts: Partial<WorkCall> & { readonly read?: number; readonly written?: number; readonly prompt?: number }
): WorkCall => {
  const { prompt = 2_000, read = 0, written = 0, ...fields } = parts
  const uncached = prompt - read - written
  return {
    id: "",
    conversation: 0,
    at: 0,
    isInRange: true,
    route: "a",
    pinned: false,
    failedAttempts: 0,
    failedMillis: 0,
    status: "success",
    finish: "stop",
    blocks: [block(1, prompt)],
    request: 0,
    response: null,
    usage: {
      inputTokens: uncached,
      cacheReadTokens: read,
      cacheWriteTokens: written,
      outputTokens: 0,
      reasoningTokens: 0,
      details: { inputAudioTokens: 0, outputAudioTokens: 0, acceptedPredictionTokens: 0, rejectedPredictionTokens: 0 }
    },
    chargedMicroUsd: Math.ceil(uncached + 1.25 * written + 0.1 * read),
    isEstimated: false,
    prices: { input: 1_000_000, output: 1_000_000, cacheRead: 100_000, cacheWrite: 1_250_000 },
    cache: marked,
    temperature: null,
    maxOutputTokens: null,
    latencyMillis: 0,
    class: null,
    wantsJson: false,
    toolsOffered: [],
    toolsCalled: [],
    images: [],
    ...fields
  }
}

describe("a bill with edits", () => {
  it("reads what another route has written where the same text is left, whatever its tokens are there", () => {
    const blocks = [block(1, 3_000), block(2, 1_000, "5m")]
    const calls = ["a", "b"].map((route, at) =>
      callOf({ at: at * minute, route, prompt: 4_000, written: 4_000, blocks })
    )
    const { workload } = inputOf(calls)
    const edited = (tokens: number) => ({ cacheRoute: "a", resize: new Map([[0, { tokens, form: "minified" }]]) })
    const bill = new Rebill(workload).bill(new Map([2_000, 2_200].map((tokens, at) => [at, edited(tokens)])))
    expect(bill.readTokens[1]).toBe(3_200)
  })

  const atMinutes = (reads: ReadonlyArray<readonly [at: number, read: number]>) =>
    new Rebill(
      inputOf(reads.map(([at, read]) => callOf({ at: at * minute, cache: automatic, read, prompt: 2_000 }))).workload
    )

  it("still reads after a pause for which the provider has been seen to keep prefixes", () => {
    const rebill = atMinutes([
      [0, 0],
      [7, 2_000],
      [10, 2_000],
      [14, 2_000]
    ])
    expect(rebill.bill(new Map([[2, { drop: true }]])).readTokens[3]).toBe(2_000)
  })

  it("reads nothing after a pause for which it does not", () => {
    const rebill = atMinutes([
      [0, 0],
      [7, 0],
      [10, 2_000],
      [14, 2_000]
    ])
    expect(rebill.bill(new Map([[2, { drop: true }]])).readTokens[3]).toBe(0)
  })
})

const inputOf = (calls: ReadonlyArray<WorkCall>): CauseInput => {
  const conversations = [...new Set(calls.map(({ conversation }) => conversation))].map((id) => ({
    id: String(id),
    inclusion: 1
  }))
  const workload = { calls, conversations }
  return { workload, rebill: new Rebill(workload), turns: turnsOf(workload) }
}

/** Conversations that go over these routes; `!` where the route before has failed. */
const routed = (times: number, routes: string) =>
  inputOf(
    Array.from({ length: times }, (_, conversation) =>
      routes
        .split(" ")
        .map((step, at) =>
          callOf({ conversation, at: at * minute, route: step[0] ?? "", failedAttempts: step.endsWith("!") ? 1 : 0 })
        )
    ).flat()
  )

describe("route_switch", () => {
  it("is neither where a route has failed, nor where the conversation comes back or stays", () => {
    expect(routeSwitch.find(routed(5, "a a b! a a"))).toBeUndefined()
    expect(routeSwitch.find(routed(5, "a a b! b b"))).toBeUndefined()
    expect(routeSwitch.find(routed(5, "a b! a b! b"))).toBeUndefined()
  })
  it("is where the route changes without need, before and after a failure", () => {
    expect(routeSwitch.find(routed(5, "a b a"))?.calls.size).toBe(10)
    expect(routeSwitch.find(routed(5, "a b! a b a"))?.calls.size).toBe(10)
    expect(routeSwitch.find(routed(5, "a b! b a"))?.calls.size).toBe(5)
  })
})

describe("calls whose usage the gateway has counted, since the provider reported none", () => {
  /** Each a minute after the one before; every second one was cancelled, and nothing says what it has read. */
  const input = inputOf(
    Array.from({ length: 40 }, (_, at) => {
      const isEstimated = at % 2 === 0
      return callOf({ at: at * minute, request: at, cache: automatic, isEstimated, read: isEstimated ? 0 : 2_000 })
    })
  )
  it("have lost nothing of the cache", () => {
    expect(input.rebill.lost.size).toBe(0)
    expect(cacheLost.find(input)).toBeUndefined()
  })
  it("are billed as they were charged, without a cache, and the calls after them read what they wrote", () => {
    expect(input.rebill.modelErrors).toMatchObject([{ share: 0, readsExplained: 1 }])
    expect([...input.rebill.base.microUsd].slice(0, 4)).toEqual([2_000, 200, 2_000, 200])
  })
})

describe("write_never_read", () => {
  const traffic = (reads: number, failedAttempts = 0) =>
    inputOf(
      Array.from({ length: 20 }, (_, at) =>
        callOf({
          conversation: at,
          at: at * 10 * minute,
          failedAttempts,
          blocks: [block(at + 1, 2_000, "5m")],
          ...(at < reads ? { read: 1_900 } : { written: 1_900 })
        })
      )
    )
  it("is where reads earn less than writes cost, though there are some", () => {
    expect(writeNeverRead.find(traffic(0))?.calls.size).toBe(20)
    expect(writeNeverRead.find(traffic(4))?.calls.size).toBe(16)
    expect(writeNeverRead.find(traffic(5))).toBeUndefined()
  })
  it("is not where the calls were meant for a route that has failed", () => {
    expect(writeNeverRead.find(traffic(0, 1))).toBeUndefined()
  })
})

describe("prefix_volatile", () => {
  /** One call of each conversation, a second apart; the instructions have a time in them, or none. */
  const single = (key: (at: number) => number, canonical: (at: number) => number = () => 1) =>
    inputOf(
      Array.from({ length: 30 }, (_, at) =>
        callOf({
          conversation: at,
          at: at * 1_000,
          request: at,
          cache: automatic,
          blocks: [{ ...block(1, 1_900), key: key(at), canonical: canonical(at) }, block(at + 1_000, 100)]
        })
      )
    )
  it("is where conversations of one call each have other instructions for a time or an id", () => {
    const finding = prefixVolatile.find(single((at) => at + 1))
    expect(finding?.calls.size).toBe(29)
    expect(diagnose(single((at) => at + 1).workload, 1).findings).toMatchObject([{ cause: prefixVolatile }])
  })
  it("is not where the instructions are the same, change once, or differ in their text", () => {
    expect(prefixVolatile.find(single(() => 1))).toBeUndefined()
    expect(prefixVolatile.find(single((at) => (at < 15 ? 1 : 2)))).toBeUndefined()
    expect(
      prefixVolatile.find(
        single(
          (at) => at + 1,
          (at) => at + 1
        )
      )
    ).toBeUndefined()
  })
})

describe("schema_reask", () => {
  const facts = { json: false, minifiedTokens: null, washedTokens: null, paragraphs: [] }
  /** One conversation about JSON: after each answer the user says what is wrong with it. */
  const asked = (...answers: ReadonlyArray<boolean>) =>
    inputOf(
      answers.map((json, at) =>
        callOf({
          at: at * minute,
          wantsJson: true,
          response: { text: at, json },
          blocks: Array.from({ length: 2 * at + 1 }, (_, position) => ({
            ...block(position + 1, 100),
            kind: position % 2 === 0 ? ("user" as const) : ("assistant" as const),
            facts: { ...facts, rejectsJson: position > 0 && position % 2 === 0 }
          }))
        })
      )
    )
  it("is where an answer is asked for again until it is JSON", () => {
    expect([...(schemaReask.find(asked(false, true))?.calls ?? [])]).toEqual([1])
    expect([...(schemaReask.find(asked(false, false, true))?.calls ?? [])]).toEqual([1, 2])
  })
  it("is not where people talk about JSON, schemas and parsers, and no answer is JSON", () => {
    expect(schemaReask.find(asked(false, false, false, false))).toBeUndefined()
  })
  it("is not the talk after an answer that was JSON", () => {
    expect([...(schemaReask.find(asked(false, true, false, false))?.calls ?? [])]).toEqual([1])
  })
})

it("ttl_gap counts pauses of a route, whatever other routes did meanwhile", () => {
  const calls = Array.from({ length: 70 }, (_, at) =>
    callOf({ at: at * 6 * minute, request: at, route: at % 2 === 0 ? "a" : "b", blocks: [block(1, 2_000, "5m")] })
  )
  expect(ttlGap.find(inputOf(calls))?.calls.size).toBe(68)
})

it("a call that is not made leaves the cache as it found it", () => {
  const cut = { cache: automatic, blocks: [block(1, 1_500), block(2, 500)], request: 7 }
  const input = inputOf([
    // calls before the workload have written the instructions
    callOf({ ...cut, at: 10 * minute, finish: "length", read: 1_500 }),
    callOf({ ...cut, at: 11 * minute, read: 2_000 })
  ])
  const finding = truncatedRetry.find(input)
  expect([...(finding?.calls ?? [])]).toEqual([0])
  // 1,500 tokens are read, 500 are written
  const left = input.rebill.bill(finding?.edits ?? new Map()).microUsd
  expect([...left]).toEqual([0, 775])
})

it("a repeated call saves what it was charged, also where bills of its kind of text are computed too low", () => {
  // a third of the calls of the route are billed for an eighth more tokens than those of the others
  const calls = Array.from({ length: 30 }, (_, at) => {
    const isRepeated = at % 3 === 0
    return callOf({
      cache: null,
      at: at * minute,
      temperature: 0,
      request: isRepeated ? 99 : at,
      prompt: isRepeated ? 2_250 + at : 2_000,
      blocks: [block(isRepeated ? 99 : at + 1, 2_000)]
    })
  })
  const { avoidableMicroUsd, chargedMicroUsd, findings } = diagnose(inputOf(calls).workload, 1)
  // each is charged 3 micro-USD more than the one before
  const repeated = 9 * (2_250 + 15)
  expect(findings).toMatchObject([
    { cause: duplicate, tier: "exact", shareMicroUsd: repeated, aloneMicroUsd: repeated }
  ])
  expect(avoidableMicroUsd).toBe(repeated)
  expect(chargedMicroUsd).toBe(repeated + 2_250 + 20 * 2_000)
})
