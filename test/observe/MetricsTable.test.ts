import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import "../../src/observe/CaptureMetrics.ts"
import "../../src/observe/LedgerMetrics.ts"
import "../../src/observe/Metrics.ts"
import "../../src/observe/ProcessMetrics.ts"
import { families } from "../../src/observe/Family.ts"

const page = readFileSync(new URL("../../src/app/README.md", import.meta.url), "utf8")

it("the operations page has a row for every metric, with its kind and labels, and for no other", () => {
  const rows = [...page.matchAll(/^\| `((?:gateway|process|nodejs)_\w+)` \| (\w+) \| ([^|]*) \|/gm)].map(
    ([, name, kind, labels = ""]) => [name, kind, [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label)]
  )
  const declared = [...families.values()].map(({ kind, labels, name }) => [name, kind, [...labels]])
  const byName = (one: ReadonlyArray<unknown>, other: ReadonlyArray<unknown>) =>
    String(one[0]) < String(other[0]) ? -1 : 1
  expect(rows.sort(byName)).toEqual(declared.sort(byName))
})
