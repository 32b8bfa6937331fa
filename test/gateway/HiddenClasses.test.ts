import { setFlagsFromString } from "node:v8"
import { runInThisContext } from "node:vm"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Completion } from "../../src/gateway/CallProgram.ts"
import { CallRunner } from "../../src/gateway/CallRunner.ts"
import { defaultOptions } from "../../src/gateway/GatewayOptions.ts"
import {
  Catalog,
  Health,
  type Hold,
  IdGenerator,
  Ledger,
  Policy,
  Providers,
  RetryBudget,
  Timers
} from "../../src/index.ts"
import type { Reservation, Settlement } from "../../src/ledger/Ledger.ts"
import { ScriptedProvider, TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { newCallId } from "../ledger/fixtures.ts"
import { request } from "../provider/protocols/calls.ts"
import { inVirtualTime } from "./virtualTime.ts"

setFlagsFromString("--allow-natives-syntax")
const haveSameMap: (one: object, other: object) => boolean = runInThisContext(
  "(one, other) => %HaveSameMap(one, other)"
)

/** More than one, so that the inline caches of what makes the objects have seen them. */
const calls = 20

it.effect("the objects of two calls share their hidden classes", () => {
  const timers = VirtualTimers.make()
  const provider = ScriptedProvider.make({ id: "one", timers, script: () => ScriptedProvider.answer("hi") })
  const reservations: Array<Reservation> = []
  const holds: Array<Hold> = []
  const settlements: Array<Settlement> = []
  const completions: Array<Completion> = []
  const ledger = Layer.succeed(Ledger, {
    reserve: (reservation) => {
      reservations.push(reservation)
      const { callId, caller, options } = reservation
      return Effect.succeed({ callId, caller, option: 0, amount: options[0].max, room: options[0].max })
    },
    extend: () => Effect.dieMessage("what is held is enough"),
    settle: (hold, settlement) => {
      holds.push(hold)
      settlements.push(settlement)
      return Effect.void
    },
    flushed: Effect.void,
    flushedOf: () => Effect.void,
    balance: () => Effect.dieMessage("nobody asks for a balance"),
    checkInvariants: Effect.succeed([])
  })
  const layer = CallRunner.layerWith(defaultOptions).pipe(
    Layer.provide([
      Catalog.layerOf([testModel("one/m")]),
      Providers.layerOf([provider]),
      Policy.layerOpen,
      Health.layer,
      RetryBudget.layer,
      ledger
    ]),
    Layer.provide(IdGenerator.layer),
    Layer.provide(Layer.succeed(Timers, timers))
  )
  return inVirtualTime(
    timers,
    Effect.gen(function* () {
      const runner = yield* CallRunner
      const options = () => ({ requestId: newCallId(), endpoint: "chat" as const, clientRequestId: null })
      for (let call = 0; call < calls; call++) {
        yield* runner.complete(TestGateway.testCaller, request({ stream: false }), options(), (completion) => {
          completions.push(completion)
        })
      }
      const records = settlements.map(({ record }) => record)
      const metadata = completions.map((completion) => completion.metadata)
      for (const made of [reservations, holds, settlements, records, completions, metadata]) {
        expect(made).toHaveLength(calls)
        const [one, other] = made.slice(-2)
        expect(one !== undefined && other !== undefined && haveSameMap(one, other), Object.keys(one ?? {}).join()).toBe(
          true
        )
      }
    })
  ).pipe(Effect.provide(layer))
})
