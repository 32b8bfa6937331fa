import * as Effect from "effect/Effect"
import { afterEach, describe, expect, it, vi } from "vitest"

const signals = ["SIGHUP", "SIGUSR1", "SIGUSR2"] as const

/** A process that begins: what it knows of signals is the module's. */
const fresh = async () => {
  vi.resetModules()
  return import("../../src/app/Signals.ts")
}

afterEach(() => {
  for (const signal of signals) process.removeAllListeners(signal)
})

describe("the signal to reload", () => {
  it("is kept during the start, and reloads once as soon as the service can", async () => {
    const { ignoreOtherSignals, onReload } = await fresh()
    await Effect.runPromise(ignoreOtherSignals)
    let reloads = 0
    const reload = Effect.sync(() => {
      reloads += 1
    })
    process.emit("SIGHUP")
    process.emit("SIGHUP")
    expect(reloads).toBe(0)
    await Effect.runPromise(onReload(reload))
    expect(reloads).toBe(1)
    process.emit("SIGHUP")
    expect(reloads).toBe(2)
  })

  it("reloads nothing that was not asked for", async () => {
    const { ignoreOtherSignals, onReload } = await fresh()
    await Effect.runPromise(ignoreOtherSignals)
    let reloads = 0
    await Effect.runPromise(
      onReload(
        Effect.sync(() => {
          reloads += 1
        })
      )
    )
    expect(reloads).toBe(0)
  })
})
