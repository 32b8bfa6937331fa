import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Entry, FifoQueue } from "../../src/domain/FifoQueue.ts"

describe("a FIFO queue", () => {
  it("holds what a list would hold, whatever is added and removed", () => {
    const steps = fc.array(fc.oneof(fc.record({ add: fc.nat() }), fc.record({ remove: fc.nat() })), { maxLength: 60 })
    fc.assert(
      fc.property(steps, (all) => {
        const queue = new FifoQueue<number>()
        const added: Array<Entry<number>> = []
        const model: Array<Entry<number>> = []
        for (const step of all) {
          if ("add" in step) {
            const entry = queue.add(step.add)
            added.push(entry)
            model.push(entry)
          } else {
            // also entries that have left before
            const entry = added[step.remove % Math.max(1, added.length)]
            if (entry === undefined) continue
            queue.remove(entry)
            const at = model.indexOf(entry)
            if (at >= 0) model.splice(at, 1)
          }
          expect(queue.values()).toEqual(model.map(({ value }) => value))
          expect([queue.first, queue.last, queue.size]).toEqual([model[0], model.at(-1), model.length])
        }
      })
    )
  })

  it("leaves in a removed entry no reference to others, which would keep them in memory", () => {
    const queue = new FifoQueue<object>()
    const entries = [queue.add({}), queue.add({}), queue.add({})]
    for (const entry of entries) queue.remove(entry)
    for (const entry of entries) {
      const others = entries.filter((one) => one !== entry)
      expect(Object.values(entry).filter((field) => others.some((one) => one === field))).toEqual([])
    }
  })
})
