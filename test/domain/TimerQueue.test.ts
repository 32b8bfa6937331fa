import * as fc from "fast-check"
import { expect, it } from "vitest"
import { TimerQueue } from "../../src/domain/TimerQueue.ts"

const step = fc.oneof(
  fc.record({ add: fc.integer({ min: 0, max: 9 }) }),
  fc.record({ remove: fc.nat() }),
  fc.constant("first" as const)
)

it("timers come in the order of their times and then of their creation, whichever are removed", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const queue = new TimerQueue()
      const made: Array<{ readonly atMillis: number; readonly run: () => void; readonly remove: () => void }> = []
      const left = new Set<(typeof made)[number]>()
      const expected = () => [...left].sort((a, b) => a.atMillis - b.atMillis || made.indexOf(a) - made.indexOf(b))
      for (const one of steps) {
        if (one === "first") {
          const [first] = expected()
          queue.removeFirst()
          if (first !== undefined) left.delete(first)
        } else if ("add" in one) {
          const run = () => {}
          const timer = { atMillis: one.add, run, remove: queue.add(one.add, run) }
          made.push(timer)
          left.add(timer)
        } else {
          // also those that are removed already
          const timer = made[one.remove % Math.max(1, made.length)]
          timer?.remove()
          if (timer !== undefined) left.delete(timer)
        }
        expect(queue.size).toBe(left.size)
        expect(queue.first?.run).toBe(expected()[0]?.run)
      }
      const order: Array<() => void> = []
      const rest = expected().map(({ run }) => run)
      for (let first = queue.first; first !== undefined; first = queue.first) {
        order.push(first.run)
        queue.removeFirst()
      }
      expect(order).toEqual(rest)
    })
  )
})
