import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Judge, type Judgement, questionOf, readVerdict } from "../../../src/analysis/evidence/Judge.ts"
import { ModelCalls, type Question } from "../../../src/analysis/evidence/ModelCalls.ts"

const judgement = (seed: string): Judgement => ({
  promptClass: "extraction",
  sample: "a",
  prompt: [
    { role: "system", content: "Extract the city." },
    {
      role: "user",
      content: [
        { type: "text", text: "Ghent" },
        { type: "image_url", image_url: { url: "media:abc" } }
      ]
    }
  ],
  earlier: { role: "assistant", content: "EARLIER" },
  later: { role: "assistant", content: "LATER" },
  seed
})

const textIn = ({ messages }: Question): string => messages.map(({ content }) => String(content)).join("\n")
/** The label that an answer was shown under. */
const labelOf = (question: Question, answer: string): string =>
  new RegExp(`<answer label="(.)">\\n${answer}`).exec(textIn(question))?.[1] ?? "none"

/** A judge whose model answers by this. */
const judging = (says: (question: Question) => string, asked: Array<Question> = []) =>
  Judge.layerOf("sim/judge").pipe(
    Layer.provide(
      Layer.succeed(ModelCalls, {
        ask: (question) => {
          asked.push(question)
          return Effect.succeed({ message: { role: "assistant", content: says(question) }, costMicroUsd: 7 })
        }
      })
    )
  )
const compare = (seed: string, says: (question: Question) => string, asked?: Array<Question>) =>
  Effect.runSync(
    Effect.provide(
      Effect.flatMap(Judge, (judge) => judge.compare(judgement(seed))),
      judging(says, asked)
    )
  )

const seeds = Array.from({ length: 40 }, (_, at) => `pair ${at}`)

describe("the judge", () => {
  it("finds the better answer, under whichever label and in whichever order it is shown", () => {
    for (const seed of seeds) {
      const prefers = (answer: string) => (question: Question) => `Because.\nVERDICT: ${labelOf(question, answer)}`
      expect(compare(seed, prefers("LATER"))).toEqual({ difference: 1, unreadable: 0 })
      expect(compare(seed, prefers("EARLIER"))).toEqual({ difference: -1, unreadable: 0 })
    }
  })

  it("calls a preference for a place or a label a tie", () => {
    for (const seed of seeds) {
      const first = (question: Question) => `VERDICT: ${/<answer label="(.)">/.exec(textIn(question))?.[1]}`
      expect(compare(seed, first).difference).toBe(0)
      const labels = questionOf("sim/judge", judgement(seed), false).labels
      expect(compare(seed, () => `VERDICT: ${labels[1]}`).difference).toBe(0)
    }
  })

  it("counts what cannot be read against the later answer", () => {
    expect(compare("a", () => "I would rather not say.")).toEqual({ difference: -0.5, unreadable: 2 })
    let asked = 0
    expect(compare("a", () => (asked++ === 0 ? "VERDICT: TIE" : ""))).toEqual({ difference: -0.25, unreadable: 1 })
  })

  it("is not told which answer is whose, and draws the order from the seed", () => {
    const firsts = seeds.map((seed) => {
      const { laterIsFirst, question } = questionOf("sim/judge", judgement(seed), false)
      expect(textIn(question).indexOf("LATER") < textIn(question).indexOf("EARLIER")).toBe(laterIsFirst)
      return laterIsFirst
    })
    expect(firsts.filter(Boolean).length).toBeGreaterThan(8)
    expect(firsts.filter(Boolean).length).toBeLessThan(32)
  })

  it("is asked once in each order, with the rubric of the class and without the address of an image", () => {
    const asked: Array<Question> = []
    compare("a", () => "VERDICT: TIE", asked)
    expect(asked).toHaveLength(2)
    expect(textIn(asked[0] as Question)).toContain("every field")
    expect(textIn(asked[0] as Question)).not.toContain("media:abc")
    expect(labelOf(asked[0] as Question, "LATER")).not.toBe(labelOf(asked[1] as Question, "LATER"))
  })

  it("takes the last verdict of an answer", () => {
    const order = { labels: ["K", "T"], laterIsFirst: true } as const
    expect(readVerdict("VERDICT: T would be wrong.\nVERDICT: K", order)).toBe(1)
    expect(readVerdict("verdict k", order)).toBeNull()
    expect(readVerdict("VERDICT: X", order)).toBeNull()
  })
})
