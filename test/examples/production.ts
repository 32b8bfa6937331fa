import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import {
  Accounts,
  CurrentUser,
  finishEvent,
  Keys,
  makeModel,
  makeProvider,
  ProductionLayer,
  Projects,
  textEvent,
  usageEvent
} from "model-routing-gateway"

/** A provider of the application: a function from a call to a stream. */
const echo = {
  provider: makeProvider("echo", ({ request }) =>
    Stream.make(
      textEvent(`You have sent ${request.messages.length} message.`),
      finishEvent(),
      usageEvent({ inputTokens: 5, outputTokens: 6 })
    )
  ),
  models: [makeModel({ id: "echo/small", prices: { input: 0, output: 0 }, contextTokens: 8_192, outputTokens: 1_024 })]
}

/** The stack of the service: on PostgreSQL, or with `{ directory: ".data" }` on the embedded database. */
export const stack = (database: { readonly url: Redacted.Redacted } | { readonly directory: string }) =>
  ProductionLayer({
    database,
    providers: { providers: [echo] },
    rateLimits: {
      key: { requestsPerMinute: 600, tokensPerMinute: null, concurrentRequests: 20 },
      project: { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }
    }
  })

/** A customer with credit, a project and a key; every change is in the customer's audit log. */
export const newCustomer = Effect.fn("newCustomer")(function* (name: string) {
  const user = yield* (yield* Accounts).create({ name, creditMicroUsd: 5_000_000 })
  return yield* Effect.gen(function* () {
    const project = yield* (yield* Projects).create("default")
    const key = yield* (yield* Keys).create(project.id, { name: "first", limitMicroUsd: null })
    return { secret: key.secret, caller: yield* (yield* Keys).caller(key.id) }
  }).pipe(Effect.provideService(CurrentUser, user))
})

/** Nothing is hidden: the stack needs nothing that is not among its options. */
export const inMemory: Layer.Layer<Layer.Layer.Success<ReturnType<typeof stack>>> = Layer.orDie(
  stack({ directory: ":memory:" })
)
