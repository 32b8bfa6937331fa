import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { ProviderFailure } from "../domain/ProviderError.ts"
import { Timers } from "../domain/Timers.ts"
import { collecting } from "../observe/Collection.ts"
import * as Metrics from "../observe/Metrics.ts"

/** What calls are kept away from. */
export interface Circuit {
  /**
   * route: a model at a provider that fails. origin: a provider that cannot be reached. rate_limit: a model at a provider that
   * limits the rate. model: a model that its provider no longer serves. credential: every model of a provider that rejects it.
   */
  readonly scope: "route" | "origin" | "rate_limit" | "model" | "credential"
  readonly provider: string
  /** Empty where all models of the provider are meant. */
  readonly model: string
  /** A project's own credential, where only calls with it are kept away. */
  readonly credential: string | null
}

/** Is told of circuits that open and close. */
export interface CircuitsShape {
  readonly opened: (circuit: Circuit, reason: ProviderFailure["_tag"], untilMillis: number) => void
  /** Also told of circuits that were never open. */
  readonly closed: (circuit: Circuit) => void
  /** What these were opened for says nothing any more. */
  readonly forgotten: (isMeant: (circuit: Circuit) => boolean) => void
}

export const unwatched: CircuitsShape = { opened: () => {}, closed: () => {}, forgotten: () => {} }

/** Circuits that are remembered; the metrics of further ones are not shown. */
const maxCircuits = 10_000

/** Logs and counts openings and closings. */
export const make: Effect.Effect<CircuitsShape, never, Timers | Scope.Scope> = Effect.gen(function* () {
  const timers = yield* Timers
  const fork = Runtime.runFork(yield* Effect.runtime<never>())
  const open = new Map<string, { readonly circuit: Circuit; untilMillis: number }>()

  yield* collecting(() => {
    const now = timers.now()
    for (const { circuit, untilMillis } of open.values()) {
      if (circuit.credential === null)
        Metrics.circuit(circuit.provider, circuit.model, circuit.scope, untilMillis > now)
    }
  })
  const closed = (circuit: Circuit): void => {
    if (!open.delete(keyOf(circuit))) return
    if (circuit.credential === null) Metrics.circuit(circuit.provider, circuit.model, circuit.scope, false)
    const line = circuit.scope === "rate_limit" ? Effect.logDebug("circuit closed") : Effect.logInfo("circuit closed")
    fork(Effect.annotateLogs(line, fieldsOf(circuit)))
  }
  return {
    opened: (circuit, reason, untilMillis) => {
      const key = keyOf(circuit)
      const known = open.get(key)
      // a longer rate limit is not another opening
      const isNew = known === undefined || known.untilMillis <= timers.now()
      if (known !== undefined) known.untilMillis = untilMillis
      else if (open.size < maxCircuits) open.set(key, { circuit, untilMillis })
      if (!isNew) return
      Metrics.circuitOpening(circuit.provider, circuit.scope, reason)
      const line = circuit.scope === "rate_limit" ? Effect.logDebug("circuit opened") : Effect.logInfo("circuit opened")
      const forMillis = Math.round(untilMillis - timers.now())
      fork(Effect.annotateLogs(line, { ...fieldsOf(circuit), reason, forMillis }))
    },
    closed: (circuit) => {
      if (open.size > 0) closed(circuit)
    },
    forgotten: (isMeant) => {
      for (const { circuit } of open.values()) if (isMeant(circuit)) closed(circuit)
    }
  }
})

const keyOf = ({ credential, model, provider, scope }: Circuit): string =>
  `${scope} ${provider} ${model} ${credential ?? ""}`

const fieldsOf = ({ credential, model, provider, scope }: Circuit): Readonly<Record<string, string>> => ({
  scope,
  provider,
  ...(model !== "" && { model }),
  ...(credential !== null && { credential })
})
