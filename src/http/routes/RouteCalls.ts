import * as Effect from "effect/Effect"
import type { Caller } from "../../domain/Caller.ts"
import type { ChatRequest } from "../../domain/Chat.ts"
import type { CallFailure } from "../../domain/GatewayError.ts"
import type { CallOptions } from "../../gateway/Admission.ts"
import type { Completion } from "../../gateway/CallProgram.ts"
import type { GatewayShape } from "../../gateway/Gateway.ts"
import type { Sink } from "../../gateway/Relay.ts"

/** What routes use of the gateway. Every call has options: it is aborted through them. */
export interface RouteGateway extends Pick<GatewayShape, "abort" | "countTokens" | "models"> {
  readonly completeWith: <A>(
    request: ChatRequest,
    encode: (completion: Completion) => A,
    options: CallOptions
  ) => Effect.Effect<A, CallFailure, Caller>
  readonly relay: (request: ChatRequest, sink: Sink, options: CallOptions) => Effect.Effect<void, CallFailure, Caller>
}

/** The gateway for one set of routes: `abort` fails their calls alone, now and from then on. Other calls of the gateway go on. */
export const gatewayOfRoutes = (gateway: GatewayShape): RouteGateway => {
  const running = new Set<() => void>()
  let isAborted = false
  const counted = <A, E, R>(
    options: CallOptions,
    use: (options: CallOptions) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      let ofCall: (() => void) | undefined
      const onHeld = (abort: () => void) => {
        ofCall = abort
        running.add(abort)
        options.onHeld?.(abort)
        // it was still being admitted when all others were aborted
        if (isAborted) abort()
      }
      return Effect.ensuring(
        use({ ...options, onHeld }),
        Effect.sync(() => {
          if (ofCall !== undefined) running.delete(ofCall)
        })
      )
    })
  return {
    completeWith: (request, encode, options) =>
      counted(options, (options) => gateway.completeWith(request, encode, options)),
    relay: (request, sink, options) => counted(options, (options) => gateway.relay(request, sink, options)),
    countTokens: gateway.countTokens,
    models: gateway.models,
    abort: Effect.sync(() => {
      isAborted = true
      for (const abort of running) abort()
    })
  }
}
