import * as fc from "fast-check"
import { expect, it } from "vitest"
import { microUsd } from "../../src/domain/Money.ts"
import { ladder } from "../../src/gateway/Admission.ts"
import type { HoldOption } from "../../src/ledger/Ledger.ts"

const amount = fc.integer({ min: 0, max: 20 })
const option = fc
  .tuple(amount, amount)
  .map(([least, more]): HoldOption => ({ least: microUsd(least), full: microUsd(least + more) }))

it("finds the first option that fits as if all had been asked for", () =>
  fc.assert(
    fc.property(fc.array(option, { minLength: 1, maxLength: 30 }), amount, (options, room) => {
      const [first, ...rest] = options
      if (first === undefined) return
      const expected = options.findIndex(({ least }) => least <= room)
      const found = ladder([first, ...rest]).find(({ option }) => option.least <= room)
      expect(found?.place ?? -1).toBe(expected)
    })
  ))

it("asks for few where most need as much", () => {
  const same: HoldOption = { least: microUsd(5), full: microUsd(9) }
  expect(ladder([same, same, same, { least: microUsd(1), full: microUsd(2) }]).map(({ place }) => place)).toEqual([
    0, 3
  ])
})
