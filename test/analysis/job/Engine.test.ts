import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import * as Effect from "effect/Effect"
import { build } from "esbuild"
import { afterAll, beforeAll, expect, it } from "vitest"
import { AnalysisEngine } from "../../../src/analysis/job/AnalysisEngine.ts"
import type { CapturedCall } from "../../../src/domain/CapturedCall.ts"
import { cacheOfSimulated, generate } from "../planted/Application.ts"
import { simulatedRoutes } from "../planted/Provider.ts"

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(resolve("node_modules"), ".analysis-"))
  await build({
    entryPoints: [resolve("src/analysis/job/analysisWorker.ts")],
    outfile: join(folder, "analysisWorker.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "error"
  })
})
afterAll(() => rm(folder, { recursive: true }))

const caches = Object.fromEntries(
  simulatedRoutes.flatMap(({ id }) => {
    const cache = cacheOfSimulated(id)
    return cache === null ? [] : [[id, cache]]
  })
)
const app = { seed: 4, shape: "extraction" as const, plants: new Set(["duplicate"]), traps: new Set<string>() }
const input = {
  fromMillis: 1_700_000_000_000,
  toMillis: 1_700_000_000_000 + 86_400_000,
  configVersions: [1],
  source: "captured" as const,
  traffic: { calls: 100, spentMicroUsd: 5_000_000, optedIn: { calls: 100, spentMicroUsd: 5_000_000 } },
  seed: 9
}

const report = Effect.scoped(
  Effect.gen(function* () {
    const run = yield* (yield* AnalysisEngine).open(caches)
    for (const { calls, id } of generate(app)) yield* run.add({ conversation: id, inclusion: 1 }, calls)
    return yield* run.report(input)
  })
)
const inThread = () => AnalysisEngine.layerThread(pathToFileURL(join(folder, "analysisWorker.mjs")))

it("gives the same report in a thread as beside it, each time", async () => {
  const inline = await Effect.runPromise(Effect.provide(report, AnalysisEngine.layerInline))
  expect(await Effect.runPromise(Effect.provide(report, inThread()))).toEqual(inline)
  expect(inline.isSufficient).toBe(true)
  const { causes, headline } = inline.report
  expect(causes.map(({ id }) => id)).toContain("duplicate")
  expect(causes.reduce((sum, { share_microusd }) => sum + share_microusd, 0)).toBe(headline.observed.avoidable_microusd)
  expect(headline.observed.avoidable_microusd).toBeLessThanOrEqual(headline.observed.spent_microusd)
})

it("says why the thread has failed, and never what it read", async () => {
  const failing = Effect.scoped(
    Effect.gen(function* () {
      const run = yield* (yield* AnalysisEngine).open(caches)
      // not a call
      return yield* run.add({ conversation: "c", inclusion: 1 }, [{ text: "canary" } as unknown as CapturedCall])
    })
  )
  const failed = await Effect.runPromise(Effect.provide(Effect.flip(failing), inThread()))
  expect(failed._tag).toBe("EngineFailed")
  expect(failed.reason).not.toContain("canary")
})

it("fails what is asked after its thread has ended by itself, and the process goes on", async () => {
  const script = join(folder, "ending.mjs")
  // at a message of its own: an error is not told after the answers before it
  const thread = `import { parentPort } from "node:worker_threads"
    new BroadcastChannel("${folder}").onmessage = () => { throw new Error("out of memory") }
    parentPort.once("message", () => parentPort.postMessage({ ok: true }))`
  await writeFile(script, thread)
  const ending = new BroadcastChannel(folder)
  const thrown: Array<Error> = []
  const listeners = process.listeners("uncaughtException")
  process.removeAllListeners("uncaughtException").on("uncaughtException", (error) => thrown.push(error))
  const asked = Effect.scoped(
    Effect.gen(function* () {
      const run = yield* (yield* AnalysisEngine).open(caches)
      ending.postMessage("end")
      const failed = Effect.flip(run.add({ conversation: "c", inclusion: 1 }, []))
      // that the first fails says that the thread has ended
      return [yield* failed, yield* failed]
    })
  )
  const exit = await Effect.runPromiseExit(Effect.provide(asked, AnalysisEngine.layerThread(pathToFileURL(script))))
  ending.close()
  process.removeAllListeners("uncaughtException")
  for (const listener of listeners) process.on("uncaughtException", listener)
  expect(thrown).toEqual([])
  const reason = { _tag: "EngineFailed", reason: "out of memory" }
  expect(exit).toMatchObject({ _tag: "Success", value: [reason, reason] })
})
