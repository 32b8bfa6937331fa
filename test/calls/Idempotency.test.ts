import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { describe } from "vitest"
import { Idempotency, type IdempotentRequest } from "../../src/calls/Idempotency.ts"
import { IdempotencyStore } from "../../src/calls/IdempotencyStore.ts"
import { StoreUnavailable } from "../../src/domain/GatewayError.ts"
import { KeyId, RequestId } from "../../src/domain/Ids.ts"
import { MemoryIdempotency } from "../../src/testing/index.ts"

const requestOf = (more: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
  keyId: KeyId.make("00000000-0000-7000-8000-000000000001"),
  apiKey: "a key",
  idempotencyKey: "name",
  requestId: RequestId.make("0193b5a0-7d00-7abc-8def-0123456789ab"),
  path: "/v1/chat/completions",
  body: Buffer.from("{}"),
  ...more
})

const answerOf = (length: number) => ({ contentType: "application/json", body: Buffer.alloc(length, "a") })
const mebibyte = 1024 * 1024

const begin = (more: Partial<IdempotentRequest> = {}) =>
  Effect.flatMap(Idempotency, (idempotency) => idempotency.begin(requestOf(more)))

/** Runs the request to its end, with this answer. */
const ran = (answer: ReturnType<typeof answerOf> | undefined) =>
  Effect.gen(function* () {
    const begun = yield* begin()
    if (begun._tag !== "Run") return yield* Effect.dieMessage("the request is to be run")
    yield* begun.finish(answer)
  })

describe("a request under an Idempotency-Key", () => {
  const inMemory = <A, E>(program: Effect.Effect<A, E, Idempotency>) => Effect.provide(program, MemoryIdempotency.layer)

  it.effect("is given the answer that was kept", () =>
    inMemory(
      Effect.gen(function* () {
        yield* ran(answerOf(3))
        expect(yield* begin()).toEqual({ _tag: "Replay", answer: answerOf(3) })
      })
    )
  )

  it.effect("is not run while it runs", () =>
    inMemory(
      Effect.gen(function* () {
        yield* begin()
        expect(yield* Effect.flip(begin())).toMatchObject({
          _tag: "RateLimited",
          code: "idempotent_request_in_progress"
        })
      })
    )
  )

  it.effect("is run again after it failed", () =>
    inMemory(
      Effect.gen(function* () {
        yield* ran(undefined)
        expect((yield* begin())._tag).toBe("Run")
      })
    )
  )

  it.effect.each([
    ["with another body", { body: Buffer.from("[]") }],
    ["at another endpoint", { path: "/v1/responses" }]
  ] as const)("is refused %s, while it runs and after it", ([, other]) =>
    inMemory(
      Effect.gen(function* () {
        const reused = { _tag: "InvalidRequest", code: "idempotency_key_reused" }
        const begun = yield* begin()
        expect(yield* Effect.flip(begin(other))).toMatchObject(reused)
        if (begun._tag === "Run") yield* begun.finish(answerOf(3))
        expect(yield* Effect.flip(begin(other))).toMatchObject(reused)
      })
    )
  )

  it.effect("is another request for another API key", () =>
    inMemory(
      Effect.gen(function* () {
        yield* ran(answerOf(3))
        const other = KeyId.make("00000000-0000-7000-8000-000000000002")
        expect((yield* begin({ keyId: other }))._tag).toBe("Run")
      })
    )
  )

  it.effect("is run again when its answer was larger than a mebibyte", () =>
    inMemory(
      Effect.gen(function* () {
        yield* ran(answerOf(mebibyte + 1))
        expect((yield* begin())._tag).toBe("Run")
      })
    )
  )

  it.effect("is given an answer of a mebibyte", () =>
    inMemory(
      Effect.gen(function* () {
        yield* ran(answerOf(mebibyte))
        expect((yield* begin())._tag).toBe("Replay")
      })
    )
  )
})

it.effect("an answer is not lost because its copy cannot be written", () => {
  const unwritable = Layer.succeed(IdempotencyStore, {
    claim: () => Effect.succeed(undefined),
    finish: () => new StoreUnavailable({ cause: "no disk" }),
    release: () => new StoreUnavailable({ cause: "no disk" }),
    sweep: Effect.void
  })
  return Effect.gen(function* () {
    yield* ran(answerOf(3))
    yield* ran(undefined)
  }).pipe(Effect.provide(Idempotency.layer.pipe(Layer.provide(unwritable))))
})
