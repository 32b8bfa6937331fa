import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { loadOptions } from "../../src/app/LoadOptions.ts"
import { readEnvironment } from "../../src/config/Environment.ts"

const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

/** From this heading to the next of its level. */
const sectionOf = (text: string, heading: string): string => {
  const start = text.indexOf(`\n## ${heading}\n`)
  if (start < 0) throw new Error(`no section ${heading}`)
  const end = text.indexOf("\n## ", start + 4)
  return text.slice(start, end < 0 ? text.length : end)
}

/** Where the variables are documented. */
const documentation = [
  sectionOf(textOf("README.md"), "Configuration"),
  sectionOf(textOf("src/identity/README.md"), "Settings"),
  sectionOf(textOf("src/app/README.md"), "OpenTelemetry")
].join("\n")
const documented = new Set(
  [...documentation.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)`/g)].map(([, name = ""]) => name)
)

/** Read by the exporter of OpenTelemetry itself. */
const readElsewhere = ["OTEL_RESOURCE_ATTRIBUTES"]
/** What is no variable. */
const others = ["SIGHUP", "SIGTERM", "SIGINT", "SIGQUIT"]

describe("the variables of the environment", () => {
  it.effect("are all documented, but for the vendors' own names of their keys", () =>
    Effect.gen(function* () {
      const { names } = yield* readEnvironment(loadOptions)
      const ofVendors = new Set(loadOptions.vendors.flatMap(({ env }) => env))
      const own = names.filter((name) => !ofVendors.has(name))
      expect(own.length).toBeGreaterThan(25)
      expect(own.filter((name) => !documented.has(name.toUpperCase()))).toEqual([])
    })
  )

  it.effect("that are documented exist", () =>
    Effect.gen(function* () {
      const { names } = yield* readEnvironment(loadOptions)
      const known = new Set([...names, ...readElsewhere, ...others])
      expect([...documented].filter((name) => !known.has(name))).toEqual([])
    })
  )
})
