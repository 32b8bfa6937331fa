import type * as Effect from "effect/Effect"
import { ServiceRefused } from "../../domain/GatewayError.ts"
import type { TimersShape } from "../../domain/Timers.ts"
import * as Errors from "../Errors.ts"
import type { RunningCall } from "../inference/InferenceHandler.ts"
import type { SecurityShape } from "../inference/Security.ts"
import { EvenPace } from "../overload/EvenPace.ts"
import type { LoadSheddingShape } from "../overload/LoadShedding.ts"
import type { DrainShape } from "./Drain.ts"
import * as NodeResponse from "./NodeResponse.ts"
import type { RequestRuntime } from "./RequestRuntime.ts"

/** Answers one request, up to its last byte. */
export type InferenceHandler = (exchange: NodeResponse.HttpExchange, state: RunningCall) => Effect.Effect<void>

export interface InferenceRequestsDeps {
  readonly security: SecurityShape
  readonly drain: DrainShape
  readonly loadShedding: LoadSheddingShape
  readonly timers: TimersShape
  readonly runtime: RequestRuntime
}

const overloaded = Errors.of(new ServiceRefused({ reason: "overloaded" }))

/** Answers a request of whose body nothing has been read. */
const rejection = (exchange: NodeResponse.HttpExchange, path: string, error: Errors.HttpError) => (): void => {
  NodeResponse.error(exchange, error)
  NodeResponse.count(path, exchange.response)
}

/** Runs the requests to the endpoints of calls, each as one fiber that ends with its client. */
export class InferenceRequests {
  private readonly deps: InferenceRequestsDeps
  private readonly blockedPace: EvenPace

  constructor(deps: InferenceRequestsDeps) {
    this.deps = deps
    this.blockedPace = new EvenPace(deps.timers)
  }

  /** By a project key: who is blocked, and most of what an overloaded node rejects, is answered without a fiber. */
  receive(path: string, handler: InferenceHandler, exchange: NodeResponse.HttpExchange): void {
    const { loadShedding, security } = this.deps
    const { format, request, response } = exchange
    const blocked = security.blocked(request, format)
    if (blocked !== undefined) {
      response.once("close", this.blockedPace.add(rejection(exchange, path, Errors.of(blocked))))
      return
    }
    const isRejected = this.rejectsUnread(exchange)
    if (isRejected === true) {
      response.once("close", loadShedding.reject(request.socket, rejection(exchange, path, overloaded)))
    } else this.run(path, handler, exchange, isRejected === false)
  }

  /** `passedLoadShedding`: an overloaded node has already let the request in. */
  run(path: string, handler: InferenceHandler, exchange: NodeResponse.HttpExchange, passedLoadShedding: boolean): void {
    const { response } = exchange
    const leave = this.deps.drain.enter()
    const state: RunningCall = {
      passedLoadShedding,
      sink: undefined,
      queueEntry: undefined,
      outlivesClient: false,
      abandon: () => response.destroy()
    }
    const fiber = this.deps.runtime.fork(exchange.requestId, handler(exchange, state))
    let isEnded = false
    let isClosed = false
    fiber.addObserver(() => {
      isEnded = true
      // what its client still reads is finished before the node stops
      if (isClosed) leave()
      state.queueEntry?.leave()
      NodeResponse.count(path, response)
    })
    response.on("close", () => {
      isClosed = true
      if (isEnded) leave()
      else if (!response.writableFinished && !state.outlivesClient) fiber.unsafeInterruptAsFork(fiber.id())
    })
  }

  /** Responds to all that wait: the node is shutting down. */
  stop(): void {
    this.blockedPace.stop()
  }

  /** `undefined` if the caller is not cached. */
  private rejectsUnread({ format, request }: NodeResponse.HttpExchange): boolean | undefined {
    const { loadShedding, security } = this.deps
    if (!loadShedding.isOverloaded()) return undefined
    const caller = security.remembered(request, format)
    return caller === undefined ? undefined : loadShedding.rejects(caller.accountId)
  }
}
