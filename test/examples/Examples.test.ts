import { readFileSync } from "node:fs"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as embedding from "./embedding.ts"
import * as testing from "./testing.ts"

it.live("the embedding example answers", () =>
  Effect.gen(function* () {
    expect((yield* embedding.program).length).toBeGreaterThan(0)
  })
)

it.live("the testing example falls back in virtual time and charges once", () =>
  Effect.gen(function* () {
    const { charges, flakyCalls, text } = yield* testing.program
    expect(text).toBe("All is well.")
    expect(charges).toBe(1)
    expect(flakyCalls).toBe(1)
  })
)

it("the README shows the examples as they are", () => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8")
  for (const example of ["embedding", "testClock.test"]) {
    expect(readme).toContain(readFileSync(new URL(`./${example}.ts`, import.meta.url), "utf8").trim())
  }
})
