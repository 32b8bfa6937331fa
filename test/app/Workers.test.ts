import { describe, expect, it } from "vitest"
import { restartDelayMillis } from "../../src/app/Workers.ts"

describe("the delay before a worker is replaced", () => {
  it("is a second where it had listened, and is doubled up to half a minute where it never does", () => {
    expect([0, 1, 2, 3, 4, 5, 6, 7, 1_000].map(restartDelayMillis)).toEqual([
      1_000, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000
    ])
  })
})
