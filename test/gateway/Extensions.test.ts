import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { describe } from "vitest"
import { Catalog } from "../../src/catalog/Catalog.ts"
import { defaultOptions } from "../../src/gateway/GatewayOptions.ts"
import { Caller, Gateway, IdGenerator, Ledger, Policy, type Provider, type Sink, Timers } from "../../src/index.ts"
import type { LedgerShape } from "../../src/ledger/Ledger.ts"
import { Providers } from "../../src/provider/Providers.ts"
import { Health } from "../../src/routing/Health.ts"
import { RetryBudget } from "../../src/routing/RetryBudget.ts"
import { MemoryLedger, ScriptedProvider, TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { request } from "../provider/protocols/calls.ts"
import { textOf } from "./scriptedGateway.ts"
import { inVirtualTime } from "./virtualTime.ts"

const { answer, text, wait } = ScriptedProvider

/** So much of it uses up what is held of a small balance. */
const much = "word ".repeat(1_000)

/** A gateway whose ledger extends holds in this way, and what a call of it writes. */
const setUp = (script: ScriptedProvider.Script, extend: (ledger: LedgerShape) => LedgerShape["extend"]) => {
  const timers = VirtualTimers.make()
  const scripted = ScriptedProvider.make({ id: "one", timers, script: () => script })
  /** As a socket: what has been read in one piece is delivered in one. */
  const provider: Provider = {
    id: "one",
    open: (call, receiver) => {
      const { close, pause, resume } = scripted.open(call, receiver)
      return { close, pause: () => void timers.after(0, pause), resume: () => void timers.after(0, resume) }
    }
  }
  const ledger = Layer.effect(
    Ledger,
    Effect.map(Ledger, (inMemory) => ({ ...inMemory, extend: extend(inMemory) }))
  ).pipe(Layer.provideMerge(MemoryLedger.layerFunded(100_000)))
  const model = testModel("one/m", {
    outputTokens: 100_000,
    prices: { input: 1_000_000, output: 4_000_000, cacheRead: null, cacheWrite: null, tiers: [] }
  })
  const layer = Gateway.layerWith(defaultOptions).pipe(
    Layer.provideMerge(ledger),
    Layer.provide([
      Catalog.layerOf([model]),
      Providers.layerOf([provider]),
      Policy.layerOpen,
      Health.layer,
      RetryBudget.layer
    ]),
    Layer.provide(IdGenerator.layer),
    Layer.provide(Timers.layerOf(timers))
  )
  const events: Array<Parameters<Sink["event"]>[0]> = []
  const finishes: Array<string> = []
  const relayed = (sink: Pick<Sink, "event" | "drained">) =>
    inVirtualTime(
      timers,
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const startedAtMillis = timers.now()
        const exit = yield* Effect.exit(
          gateway.relay(request({ stream: true }), {
            begin: () => {},
            event: (event) => {
              events.push(event)
              return sink.event(event)
            },
            drained: sink.drained,
            complete: ({ reason }) => void finishes.push(reason),
            fail: ({ code }) => void finishes.push(code)
          })
        )
        const [call] = (yield* MemoryLedger).calls()
        return { call, exit, tookMillis: timers.now() - startedAtMillis }
      }).pipe(Effect.provideService(Caller, TestGateway.testCaller), Effect.provide(layer))
    )
  return { events, finishes, relayed, timers }
}

const all: Pick<Sink, "event" | "drained"> = { event: () => true, drained: () => {} }

describe("while a hold is extended", () => {
  it.effect("a reader that has room again meanwhile gets the rest", () => {
    const { events, finishes, relayed, timers } = setUp(
      [text("a"), wait(10), ...Array.from({ length: 12 }, () => text(much)), text("b"), wait(10), ...answer("c")],
      (ledger) => (hold, option) =>
        Effect.zipRight(
          Effect.async<void>((resume) => void timers.after(1_000, () => resume(Effect.void))),
          ledger.extend(hold, option)
        )
    )
    let onRoom: (() => void) | undefined
    // as a socket: it tells once that it has room, whoever listens
    const sink: Pick<Sink, "event" | "drained"> = {
      event: (event) => {
        if (event._tag !== "Text" || event.text !== "b") return true
        timers.after(100, () => onRoom?.())
        return false
      },
      drained: (resume) => {
        onRoom = resume
      }
    }
    return Effect.gen(function* () {
      const { tookMillis } = yield* relayed(sink)
      expect(textOf(events).endsWith("bc")).toBe(true)
      expect(finishes).toEqual(["stop"])
      expect(tookMillis).toBeLessThan(3_000)
    })
  })

  it.effect(
    "a ledger that fails for a reason of its own is not asked again and again: the call ends with that defect",
    () => {
      let asked = 0
      const boom = new Error("broke an invariant")
      const { finishes, relayed } = setUp(
        [text("a"), wait(10), ...Array.from({ length: 12 }, () => text(much)), wait(10), ...answer("c")],
        () => () =>
          Effect.suspend(() => {
            asked += 1
            return Effect.die(boom)
          })
      )
      return Effect.gen(function* () {
        const { call, exit } = yield* relayed(all)
        expect(exit).toEqual(Exit.die(boom))
        expect(finishes).toEqual([])
        expect(call).toMatchObject({ state: "void", charged: 0 })
        expect(asked).toBe(1)
      })
    }
  )
})
