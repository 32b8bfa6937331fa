import { IncomingMessage } from "node:http"
import type { Readable } from "node:stream"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { type Keep, type KeptAnswer, once } from "../../calls/Idempotency.ts"
import type { GatewayError } from "../../domain/GatewayError.ts"
import * as Defects from "../../observe/Defects.ts"
import * as Errors from "../Errors.ts"
import type { WithRequest } from "../inference/InferenceEndpoint.ts"
import { keepingStream } from "../inference/KeptAnswers.ts"
import { streamHeaders } from "../inference/StreamSink.ts"
import { type Answered, type AppCall, type AppDeps, type Headers, replayed } from "./Answering.ts"
import { StreamedBody } from "./StreamedBody.ts"

/**
 * The call runs on a fiber of its own, which the end of the response or of the request interrupts, unless an Idempotency-Key names
 * the call. The response begins with the first content, or once its head was held for long enough; a failure before has a status
 * of its own.
 */
export const streamed = <Decoded extends WithRequest>(
  { gateway, headHoldMillis, heartbeatMillis, idempotency, timers }: AppDeps,
  { decoded, endpoint, exchange, named, options }: AppCall<Decoded>
): Answered<GatewayError> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const head = yield* Deferred.make<void, GatewayError>()
      const ofRequest = exchange.headers
      let running: Fiber.RuntimeFiber<void, GatewayError> | undefined
      let replay: KeptAnswer | undefined
      // the response goes on after its handler, and a named call after its response: the drain waits for both
      const [leaveBody, leaveCall] = [exchange.stay(), exchange.stay()]
      const body = new StreamedBody({
        timers,
        headHoldMillis,
        heartbeatMillis,
        heartbeat: endpoint.heartbeat,
        isKept: named !== undefined,
        encoder: (start, write) => endpoint.stream(start, decoded, write),
        startBeforeResponse: {
          requestId: options.requestId,
          createdSeconds: Math.floor(timers.now() / 1_000),
          model: decoded.request.model
        },
        opened: () => Deferred.unsafeDone(head, Exit.void),
        closed: () => {
          leaveBody()
          if (named === undefined) running?.unsafeInterruptAsFork(running.id())
        }
      })
      const relayed = (keep: Keep | undefined) => {
        const keptAnswer = keep && keepingStream(keep, exchange, ofRequest, body)
        const relaying = gateway.relay(decoded.request, body, { ...options, keptAnswer })
        return Effect.onExit(relaying, () => Effect.sync(() => body.deliver()))
      }
      const call =
        named === undefined
          ? relayed(undefined)
          : once(idempotency, named, {
              replay: (answer) =>
                Effect.sync(() => {
                  replay = answer
                }),
              run: relayed
            })
      const report = yield* Defects.reporter(Defects.ofCall)
      running = yield* Effect.forkDaemon(restore(call))
      running.addObserver((exit) => {
        leaveCall()
        if (Exit.isSuccess(exit)) {
          if (replay === undefined) return
          body.readable.destroy()
          Deferred.unsafeDone(head, Exit.void)
        } else if (!body.headSent) {
          body.readable.destroy()
          Deferred.unsafeDone(head, Exit.failCause(exit.cause))
        } else endWith(body, exit.cause, report)
      })
      // a response that is never read, and one whose client has left before it began
      yield* Effect.addFinalizer(() => Effect.sync(() => body.abandon()))
      yield* restore(Deferred.await(head))
      return replay === undefined
        ? responseOf(exchange.request, body, { ...streamHeaders, ...exchange.headers })
        : replayed(replay, ofRequest)
    })
  )

const endWith = (
  body: StreamedBody,
  cause: Cause.Cause<GatewayError>,
  report: (cause: Cause.Cause<unknown>) => void
): void => {
  if (Cause.isInterruptedOnly(cause)) {
    body.cut(new Error("the call was interrupted"))
    return
  }
  const failure = Cause.failureOption(cause)
  if (failure._tag === "None") report(cause)
  body.failWith((failure._tag === "Some" ? Errors.of(failure.value) : Errors.internal).error)
  body.deliver()
}

/**
 * On Node.js a readable, whose destruction resets the connection; elsewhere a stream, whose failure the web's streams carry to the
 * server by themselves.
 */
const responseOf = (
  { source }: HttpServerRequest.HttpServerRequest,
  { readable }: StreamedBody,
  headers: Headers
): HttpServerResponse.HttpServerResponse =>
  source instanceof IncomingMessage
    ? HttpServerResponse.raw(readable, { status: 200, headers })
    : HttpServerResponse.stream(
        Stream.fromAsyncIterable<Uint8Array, unknown>(chunksOf(readable), (error) => error),
        { status: 200, headers, contentType: headers["content-type"] ?? "" }
      )

/** A reader that leaves destroys the readable at once: its own iterator returns only when the next chunk has come. */
const chunksOf = (readable: Readable): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => {
    const chunks: AsyncIterator<Uint8Array> = readable[Symbol.asyncIterator]()
    return {
      next: () => chunks.next(),
      return: async () => {
        readable.destroy()
        return { done: true, value: undefined }
      }
    }
  }
})
