import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type KeptAnswer, once } from "../../src/calls/Idempotency.ts"
import type { CallerShape } from "../../src/domain/Caller.ts"
import type { ChatRequest } from "../../src/domain/Chat.ts"
import type { CallFailure } from "../../src/domain/GatewayError.ts"
import type { CallOptions } from "../../src/gateway/Admission.ts"
import type { VirtualTimers } from "../../src/testing/doubles/VirtualTimers.ts"
import type { Dice } from "./Dice.ts"
import type { SimulatedDatabase } from "./SimulatedDatabase.ts"
import type { ClientCall } from "./Simulation.ts"

/** A request with an Idempotency-Key, sent until it is answered. */
export interface NamedCall {
  readonly idempotencyKey: string
  readonly caller: CallerShape
  readonly request: ChatRequest
  /** Each time that it was sent. */
  readonly sent: Array<ClientCall>
  isOver: boolean
}

/** What the client of named calls needs of the world. */
export interface NamedCallsWorld {
  readonly clock: VirtualTimers
  readonly dice: Dice
  readonly database: SimulatedDatabase
  /** At some node that can be reached. */
  readonly callOf: (caller: CallerShape, request: ChatRequest) => ClientCall
  readonly program: (
    call: ClientCall,
    keptAnswer: CallOptions["keptAnswer"]
  ) => Effect.Effect<number | undefined, CallFailure>
}

/** How long a client listens that does not hear the end of its call. */
const maxListenMillis = 10_000
/** How often a client looks whether the process that it has sent its request to is still there. */
const lookMillis = 1_000

/** Clients that send a request again when its connection has broken, or its process is gone. */
export class NamedCalls {
  readonly calls: Array<NamedCall> = []
  private readonly world: NamedCallsWorld

  constructor(world: NamedCallsWorld) {
    this.world = world
  }

  begin(idempotencyKey: string, caller: CallerShape, request: ChatRequest): void {
    const named: NamedCall = { idempotencyKey, caller, request, sent: [], isOver: false }
    this.calls.push(named)
    this.send(named)
  }

  private send(named: NamedCall): void {
    const { clock, dice } = this.world
    const call = this.world.callOf(named.caller, named.request)
    const { node } = call
    named.sent.push(call)
    let isListening = true
    const again = (): void => {
      if (!isListening) return
      isListening = false
      clock.after(dice.between(200, 3_000), () => this.send(named))
    }
    const look = (): void => {
      if (node.isStopped) again()
      else if (isListening) clock.after(lookMillis, look)
    }
    look()
    // the connection breaks, and the call goes on
    if (dice.chance(0.3)) {
      clock.after(dice.between(1, maxListenMillis), () => {
        if (isListening) call.outcome ??= { _tag: "Left" }
        again()
      })
    }
    node.fork(this.program(named, call)).addObserver((exit) => {
      if (!isListening || node.isStopped) return
      if (Exit.isSuccess(exit)) call.outcome ??= { _tag: "Replayed" }
      else call.outcome ??= { _tag: "Failed", code: codeOf(exit.cause) }
      if (Exit.isFailure(exit) && mayRetry.has(codeOf(exit.cause))) again()
      else named.isOver = true
      if (named.isOver) isListening = false
    })
  }

  private program({ caller, idempotencyKey }: NamedCall, call: ClientCall) {
    const { requestId } = call
    const request = {
      caller,
      idempotencyKey,
      requestId,
      path: "chat",
      body: Buffer.from(idempotencyKey)
    }
    return once<number | undefined, CallFailure, never>(call.node.idempotency, request, {
      replay: (answer) => this.replayed(call, answer),
      run: (keep) =>
        this.world.program(call, (exit) => {
          if (Exit.isSuccess(exit)) {
            return keep(answerOf(200, call, typeof exit.value === "number" ? exit.value : call.toldMicroUsd))
          }
          return codeOf(exit.cause) === "ProvidersFailed" ? keep(answerOf(502, call, 0)) : undefined
        })
    })
  }

  /** A response is never replayed without its charge. */
  private replayed(call: ClientCall, answer: KeptAnswer): Effect.Effect<undefined> {
    return Effect.sync(() => {
      const [runId, cost] = Buffer.from(answer.body).toString().split(" ")
      const row = this.world.database.call(runId ?? "")
      const isOpen = row === undefined || row.state === "held" || row.state === "expired"
      // a response that failed on its way tells no cost
      if (isOpen || (cost !== undefined && row.charged !== Number(cost))) {
        this.world.database.violations.push(
          `${call.requestId}: the response of ${runId} is replayed without its charge`
        )
      }
      return undefined
    })
  }
}

const answerOf = (status: number, { requestId }: ClientCall, costMicroUsd: number | undefined): KeptAnswer => ({
  status,
  contentType: "text/plain",
  headers: {},
  body: Buffer.from(costMicroUsd === undefined ? requestId : `${requestId} ${costMicroUsd}`)
})

const codeOf = (cause: Cause.Cause<CallFailure>): string => {
  const failure = Cause.failureOption(cause)
  return failure._tag === "Some" ? failure.value._tag : Cause.pretty(cause)
}

/** The request was not run, or runs still. */
const mayRetry: ReadonlySet<string> = new Set(["RateLimited", "ServiceRefused", "StoreUnavailable"])

/** Charged at most once, and answered in the end. */
export const namedViolations = (calls: ReadonlyArray<NamedCall>, database: SimulatedDatabase): ReadonlyArray<string> =>
  calls.flatMap(({ idempotencyKey, isOver, sent }) => {
    const charged = sent.filter(({ requestId }) => (database.call(requestId)?.charged ?? 0) > 0)
    return [
      ...(charged.length > 1 ? [`${idempotencyKey}: charged ${charged.length} times`] : []),
      ...(isOver ? [] : [`${idempotencyKey}: sent ${sent.length} times and never answered`])
    ]
  })
