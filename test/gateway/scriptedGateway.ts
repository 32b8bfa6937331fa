import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import {
  type Attempt,
  Caller,
  type CallerShape,
  type CallFailure,
  type ChatEvent,
  type ChatRequest,
  type Completion,
  Gateway,
  type IdGenerator,
  type Ledger,
  type RouterMetadata,
  type Scopes,
  type Sink,
  type Timers,
  type Usage
} from "../../src/index.ts"
import type { Health } from "../../src/routing/Health.ts"
import { MemoryLedger, ScriptedProvider, TestGateway, VirtualTimers } from "../../src/testing/index.ts"
import { request } from "../provider/protocols/calls.ts"
import { inVirtualTime } from "./virtualTime.ts"

type Script = ScriptedProvider.Script
type Services = Gateway | Ledger | Scopes | MemoryLedger | IdGenerator | Timers | Health

export interface ScriptedGatewayOptions extends Omit<Parameters<typeof TestGateway.layer>[0], "providers" | "timers"> {
  /** By provider id; each call of a provider plays the next script, the last one serves all further calls. */
  readonly scripts: Readonly<Record<string, ReadonlyArray<Script>>>
  readonly caller?: CallerShape
}

/** What one plain call came to. */
export interface Completed {
  readonly completion: Completion | undefined
  readonly failure: CallFailure | undefined
  readonly tookMillis: number
}

/** What a streamed call has written into its sink, and what it came to. */
export interface Relayed {
  readonly events: Array<ChatEvent>
  readonly completions: Array<{ readonly finish: string; readonly usage: Usage; readonly metadata: RouterMetadata }>
  readonly failures: Array<string>
  /** Failed before its first content. */
  failure: CallFailure | undefined
  tookMillis: number
}

/** A gateway in virtual time whose providers follow scripts. */
export const scriptedGateway = (options: ScriptedGatewayOptions) => {
  const timers = VirtualTimers.make()
  const providers = Object.fromEntries(
    Object.entries(options.scripts).map(([id, scripts]) => [
      id,
      ScriptedProvider.make({ id, timers, script: ScriptedProvider.inTurn(...scripts) })
    ])
  )
  const calledAs = options.caller ?? TestGateway.testCaller

  const complete = (asked: Partial<ChatRequest> = {}): Effect.Effect<Completed, never, Gateway> =>
    Effect.gen(function* () {
      const startedAtMillis = timers.now()
      const gateway = yield* Gateway
      const outcome = yield* Effect.either(gateway.complete(request({ stream: false, ...asked })))
      const tookMillis = timers.now() - startedAtMillis
      return outcome._tag === "Right"
        ? { completion: outcome.right, failure: undefined, tookMillis }
        : { completion: undefined, failure: outcome.left, tookMillis }
    }).pipe(Effect.provideService(Caller, calledAs))

  /** `sink` in place of one that takes everything; what it is given is recorded all the same. */
  const relay = (
    asked: Partial<ChatRequest> = {},
    sink: Partial<Sink> = {},
    relayed: Relayed = { events: [], completions: [], failures: [], failure: undefined, tookMillis: 0 }
  ): Effect.Effect<Relayed, never, Gateway> =>
    Effect.gen(function* () {
      const startedAtMillis = timers.now()
      const gateway = yield* Gateway
      const recording: Sink = {
        begin: (start) => sink.begin?.(start),
        event: (event) => {
          relayed.events.push(event)
          return sink.event?.(event) ?? true
        },
        drained: (resume) => sink.drained?.(resume),
        complete: (finish, usage, metadata) => {
          relayed.completions.push({ finish: finish.reason, usage, metadata })
          sink.complete?.(finish, usage, metadata)
        },
        fail: (error) => {
          relayed.failures.push(error.code)
          sink.fail?.(error)
        }
      }
      const outcome = yield* Effect.either(gateway.relay(request({ stream: true, ...asked }), recording))
      if (outcome._tag === "Left") relayed.failure = outcome.left
      relayed.tookMillis = timers.now() - startedAtMillis
      return relayed
    }).pipe(Effect.provideService(Caller, calledAs))

  const run = <A, E>(program: Effect.Effect<A, E, Services | Scope.Scope>): Effect.Effect<A, E> =>
    inVirtualTime(timers, Effect.scoped(program)).pipe(
      Effect.provide(TestGateway.layer({ ...options, providers: Object.values(providers), timers }))
    )

  const sleep = (millis: number): Effect.Effect<void> =>
    Effect.async((resume) => {
      timers.after(millis, () => resume(Effect.void))
    })

  const callsOf = (id: string): ReadonlyArray<ScriptedProvider.RecordedCall> => providers[id]?.calls ?? []

  return { callsOf, complete, relay, run, sleep, timers }
}

/** The calls in the ledger, in the order of admission. */
export const booked = Effect.map(MemoryLedger, (ledger) => ledger.calls())

/** Which models were attempted, in order, and the code of each failure. */
export const attemptsOf = (attempts: ReadonlyArray<Attempt> | undefined): ReadonlyArray<string> =>
  (attempts ?? []).map(({ error, model, status }) => `${model} ${error?.code ?? status}`)

/** The attempts of a call, whether it was answered or not. */
export const triedBy = ({ completion, failure }: Completed): ReadonlyArray<string> =>
  attemptsOf(completion?.metadata.attempts ?? (failure !== undefined && "attempts" in failure ? failure.attempts : []))

export const textOf = (events: ReadonlyArray<ChatEvent>): string =>
  events.map((event) => (event._tag === "Text" ? event.text : "")).join("")
