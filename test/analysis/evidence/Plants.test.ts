import { describe, expect, it } from "@effect/vitest"
import { agree } from "../../../src/analysis/evidence/Agreement.ts"
import { degrade } from "../../../src/analysis/evidence/Plants.ts"
import type { AssistantMessage } from "../../../src/domain/Chat.ts"

const seeds = Array.from({ length: 200 }, (_, at) => `seed ${at}`)
const answers: ReadonlyArray<AssistantMessage> = [
  { role: "assistant", content: "The total is 1250 and the order is open.\n1. Open it\n2. Check the sum\n3. Close it" },
  { role: "assistant", content: '{"city":"Ghent","count":3}' },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "a", type: "function", function: { name: "find", arguments: '{"city":"Ghent","limit":5}' } }]
  }
]

describe("planted degradations", () => {
  it("differ from the answer, and are the same for the same seed", () => {
    for (const answer of answers) {
      for (const seed of seeds) {
        const plant = degrade(answer, seed)
        expect(plant).toBeDefined()
        if (plant === undefined) continue
        expect(agree(plant.message, answer)).toBe(false)
        expect(degrade(answer, seed)).toEqual(plant)
      }
    }
  })

  it("are of every kind that fits", () => {
    const kinds = new Set(answers.flatMap((answer) => seeds.map((seed) => degrade(answer, seed)?.degradation)))
    expect([...kinds].sort()).toEqual([
      "field_dropped",
      "negation",
      "number_changed",
      "step_removed",
      "wrong_tool_argument"
    ])
  })

  it("keep the call of a tool a call with JSON arguments", () => {
    for (const seed of seeds) {
      const [call] = degrade(answers[2] ?? { role: "assistant" }, seed)?.message.tool_calls ?? []
      expect(call?.type).toBe("function")
      if (call?.type === "function") expect(() => JSON.parse(call.function.arguments)).not.toThrow()
    }
  })

  it("are not made where nothing can be made worse", () => {
    expect(degrade({ role: "assistant", content: "yes" }, "seed")).toBeUndefined()
    expect(degrade({ role: "assistant", content: null }, "seed")).toBeUndefined()
  })
})
