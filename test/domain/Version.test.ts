import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { version } from "../../src/domain/Version.ts"

it("the version is that of the package", () => {
  const { version: packaged } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string
  }
  expect(version).toBe(packaged)
})
