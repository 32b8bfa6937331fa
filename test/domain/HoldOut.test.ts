import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { armOf } from "../../src/domain/HoldOut.ts"

const conversations = Array.from({ length: 20_000 }, (_, at) =>
  createHash("sha256").update(`conversation ${at}`).digest("hex").slice(0, 32)
)
const treated = (id: string, share: number) =>
  new Set(conversations.filter((each) => armOf({ id, share }, each) === "treated"))

describe("the arms of an experiment", () => {
  it("are told from the hash of the conversation and from nothing else", () => {
    const hash = "0".repeat(32)
    expect(armOf({ id: "01990000-0000-7000-8000-000000000001", share: 0.5 }, hash)).toBe("treated")
    expect(armOf({ id: "01990000-0000-7000-8000-000000000002", share: 0.5 }, hash)).toBe("held_out")
  })

  it("have the share that was asked for", () => {
    for (const share of [0.1, 0.5, 0.9]) expect(treated("one", share).size / conversations.length).toBeCloseTo(share, 2)
    expect(treated("one", 1).size).toBe(conversations.length)
    expect(treated("one", 0).size).toBe(0)
  })

  it("only grow with the share, and are independent between experiments", () => {
    const small = treated("one", 0.5)
    expect([...small].every((each) => treatedIn("one", 0.9, each))).toBe(true)
    const both = [...small].filter((each) => treatedIn("two", 0.5, each))
    expect(both.length / conversations.length).toBeCloseTo(0.25, 1)
  })
})

const treatedIn = (id: string, share: number, conversation: string) => armOf({ id, share }, conversation) === "treated"
