import { describe, expect, it } from "vitest"
import { TurnQuota } from "../../../src/http/overload/TurnQuota.ts"

const usedUp = (quota: TurnQuota): number => {
  let used = 0
  while (!quota.isUsedUp) {
    quota.use()
    used++
  }
  return used
}

describe("calls that may be admitted in one turn of the event loop", () => {
  it("become fewer while turns are too long, and never none", () => {
    const quota = new TurnQuota()
    const before = usedUp(quota)
    quota.turn(20)
    const after = usedUp(quota)
    expect(after).toBeLessThan(before)
    for (let turn = 0; turn < 100; turn++) quota.turn(1_000)
    expect(usedUp(quota)).toBe(1)
  })

  it("become more while turns are short and all of them are used, and not without bound", () => {
    const quota = new TurnQuota()
    for (let turn = 0; turn < 10; turn++) quota.turn(1_000)
    const least = usedUp(quota)
    for (let turn = 0; turn < 30; turn++) {
      quota.turn(1)
      usedUp(quota)
    }
    quota.turn(1)
    const more = usedUp(quota)
    expect(more).toBeGreaterThan(10 * least)
    for (let turn = 0; turn < 200; turn++) {
      quota.turn(1)
      usedUp(quota)
    }
    quota.turn(1)
    expect(usedUp(quota)).toBeLessThanOrEqual(1_024)
  })

  it("stay as they are while nobody uses them up", () => {
    const quota = new TurnQuota()
    const before = quota.left
    for (let turn = 0; turn < 100; turn++) quota.turn(1)
    expect(quota.left).toBe(before)
  })
})
