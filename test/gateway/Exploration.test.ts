import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import type { ChatRequest } from "../../src/index.ts"
import { ScriptedProvider, testModel } from "../../src/testing/index.ts"
import { booked, scriptedGateway } from "./scriptedGateway.ts"

const { end, finish, text, used } = ScriptedProvider

/** Cut at its cap: so the expected length of the next answer stays what it was, and with it the expected cost. */
const answer = [text("words"), used({ inputTokens: 5, outputTokens: 3 }), finish("length"), end]

const calls = 40
const models = [testModel("one/m", { quality: 0.75 }), testModel("two/other", { quality: 0.7 })]

/** Where each of the calls went, with what the call log says of chance. */
const explored = (
  explorationShare: number | undefined,
  more: { readonly asked?: Partial<ChatRequest>; readonly seed?: number; readonly enableFallback?: boolean } = {}
) => {
  const { asked, enableFallback = true, seed = 1 } = more
  const { complete, run } = scriptedGateway({
    scripts: { one: [answer], two: [answer] },
    models,
    seed,
    policy: { defaultAlpha: 0.5, enableFallback, ...(explorationShare !== undefined && { explorationShare }) }
  })
  return run(
    Effect.gen(function* () {
      for (let n = 0; n < calls; n++) yield* complete({ user: `${n}`, ...asked })
      return (yield* booked).map(({ settlement }) => {
        const { features, model, reason } = settlement?.record ?? {}
        return { model, reason, propensity: (JSON.parse(features ?? "{}") as { readonly p?: number }).p }
      })
    })
  )
}

describe("What a project leaves to chance", () => {
  it.effect("is nothing by default", () =>
    Effect.gen(function* () {
      const unexplored = { model: "one/m", reason: "quality_cost_tradeoff", propensity: undefined }
      expect(yield* explored(undefined)).toEqual(Array.from({ length: calls }, () => unexplored))
    })
  )

  it.effect("is between the models near the best, is told with its propensity, and is the same for a seed", () =>
    Effect.gen(function* () {
      const log = yield* explored(1)
      expect(new Set(log.map(({ model }) => model))).toEqual(new Set(["one/m", "two/other"]))
      for (const { model, propensity, reason } of log) {
        expect(propensity).toBe(0.5)
        expect(reason).toBe(model === "two/other" ? "exploration" : "quality_cost_tradeoff")
      }
      expect(yield* explored(1)).toEqual(log)
      expect(yield* explored(1, { seed: 2 })).not.toEqual(log)
    })
  )

  it.effect("is not the model of a tool call, and not that of a call without fallback", () =>
    Effect.gen(function* () {
      const toolCall: Partial<ChatRequest> = {
        messages: [
          { role: "user", content: "What is the weather?" },
          { role: "assistant", tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }] },
          { role: "tool", tool_call_id: "1", content: "Sunny." }
        ]
      }
      for (const log of [yield* explored(1, { asked: toolCall }), yield* explored(1, { enableFallback: false })]) {
        expect(log.every(({ model, propensity }) => model === "one/m" && propensity === undefined)).toBe(true)
      }
    })
  )
})
