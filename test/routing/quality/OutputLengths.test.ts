import * as Either from "effect/Either"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { makeSnapshot } from "../../../src/catalog/Catalog.ts"
import { classIndex, type PromptClass, promptClasses } from "../../../src/domain/PromptClass.ts"
import { intersectPolicies } from "../../../src/policy/EffectivePolicy.ts"
import { tableOf } from "../../../src/routing/ModelTable.ts"
import { make } from "../../../src/routing/quality/OutputLengths.ts"
import { expectedOutputTokens } from "../../../src/routing/quality/QualityTable.ts"
import { rank } from "../../../src/routing/Router.ts"
import { controls, expected, healthy, model, prices, project, request } from "../models.ts"

const only = (name: PromptClass): ReadonlyArray<number> =>
  promptClasses.map((_, at) => (at === classIndex[name] ? 1_000 : 0))
const [code, chat] = [only("code"), only("chat")]
const [terse, wordy] = [model("acme/terse"), model("acme/wordy")]

const answers = (lengths: ReturnType<typeof make>, count: number, tokens: number, classes = code, of = wordy) => {
  for (let n = 0; n < count; n++) lengths.answered({ model: of, classes, tokens, isCut: false })
}

describe("The expected length of an answer", () => {
  it("is what is assumed of the class, for a model that has not answered and where nothing is known of the prompt", () => {
    const lengths = make()
    expect(lengths.expectedFor(code).of(terse)).toBe(expectedOutputTokens(code))
    expect(lengths.expectedFor([]).of(terse)).toBe(expectedOutputTokens([]))
  })

  it("moves with the first answer, comes close to the mean after many, and is that of other models until they answer", () => {
    const lengths = make()
    const assumed = expectedOutputTokens(code)
    answers(lengths, 1, assumed * 3)
    const afterOne = lengths.expectedFor(code).of(wordy)
    expect(afterOne).toBeGreaterThan(assumed * 1.2)
    expect(afterOne).toBeLessThan(assumed * 2)
    answers(lengths, 60, assumed * 3)
    expect(lengths.expectedFor(code).of(wordy) / (assumed * 3)).toBeCloseTo(1, 1)
    // in one service answers to like prompts are of like length: to be untried makes no model look dear
    expect(lengths.expectedFor(code).of(terse) / (assumed * 3)).toBeCloseTo(1, 1)
    answers(lengths, 60, assumed, code, terse)
    expect(lengths.expectedFor(code).of(terse) / assumed).toBeCloseTo(1, 0)
    expect(lengths.expectedFor(code).of(wordy) / (assumed * 3)).toBeCloseTo(1, 1)
  })

  it("tells of other classes of the model too, but less", () => {
    const lengths = make()
    answers(lengths, 40, expectedOutputTokens(code) * 4)
    const factor = lengths.expectedFor(chat).of(wordy) / expectedOutputTokens(chat)
    expect(factor).toBeGreaterThan(1.5)
    expect(factor).toBeLessThan(4)
  })

  it("follows a model that its provider changes", () => {
    const lengths = make()
    answers(lengths, 2_000, 2_000)
    answers(lengths, 600, 200)
    expect(lengths.expectedFor(code).of(wordy)).toBeLessThan(350)
  })

  it("is not lowered by answers that end at a cap, and not carried away by a single long one", () => {
    const lengths = make()
    const assumed = expectedOutputTokens(code)
    for (let n = 0; n < 50; n++) lengths.answered({ model: terse, classes: code, tokens: 16, isCut: true })
    expect(lengths.expectedFor(code).of(terse)).toBeCloseTo(assumed, 6)
    lengths.answered({ model: wordy, classes: code, tokens: 1_000_000, isCut: false })
    expect(lengths.expectedFor(code).of(wordy)).toBeLessThan(assumed * 5)
  })

  it("is the same for a whole pool at once", () => {
    const lengths = make()
    answers(lengths, 3, 4_000, code, wordy)
    answers(lengths, 3, 400, code, model("other/pool"))
    const pool = [terse, wordy]
    const filled = new Float64Array(pool.length)
    for (const classes of [code, []]) {
      lengths.expectedFor(classes).fill(tableOf(pool), filled)
      expect([...filled]).toEqual(pool.map(lengths.expectedFor(classes).of))
    }
  })

  it("says nothing of calls that named their model", () => {
    const lengths = make()
    lengths.answered({ model: wordy, classes: [], tokens: 9_000, isCut: false })
    expect(lengths.expectedFor(code).of(wordy)).toBe(expectedOutputTokens(code))
  })

  it("forgets the model that is silent for longest, however many there are", () => {
    const lengths = make()
    answers(lengths, 40, 4_000, code, model("acme/first"))
    for (let n = 0; n < 2_000; n++) answers(lengths, 1, 4_000, code, model(`acme/${n}`))
    for (let n = 0; n < 300; n++) answers(lengths, 1, 200, code, model("acme/1999"))
    expect(lengths.expectedFor(code).of(model("acme/first"))).toBe(lengths.expectedFor(code).of(model("acme/unseen")))
    expect(lengths.expectedFor(code).of(model("acme/1999"))).toBeLessThan(
      lengths.expectedFor(code).of(model("acme/1998"))
    )
  })

  it("is positive and finite for any answers, and the expected cost of the first candidate never falls as alpha rises", () => {
    const answer = fc.record({
      at: fc.integer({ min: 0, max: 3 }),
      name: fc.constantFrom(...promptClasses),
      tokens: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 200_000 })),
      isCut: fc.boolean()
    })
    const alpha = fc.double({ min: 0, max: 1, noNaN: true })
    const models = [0.3, 0.5, 0.7, 0.9].map((quality, at) =>
      model(`acme/${at}`, { quality, prices: prices(10 ** at * 1_000, 10 ** at * 4_000) })
    )
    fc.assert(
      fc.property(fc.array(answer, { maxLength: 40 }), alpha, alpha, (given, one, other) => {
        const lengths = make()
        for (const { at, isCut, name, tokens } of given) {
          lengths.answered({ model: models[at] ?? wordy, classes: only(name), tokens, isCut })
        }
        const costAt = (weight: number): number => {
          const routing = controls({ alpha: weight })
          const asked = request({ model: "auto", routing })
          const ranked = rank({
            snapshot: makeSnapshot(models),
            policy: intersectPolicies(project(), null, routing),
            request: asked,
            ...expected(asked, 500),
            outputTokens: lengths.expectedFor(code),
            health: () => healthy,
            nowMillis: 0,
            billingMode: "managed"
          })
          return Either.getOrThrow(ranked).candidates.first.expectedCost
        }
        for (const one of models) {
          const tokens = lengths.expectedFor(code).of(one)
          expect(tokens).toBeGreaterThan(0)
          expect(Number.isFinite(tokens)).toBe(true)
        }
        expect(costAt(Math.min(one, other))).toBeLessThanOrEqual(costAt(Math.max(one, other)))
      })
    )
  })
})
