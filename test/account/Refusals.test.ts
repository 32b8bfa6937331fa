import { randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { maxRefusals, type Refusal, RefusalStore } from "../../src/account/requests/RefusalStore.ts"
import { Refusals } from "../../src/account/requests/Refusals.ts"
import type { ObservedCall } from "../../src/domain/CallObserver.ts"
import {
  type CallFailure,
  InsufficientFunds,
  InvalidRequest,
  ModelNotFound,
  RateLimited,
  StoreUnavailable
} from "../../src/domain/GatewayError.ts"
import { AccountId, KeyId, ProjectId, RequestId } from "../../src/domain/Ids.ts"
import * as Errors from "../../src/http/Errors.ts"
import { RefusalOut } from "../../src/wire/account/Refusals.ts"
import { decode } from "../../src/wire/chat/ChatRequest.ts"
import { databases } from "../ledger/databases.ts"

const describeError = (error: CallFailure) => {
  const { error: described, status } = Errors.of(error)
  return { status, code: described.code, message: described.message }
}

const request = Effect.runSync(decode({ model: "auto", messages: [{ role: "user", content: "Hello." }] }))

const refusedCall = (projectId: ProjectId, startedAtMillis = 1_767_225_600_123): ObservedCall => ({
  requestId: RequestId.make(randomUUID()),
  caller: {
    projectId,
    accountId: AccountId.make(randomUUID()),
    keyId: KeyId.make(randomUUID()),
    billingMode: "managed"
  },
  request,
  endpoint: "chat",
  origin: "user",
  startedAtMillis
})

const aProject = () => ProjectId.make(randomUUID())
const outOfFunds = new InsufficientFunds({
  scope: "key",
  reason: "held",
  neededMicroUsd: 500,
  availableMicroUsd: 20,
  heldMicroUsd: 480
})
const tooMany = new RateLimited({
  code: "rate_limit_exceeded",
  message: "Rate limit reached: requests per minute of this key.",
  retryAfterMillis: 1_200.4,
  scope: "key",
  status: { requests: { limit: 60, remaining: 0, resetMillis: 60_000 }, tokens: null }
})

for (const [name, database] of databases) {
  describe(`refusals on ${name}`, () => {
    layer(Refusals.layer(describeError).pipe(Layer.provideMerge(RefusalStore.layer), Layer.provideMerge(database)), {
      timeout: 60_000,
      excludeTestServices: true
    })((it) => {
      it.effect("402, 404 and 429 are kept with what refused them; other errors are not", () =>
        Effect.gen(function* () {
          const { flush, observer } = yield* Refusals
          const store = yield* RefusalStore
          const project = aProject()
          const errors = [
            outOfFunds,
            new ModelNotFound({ model: "none/such" }),
            tooMany,
            new InvalidRequest({ code: "invalid_value", message: "No.", param: "alpha" }),
            new StoreUnavailable({ cause: null })
          ]
          for (const [index, error] of errors.entries()) observer.refused?.(refusedCall(project, index), error)
          yield* flush
          const { items, next } = yield* store.page(project, null, 20)
          expect(next).toBeNull()
          expect(items.every(Schema.is(RefusalOut))).toBe(true)
          const none = {
            reason: null,
            needed_microusd: null,
            remaining_microusd: null,
            held_microusd: null,
            remaining_requests: null,
            remaining_tokens: null,
            retry_after_ms: null
          }
          expect(items).toMatchObject([
            {
              ...none,
              status: 429,
              code: "rate_limit_exceeded",
              scope: "key",
              remaining_requests: 0,
              retry_after_ms: 1_201,
              refused_at: "1970-01-01T00:00:00.002Z"
            },
            { ...none, status: 404, code: "model_not_found", scope: null, requested_model: "auto" },
            {
              ...none,
              status: 402,
              code: "spend_limit_exceeded",
              scope: "key",
              reason: "held",
              needed_microusd: 500,
              remaining_microusd: 20,
              held_microusd: 480
            }
          ])
          expect((yield* store.page(aProject(), null, 20)).items).toEqual([])
        })
      )

      it.effect("the newest of each project stay, page by page", () =>
        Effect.gen(function* () {
          const store = yield* RefusalStore
          const [project, other] = [aProject(), aProject()]
          const refusal = (projectId: ProjectId, at: number): Refusal => ({
            projectId,
            id: randomUUID(),
            key_id: randomUUID(),
            endpoint: "chat",
            requested_model: "auto",
            status: 404,
            code: "model_not_found",
            message: String(at),
            scope: null,
            reason: null,
            needed_microusd: null,
            remaining_microusd: null,
            held_microusd: null,
            remaining_requests: null,
            remaining_tokens: null,
            retry_after_ms: null,
            refused_at: new Date(at).toISOString()
          })
          yield* store.write([refusal(other, 1)])
          for (let at = 0; at < maxRefusals + 200; at += 200) {
            yield* store.write(Array.from({ length: 200 }, (_, index) => refusal(project, at + index)))
          }
          const sql = yield* SqlClient
          expect(
            yield* sql`select count(*)::int as n, min(message::int) as oldest from refusal where project_id = ${project}`
          ).toEqual([{ n: maxRefusals, oldest: 200 }])
          expect((yield* store.page(other, null, 20)).items).toHaveLength(1)
          const first = yield* store.page(project, null, 3)
          const second = yield* store.page(project, first.next, 3)
          expect([...first.items, ...second.items].map(({ message }) => Number(message))).toEqual([
            1_199, 1_198, 1_197, 1_196, 1_195, 1_194
          ])
        })
      )

      it.effect("one project's refusals displace neither those of others nor its own newest", () =>
        Effect.gen(function* () {
          const { flush, observer } = yield* Refusals
          const store = yield* RefusalStore
          const [flooding, quiet] = [aProject(), aProject()]
          for (let at = 1; at <= 5_000; at++) observer.refused?.(refusedCall(flooding, at), tooMany)
          observer.refused?.(refusedCall(quiet, 1), outOfFunds)
          yield* flush
          const { items } = yield* store.page(flooding, null, 1_000)
          expect(items).toHaveLength(100)
          expect(items[0]?.refused_at).toBe(new Date(5_000).toISOString())
          expect((yield* store.page(quiet, null, 20)).items).toHaveLength(1)
        })
      )
    })
  })
}

it.scoped("a database that is away costs the refusals of that time, and nothing else", () =>
  Effect.gen(function* () {
    const written: Array<Refusal> = []
    let isAway = true
    const store = Layer.succeed(RefusalStore, {
      write: (refusals) =>
        isAway ? Effect.fail(new StoreUnavailable({ cause: null })) : Effect.sync(() => void written.push(...refusals)),
      page: () => Effect.die("not asked")
    })
    yield* Effect.gen(function* () {
      const { flush, observer } = yield* Refusals
      const project = aProject()
      observer.refused?.(refusedCall(project, 1), outOfFunds)
      yield* flush
      isAway = false
      observer.refused?.(refusedCall(project, 2), outOfFunds)
      yield* flush
      expect(written.map(({ refused_at }) => refused_at)).toEqual([new Date(2).toISOString()])
    }).pipe(Effect.provide(Refusals.layer(describeError).pipe(Layer.provide(store))))
  })
)
