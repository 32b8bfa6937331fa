import * as fc from "fast-check"
import { expect, it } from "vitest"
import { rowsOf } from "../../../src/dashboard/pages/chat/artifacts/csv.ts"

const cell = fc.string({ unit: fc.constantFrom("a", "é", ",", '"', "\n", "\r\n", " ", "👋"), maxLength: 6 })
const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

it("comma-separated values are read as they were written, with either end of a line", () => {
  const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(rows, fc.constantFrom("\n", "\r\n"), fc.boolean(), (table, end, endsLast) => {
      const text = table.map((row) => row.map(quoted).join(",")).join(end) + (endsLast ? end : "")
      expect(rowsOf(text)).toEqual(table)
    })
  )
})

it("comma-separated values are cut where nobody reads on", () => {
  expect(rowsOf("a,b\n".repeat(5_000))).toHaveLength(1_000)
})
