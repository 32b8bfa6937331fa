import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { vendorOf } from "../../src/provider/vendors/Vendors.ts"

const root = new URL("../../", import.meta.url)
const readme = readFileSync(new URL("README.md", root), "utf8")

it("the README says what each protocol takes as the code has it", () => {
  const script = fileURLToPath(new URL("scripts/support-table.mjs", root))
  expect(execFileSync(process.execPath, [script, "--check"], { encoding: "utf8" })).toBe("")
})

it("the vendor that the README shows is one of ours, word for word, in twenty lines and one of registration", () => {
  const section = /## Adding a vendor\n([\s\S]*?)\n## /.exec(readme)?.[1] ?? ""
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
