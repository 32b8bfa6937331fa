import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as fc from "fast-check"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { type Hold, type HoldOption, Ledger, LedgerLayer } from "../../src/ledger/Ledger.ts"
import * as RecoveryStore from "../../src/ledger/RecoveryStore.ts"
import { Scopes } from "../../src/ledger/Scopes.ts"
import { MemoryLedger } from "../../src/testing/doubles/MemoryLedger.ts"
import { databases } from "./databases.ts"
import { newCaller, newKey, option, settled, wants, wantsFirst } from "./fixtures.ts"
import { Model, type ModelHold, type Step, steps } from "./model.ts"

/** Does the steps to the ledger and to the model; they must agree after each. */
const agrees = (script: ReadonlyArray<Step>, expireAll: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger
    const scopes = yield* Scopes
    const model = new Model()
    const first = yield* newCaller({ credit: 0 })
    const keys = [first, yield* newKey(first, null), { ...(yield* newKey(first, null)), billingMode: "byok" as const }]
    const names = new Map<string, string>([
      [first.accountId, "account"],
      [first.projectId, "project"],
      ...keys.map((key, index) => [key.keyId, `key ${index}`] as const)
    ])
    for (const name of names.values()) model.limits.set(name, name === "account" ? 0 : null)
    const limited = [first.projectId, ...keys.map((key) => key.keyId)]
    const holds: Array<readonly [hold: Hold, modelled: ModelHold]> = []
    const pick = (index: number) => holds[holds.length === 0 ? 0 : index % holds.length]

    for (const step of script) {
      switch (step.do) {
        case "reserve": {
          const caller = keys[step.key] ?? first
          const own = ["project", `key ${step.key}`]
          const expected = model.reserve(caller.billingMode === "managed" ? ["account", ...own] : own, step.options)
          const [head, ...tail] = step.options.map((amounts) => option(...amounts))
          if (head === undefined) break
          const outcome = yield* resultOf(
            ledger.reserve((step.isLazy ? wantsFirst : wants)(caller, head, ...tail)),
            (hold) => {
              const modelled = model.holds.at(-1)
              if (modelled !== undefined) holds.push([hold, modelled])
              return `granted ${hold.option} ${hold.amount}`
            },
            `key ${step.key}`
          )
          expect(outcome).toBe(expected)
          break
        }
        case "extend": {
          const picked = pick(step.hold)
          if (picked === undefined) break
          const [hold, modelled] = picked
          const raise: HoldOption = option(...step.amounts)
          const key = names.get(hold.caller.keyId) ?? ""
          expect(yield* resultOf(ledger.extend(hold, raise), (raised) => `granted ${raised.amount}`, key)).toBe(
            model.extend(modelled, step.amounts)
          )
          break
        }
        case "settle": {
          const picked = pick(step.hold)
          if (picked === undefined) break
          const [hold, modelled] = picked
          model.settle(modelled, step.state, step.actual)
          yield* ledger.settle(hold, { ...settled(step.actual, {}, modelled.charged), state: step.state })
          break
        }
        case "expire":
          yield* ledger.flushed
          yield* expireAll
          model.expire()
          break
        case "credit":
          expect(yield* scopes.credit(first.accountId, step.amount, `payment:${step.source}`)).toBe(
            model.credit("account", step.amount, step.source)
          )
          break
        case "limit": {
          const id = limited[step.scope] ?? first.projectId
          // what it leaves is known after the next settlements
          yield* ledger.flushed
          yield* scopes.setLimit(id, step.limit)
          model.limits.set(names.get(id) ?? "", step.limit)
        }
      }
    }
    yield* ledger.flushed
    for (const [id, name] of names) {
      const state = Option.getOrThrow(yield* scopes.read(id as typeof first.keyId))
      expect({ name, ...state }).toMatchObject({
        name,
        limitMicroUsd: model.limits.get(name),
        spentMicroUsd: model.spent(name),
        heldMicroUsd: model.held(name)
      })
    }
    expect(yield* ledger.checkInvariants).toEqual([])
  })

const resultOf = (outcome: ReturnType<typeof Ledger.Service.reserve>, granted: (hold: Hold) => string, key: string) =>
  Effect.match(outcome, {
    onSuccess: granted,
    onFailure: (error) =>
      error._tag === "InsufficientFunds"
        ? `${error.scope === "key" ? key : error.scope} ${error.reason}: ${error.neededMicroUsd} of ${error.availableMicroUsd}, ${error.heldMicroUsd} held`
        : "closed"
  })

const checked = <R>(numRuns: number, expireAll: Effect.Effect<unknown, unknown, R>) =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<R | Ledger | Scopes>()
    const expire = Effect.provide(expireAll, runtime)
    yield* Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(steps, (script) => Runtime.runPromise(runtime)(agrees(script, expire))),
        { numRuns }
      )
    )
  })

describe("the ledger agrees with the reference model, in memory", () => {
  layer(MemoryLedger.layer)((it) => {
    it.effect(
      "whatever is done to it",
      () =>
        checked(
          500,
          Effect.map(MemoryLedger, (memory) => memory.expireAll())
        ),
      60_000
    )
  })
})

for (const [name, database] of databases) {
  describe(`the ledger agrees with the reference model, on ${name}`, () => {
    layer(
      LedgerLayer().pipe(Layer.provideMerge(database), Layer.provide(IdGenerator.layer), Layer.provide(Timers.layer)),
      {
        timeout: 60_000,
        excludeTestServices: true
      }
    )((it) => {
      it.effect(
        "whatever is done to it",
        () => checked(100, Effect.flatMap(SqlClient, RecoveryStore.expireAll)),
        120_000
      )
    })
  })
}
