import { describe, expect, it } from "vitest"
import { makeSnapshot } from "../../../src/catalog/Catalog.ts"
import { models } from "../../../src/provider/simulated/Models.ts"
import { chosen } from "../../routing/quality/choices.ts"

const snapshot = makeSnapshot(models)

const prices = new Map(models.map(({ id, prices }) => [id, prices?.output ?? 0]))

/** At the alpha of a project that has not chosen one. */
const priceFor = (text: string): number => prices.get(chosen(snapshot, text, null)) ?? 0
const best = prices.get("sim/best") ?? 0

describe("The simulated models", () => {
  it.each([
    "Say hello.",
    "Hello, how are you?",
    "Write a short poem about the moon.",
    "Translate to Swedish: The library opens at nine.",
    "Extract the names and dates from this text as JSON: Anna met Ben on 3 May 2021 in Rome."
  ])("let `auto` take the cheapest for what is easy: %s", (text) => {
    expect(chosen(snapshot, text, null)).toBe("sim/fast")
  })

  it.each([
    "Write a Rust function that merges overlapping intervals, with tests, and prove that it is linear after sorting.",
    "My Go program deadlocks: two goroutines lock the mutexes a and b in another order. Show the fix as code.",
    "Implement a lock-free queue in C++ and explain the memory orders that it needs."
  ])("let `auto` take the best for code that is hard: %s", (text) => {
    expect(chosen(snapshot, text, null)).toBe("sim/best")
  })

  it.each([
    "Prove that there are infinitely many primes of the form 4k + 3.",
    "Find the integral of x^2 e^x from 0 to 1 and show each step.",
    "How many ways are there to place 8 rooks on a chessboard so that none attacks another?"
  ])("let `auto` take a better one than the cheapest for mathematics: %s", (text) => {
    expect(priceFor(text)).toBeGreaterThan(prices.get("sim/fast") ?? 0)
    expect(priceFor(text)).toBeLessThanOrEqual(best)
  })
})
