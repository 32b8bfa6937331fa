import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { plants } from "../../scripts/simulation/plants.mjs"
import { simulate } from "./Simulation.ts"

const timeout = 120_000

describe("several nodes, with faults between them and their database", { timeout }, () => {
  it.each([1, 2, 3, 4])("seed %d keeps every invariant", async (seed) => {
    const report = await simulate({ seed, calls: 600 })
    expect(report.violations).toEqual([])
    // the store of some seeds is away for most of the calls
    expect(report.outcomes["Complete"]).toBeGreaterThan(100)
    expect(report.chargedMicroUsd).toBeGreaterThan(0)
  })

  it("a seed gives the same run every time", async () => {
    expect(await simulate({ seed: 7, calls: 300 })).toEqual(await simulate({ seed: 7, calls: 300 }))
  })
})

it.each(plants)("the bug to plant fits the code: $name", ({ file, find }) => {
  expect(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8").split(find)).toHaveLength(2)
})
