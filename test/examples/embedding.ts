import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import {
  type Caller,
  type CallFailure,
  Gateway,
  type InvalidConfiguration,
  makeRequest,
  SimpleLayer,
  type StreamBroken
} from "model-routing-gateway"

/** Asks whichever model is best and prints its answer as it comes. */
export const ask = (question: string): Effect.Effect<string, CallFailure | StreamBroken, Gateway | Caller> =>
  Effect.scoped(
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const request = yield* makeRequest({ model: "auto", messages: [{ role: "user", content: question }] })
      const answer = yield* gateway.stream(request)
      return yield* Stream.runFold(answer.events, "", (text, event) =>
        event._tag === "Text" ? text + event.text : text
      )
    })
  )

/** Simulated providers, an open policy, money in memory. */
export const program: Effect.Effect<string, CallFailure | StreamBroken | InvalidConfiguration> = Effect.provide(
  ask("Say hello."),
  SimpleLayer()
)
