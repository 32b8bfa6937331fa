import { readFileSync } from "node:fs"
import { expect, it } from "@effect/vitest"
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
    expect(unit).toMatch(/^RestartPreventExitStatus=78$/m)

    const manifest = fileOf("kubernetes.yaml")
    const delay = numberIn(manifest, /name: DRAIN_DELAY, value: (\d+)s/)
    expect(numberIn(manifest, /terminationGracePeriodSeconds: (\d+)/)).toBeGreaterThan(delay + grace)
    const probe = /readinessProbe: .*periodSeconds: (\d+), failureThreshold: (\d+)/.exec(manifest)
    expect(Number(probe?.[1]) * Number(probe?.[2])).toBeLessThan(delay)

    const stopped = numberIn(fileOf("Containerfile"), /podman stop -t (\d+)/)
    expect(stopped).toBeGreaterThan(Duration.toSeconds(drainDelay) + grace)
  })
)
