import * as Effect from "effect/Effect"
import type { CallOptions } from "../../gateway/Admission.ts"
import type { GatewayShape } from "../../gateway/Gateway.ts"

/** The gateway for one set of routes: `abort` fails their calls alone, now and from then on. Other calls of the gateway go on. */
export const gatewayOfRoutes = (gateway: GatewayShape): GatewayShape => {
  const running = new Set<() => void>()
  let isAborted = false
  const counted = <A, E, R>(
    options: CallOptions | undefined,
    use: (options: CallOptions | undefined) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      if (options === undefined) return use(options)
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
    ...gateway,
    completeWith: (request, encode, options) =>
      counted(options, (options) => gateway.completeWith(request, encode, options)),
    relay: (request, sink, options) => counted(options, (options) => gateway.relay(request, sink, options)),
    abort: Effect.sync(() => {
      isAborted = true
      for (const abort of running) abort()
    })
  }
}
