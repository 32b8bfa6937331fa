import { existsSync, readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { settingsGiven } from "../config/Load.ts"

const fileOf = (name: string) => readFileSync(new URL(`../../scripts/deploy/${name}`, import.meta.url), "utf8")

const numberIn = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? Number.NaN)

/** Aborted calls settle, connections close, the ledger and the database write their last. */
const endSeconds = 5 + 1 + 5 + 2

it.effect("what stops the service waits longer than it takes by default", () =>
  Effect.gen(function* () {
    const { drainDelay, drainGrace } = yield* settingsGiven({ env: { HOST: "0.0.0.0" } })
    const grace = Duration.toSeconds(drainGrace) + endSeconds

    const unit = fileOf("model-routing-gateway.service")
    expect(numberIn(unit, /^TimeoutStopSec=(\d+)s$/m)).toBeGreaterThan(Duration.toSeconds(drainDelay) + grace)
    expect(unit).toMatch(/^KillMode=mixed$/m)

    const manifest = fileOf("kubernetes.yaml")
    const delay = numberIn(manifest, /name: DRAIN_DELAY, value: (\d+)s/)
    expect(numberIn(manifest, /terminationGracePeriodSeconds: (\d+)/)).toBeGreaterThan(delay + grace)
    const probe = /readinessProbe: .*periodSeconds: (\d+), failureThreshold: (\d+)/.exec(manifest)
    expect(Number(probe?.[1]) * Number(probe?.[2])).toBeLessThan(delay)

    const stopped = numberIn(fileOf("Containerfile"), /podman stop -t (\d+)/)
    expect(stopped).toBeGreaterThan(Duration.toSeconds(drainDelay) + grace)
  })
)

it("the unit starts the service again until it succeeds, unless its configuration is wrong", () => {
  const unit = fileOf("model-routing-gateway.service")
  for (const line of ["Restart=always", "StartLimitIntervalSec=0", "RestartPreventExitStatus=78"]) {
    expect(unit.split("\n")).toContain(line)
  }
})

const root = new URL("../../", import.meta.url)
const installed = "/opt/model-routing-gateway/"
/** What a build makes; everything else is in the repository. */
const built = ["dist", "dist/main.js"]
const exists = (path: string): boolean => built.includes(path) || existsSync(new URL(path, root))

describe("every path of the examples exists", () => {
  const containerfile = fileOf("Containerfile")
  const [ofBuild = "", ofImage = ""] = containerfile.split(/^FROM .*$/m).slice(1)
  const copies = (stage: string, from: RegExp) =>
    [...stage.matchAll(/^COPY (.*)$/gm)]
      .map(([, words = ""]) => words.split(" "))
      .filter((words) => from.test(words[0] ?? ""))

  it("in the context of the build, with everything that it reads", () => {
    const sources = copies(ofBuild, /^[^-]/).flatMap((words) => words.slice(0, -1))
    expect(sources.filter((path) => !exists(path))).toEqual([])
    const scripts = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
      readonly scripts: { readonly build: string }
    }
    const [, entry = ""] = scripts.scripts.build.split(" ")
    expect(ofBuild).toContain("npm run build")
    const needed = [entry, "scripts/lib/built.mjs", "tsconfig.json", "tsconfig.library.json", "src/main.ts", ".npmrc"]
    expect(
      needed.filter((path) => !sources.some((source) => path === source || path.startsWith(`${source}/`)))
    ).toEqual([])
  })

  it("in the image, and what it starts is among them", () => {
    const placed = copies(ofImage, /^--from=build$/).map(([, source = "", target = ""]) => [
      source.replace("/build/", ""),
      target.replace(installed, "")
    ])
    for (const [source = "", target] of placed) expect([target, exists(source)]).toEqual([source, true])
    const started = /^CMD \["node", .*"([^"]*)"\]$/m.exec(ofImage)?.[1]?.replace(installed, "")
    expect(started).toBe("dist/main.js")
    expect(placed.map(([, target]) => target)).toEqual(["dist", "package.json"])
  })

  it("where the unit looks for it, as the page on deployment says", () => {
    const unit = fileOf("model-routing-gateway.service")
    const paths = [...unit.matchAll(/\/opt\/model-routing-gateway\/([\w./-]+)/g)].map(([, path = ""]) => path)
    expect(paths).toEqual(["README.md", "dist/main.js"])
    const page = fileOf("README.md")
    for (const path of ["dist/", "package.json", ...paths.filter((one) => !one.startsWith("dist/"))]) {
      expect(page).toContain(`\`${path}\``)
      expect(exists(path.replace(/\/$/, ""))).toBe(true)
    }
    expect(unit).toMatch(/^EnvironmentFile=\/etc\/model-routing-gateway\/environment$/m)
    expect(page).toContain("`/etc/model-routing-gateway/environment`")
  })
})
