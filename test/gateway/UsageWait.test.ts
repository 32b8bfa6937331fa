import { describe, expect, it } from "vitest"
import type { TimersShape } from "../../src/domain/Timers.ts"
import { UsageWait } from "../../src/gateway/UsageWait.ts"
import { VirtualTimers } from "../../src/testing/index.ts"

const waiting = () => {
  const virtual = VirtualTimers.make()
  const set: Array<number> = []
  const timers: TimersShape = {
    now: virtual.now,
    after: (millis, run) => {
      set.push(millis)
      return virtual.after(millis, run)
    }
  }
  let ends = 0
  return { ends: () => ends, set, virtual, wait: new UsageWait(timers, () => ends++) }
}

describe("The wait for usage", () => {
  it("sets no timer where the response ends in the turn of its finish", async () => {
    const { ends, set, virtual, wait } = waiting()
    wait.finished()
    wait.reported()
    wait.stop()
    await Promise.resolve()
    expect(set).toEqual([])
    virtual.advance(5_000)
    expect(ends()).toBe(0)
  })

  it("sets one where usage comes in the turn of the finish, and one for each report after it", async () => {
    const { ends, set, virtual, wait } = waiting()
    wait.finished()
    wait.reported()
    await Promise.resolve()
    expect(set).toEqual([25])
    virtual.advance(20)
    wait.reported()
    await Promise.resolve()
    expect([set, virtual.pending()]).toEqual([[25, 25], 1])
    virtual.advance(24)
    expect(ends()).toBe(0)
    virtual.advance(1)
    expect(ends()).toBe(1)
  })
})
