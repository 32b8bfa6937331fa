import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import { ScriptedProvider, testModel } from "../../src/testing/index.ts"
import { scriptedGateway } from "./scriptedGateway.ts"

const { end, finish, text, used } = ScriptedProvider
type Script = ScriptedProvider.Script

const writing = (outputTokens: number, reason: "stop" | "length" = "stop"): Script => [
  text("words"),
  used({ inputTokens: 20, outputTokens }),
  finish(reason),
  end
]

const models = [
  testModel("one/cheap", {
    prices: { input: 1_000_000, output: 4_000_000, cacheRead: null, cacheWrite: null, tiers: [] }
  }),
  testModel("two/dear", {
    prices: { input: 1_000_000, output: 5_000_000, cacheRead: null, cacheWrite: null, tiers: [] }
  })
]

/** The models of calls that ask for the cheapest, one after the other. */
const chosen = (script: Script, count: number) => {
  const { complete, run } = scriptedGateway({
    scripts: { one: [script], two: [writing(100)] },
    models,
    policy: { defaultAlpha: 0 }
  })
  return run(
    Effect.forEach(Array.from({ length: count }), () =>
      Effect.map(complete({ model: "auto" }), ({ completion }) => completion?.metadata.model)
    )
  )
}

describe("The expected cost of a call", () => {
  it.effect("follows how long the answers of a model are: one that writes more is soon not the cheapest any more", () =>
    Effect.gen(function* () {
      const ids = yield* chosen(writing(3_000), 6)
      expect(ids[0]).toBe("one/cheap")
      expect(ids.at(-1)).toBe("two/dear")
    })
  )

  it.effect("stays where answers are as long as expected, or were cut before that", () =>
    Effect.gen(function* () {
      for (const script of [writing(200), writing(5, "length")]) {
        expect(new Set(yield* chosen(script, 6))).toEqual(new Set(["one/cheap"]))
      }
    })
  )
})
