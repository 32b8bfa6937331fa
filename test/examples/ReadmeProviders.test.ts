import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { vendorOf } from "../../src/provider/vendors/Vendors.ts"
import { catalogue } from "../faults/Catalogue.ts"

const root = new URL("../../", import.meta.url)
const textOf = (path: string): string => readFileSync(new URL(path, root), "utf8")
const readme = textOf("README.md")

it("the vendors' README says what each protocol takes as the code has it", () => {
  const script = fileURLToPath(new URL("scripts/docs/parameters.mjs", root))
  expect(execFileSync(process.execPath, [script, "--check"], { encoding: "utf8" })).toBe("")
})

it("the README sums up what the vendors' README says", () => {
  const [sums = ""] =
    /\d+ vendors speak \d+ protocols, with \d+ parameters/.exec(textOf("src/provider/vendors/README.md")) ?? []
  expect(sums).not.toBe("")
  expect(readme.replaceAll("\n", " ")).toContain(sums)
})

it("the table of provider faults has every fault of the catalogue and is summed up in the README", () => {
  const table = textOf("test/faults/README.md")
  const rows = [...table.matchAll(/^\| (\d+) \| ([^|]+) \|/gm)].map(([, number, name]) => `${number} ${name}`)
  const faults = catalogue.map(({ name, number }) => `${number} ${name}`)
  expect(new Set(rows)).toEqual(new Set([...faults, "5 reset of a connection that was used before"]))
  const [sum = ""] = /\d+ of \d+ pass/.exec(table) ?? []
  expect(sum).not.toBe("")
  expect(readme).toContain(sum)
})

it("the vendor that the providers' README shows is built in, word for word, in twenty lines and one of registration", () => {
  const section = /## Adding a vendor\n([\s\S]*?)\n## /.exec(textOf("src/provider/README.md"))?.[1] ?? ""
  const [, path = "", shown = ""] = /```ts\n\/\/ (src\/provider\/vendors\/\w+\.ts)\n([\s\S]*?)```/.exec(section) ?? []
  expect(shown).toBe(readFileSync(new URL(path, root), "utf8"))
  expect(shown.trimEnd().split("\n").length).toBeLessThanOrEqual(20)
  const [, registration = ""] = /```ts\n( {2}\w+,?)\n```/.exec(section) ?? []
  const id = registration.trim().replace(",", "")
  expect(vendorOf(id)?.id).toBe(id)
  const list = readFileSync(new URL("src/provider/vendors/Vendors.ts", root), "utf8")
  expect(list).toContain(`\n${registration}\n`)
})

it("no vendor that is one value takes more than twenty lines", () => {
  const folder = new URL("src/provider/vendors/", root)
  const long = readdirSync(folder).filter((file) => {
    const source = readFileSync(new URL(file, folder), "utf8")
    return (
      /^export const \w+ = (?:openAiCompatible|speaking\w+)\(/m.test(source) && source.trimEnd().split("\n").length > 20
    )
  })
  expect(long).toEqual([])
})
