import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { dist } from "../../scripts/lib/built.mjs"

const scripts = readdirSync(dist)
  .filter((name) => name.endsWith(".js"))
  .map((name) => join(dist, name))

describe("the scripts of the built service", () => {
  it("are in ASCII, which V8 keeps in one byte a character", () => {
    expect(scripts).toContain(join(dist, "main.js"))
    expect(scripts.some((file) => file.includes("chunk-Service-"))).toBe(true)
    // not its text: a failure would print megabytes
    expect(scripts.filter((file) => readFileSync(file).some((byte) => byte > 0x7f))).toEqual([])
  })
})
