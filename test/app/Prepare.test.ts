import { execFileSync } from "node:child_process"
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { root } from "../../scripts/lib/root.mjs"

const temporaryDirectory = () => {
  const directory = mkdtempSync(join(tmpdir(), "prepare-"))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

/** A clone with the builder, whose parts are small programs that write one file each. */
const cloned = () => {
  const clone = temporaryDirectory()
  copyFileSync(join(root, "package.json"), join(clone, "package.json"))
  cpSync(join(root, "scripts/lib"), join(clone, "scripts/lib"), { recursive: true })
  mkdirSync(join(clone, "scripts/build"), { recursive: true })
  copyFileSync(join(root, "scripts/build/prepare.mjs"), join(clone, "scripts/build/prepare.mjs"))
  for (const part of ["service", "template", "dashboard"]) {
    writeFileSync(
      join(clone, `scripts/build/${part}.mjs`),
      `import { writeFileSync } from "node:fs"; writeFileSync("dist/${part}.txt", "")`
    )
  }
  return clone
}

/** As the last step of `npm ci`. */
const prepare = (clone: string) =>
  execFileSync("npm", ["run", "prepare"], { cwd: clone, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })

const built = (clone: string) => readdirSync(join(clone, "dist")).filter((name) => name.endsWith(".txt"))

describe("an installation", () => {
  it("builds what the first start needs, once", () => {
    const clone = cloned()
    mkdirSync(join(clone, "node_modules/esbuild"), { recursive: true })
    expect(prepare(clone)).toContain("the service (")
    expect(built(clone)).toEqual(["dashboard.txt", "service.txt", "template.txt"])
    expect(prepare(clone)).not.toContain("the service (")
  })

  it("succeeds where there are no sources yet, no builder, or sources that cannot be built", () => {
    const alone = temporaryDirectory()
    copyFileSync(join(root, "package.json"), join(alone, "package.json"))
    prepare(alone)

    const withoutBuilder = cloned()
    prepare(withoutBuilder)
    expect(readdirSync(withoutBuilder)).not.toContain("dist")

    const broken = cloned()
    mkdirSync(join(broken, "node_modules/esbuild"), { recursive: true })
    writeFileSync(join(broken, "scripts/build/service.mjs"), "throw new Error('broken')")
    prepare(broken)
    expect(built(broken)).toEqual(["dashboard.txt", "template.txt"])
  })
})
