import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import {
  Caller,
  type CallFailure,
  decodeChatRequest,
  Gateway,
  IdGenerator,
  ProviderLayer,
  type StreamBroken,
  Timers
} from "model-routing-gateway"
import { FixedPolicy, MemoryLedger, TestGateway } from "model-routing-gateway/testing"

/** Asks whichever model is best and prints its answer as it comes. */
export const ask = (question: string): Effect.Effect<string, CallFailure | StreamBroken, Gateway | Caller> =>
  Effect.scoped(
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const request = yield* decodeChatRequest({ model: "auto", messages: [{ role: "user", content: question }] })
      const answer = yield* gateway.stream(request)
      return yield* Stream.runFold(answer.events, "", (text, event) =>
        event._tag === "Text" ? text + event.text : text
      )
    })
  )

/** Simulated providers, an open policy and a ledger in memory. A service puts `PolicyLayer` and `LedgerLayer` here. */
const gateway = Gateway.layer.pipe(
  Layer.provide([ProviderLayer({ simulated: true }), FixedPolicy.layer(), MemoryLedger.layerFunded(25_000_000)]),
  Layer.provide(IdGenerator.layer),
  Layer.provide(Timers.layer)
)

export const program: Effect.Effect<string, CallFailure | StreamBroken> = ask("Say hello.").pipe(
  Effect.provideService(Caller, TestGateway.testCaller),
  Effect.provide(gateway)
)
