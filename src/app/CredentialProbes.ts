import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CallObserver } from "../domain/CallObserver.ts"
import * as Metrics from "../observe/Metrics.ts"
import { Providers } from "../provider/Providers.ts"
import { type Probed, type ProbeStatus, probeStatuses } from "../provider/probe/Probe.ts"
import { credentialVariables, type ProviderSettings } from "./ProviderSettings.ts"

/** What a provider says to the service's credential. */
export interface ProbedProvider extends Probed {
  readonly provider: string
  /** The environment variable of the credential; `null`: the provider is called without one. */
  readonly variable: string | null
}

type ProbedSettings = Pick<ProviderSettings, "bedrock" | "providers" | "vendorVariables">

/** Providers that are asked at the same time. */
const maxProbes = 4
/** A provider that has not accepted its credential is asked again; one that has, no sooner, where a call of it was refused. */
const againEvery = Duration.minutes(5)

export interface RefusedCredentialsShape {
  /** Of all calls. */
  readonly observer: CallObserver
  /** Waits for a call, from now on, whose provider refuses the credential of the service, or says that its quota is exhausted. */
  readonly next: (provider: string) => Effect.Effect<void>
}

/** What calls show of credentials, between one probe and the next. */
export class RefusedCredentials extends Context.Tag("gateway/app/RefusedCredentials")<
  RefusedCredentials,
  RefusedCredentialsShape
>() {
  static readonly layer: Layer.Layer<RefusedCredentials> = Layer.sync(this, () => {
    const waiting = new Map<string, Effect.Latch>()
    return {
      observer: {
        attemptFailed: (_, { credentialId, error, model }) => {
          const { fault } = error.facts
          if (credentialId === null && (fault === "credential" || fault === "quota")) {
            waiting.get(model.providerId)?.unsafeOpen()
          }
        }
      },
      next: (provider) => {
        const latch = Effect.unsafeMakeLatch()
        waiting.set(provider, latch)
        return latch.await
      }
    }
  })
}

/** Asks every provider of the settings, except the simulated ones, whether it accepts its credential; costs nothing. */
export const probeAll = (settings: ProbedSettings): Effect.Effect<ReadonlyArray<ProbedProvider>, never, Providers> =>
  Effect.forEach(probesOf(settings), (one) => probe(one), { concurrency: maxProbes })

/** Asks in the background while the service starts, and logs the result: a wrong credential does not keep it from starting. */
export const probing = (settings: ProbedSettings): Layer.Layer<never, never, Providers | RefusedCredentials> =>
  Layer.scopedDiscard(
    Effect.suspend(() => {
      const all = probesOf(settings)
      forgetOthers(all)
      return Effect.forkScoped(Effect.forEach(all, watch, { concurrency: "unbounded", discard: true }))
    })
  )

/** Providers with a status in the metrics of this process. */
const counted = new Set<string>()

/** A reload has taken their credentials away. */
const forgetOthers = (all: ReadonlyArray<ProbeOf>): void => {
  for (const id of counted) {
    if (all.some(({ provider }) => provider === id)) continue
    counted.delete(id)
    Metrics.credential(id, null, probeStatuses)
  }
}

const count = ({ provider, status }: ProbedProvider): void => {
  counted.add(provider)
  Metrics.credential(provider, status, probeStatuses)
}

interface ProbeOf {
  readonly provider: string
  readonly variable: string | null
}

const probesOf = (settings: ProbedSettings): ReadonlyArray<ProbeOf> => {
  const variables = credentialVariables(settings)
  const ids = [...new Set([...variables.keys(), ...settings.providers.map(({ id }) => id)])]
  return ids.map((provider) => ({ provider, variable: variables.get(provider) ?? null }))
}

const probe = ({ provider, variable }: ProbeOf): Effect.Effect<ProbedProvider, never, Providers> =>
  Effect.map(
    Effect.flatMap(Providers, (providers) => providers.probe(provider)),
    (probed) => ({ provider, variable, ...(probed ?? notAsked) })
  )

const notAsked: Probed = {
  status: "unknown",
  detail: "the provider cannot be asked without a paid call",
  httpStatus: null,
  latencyMillis: 0
}

/** Again until the provider has accepted the credential, and when it refuses it in a call. Only a change of the status is logged. */
const watch = (one: ProbeOf): Effect.Effect<never, never, Providers | RefusedCredentials> =>
  Effect.gen(function* () {
    const calls = yield* RefusedCredentials
    let last: ProbeStatus | undefined
    const ask = Effect.flatMap(probe(one), (probed) => {
      const isNew = probed.status !== last
      last = probed.status
      count(probed)
      return Effect.as(isNew ? log(probed) : Effect.void, probed)
    })
    const askOnce = Effect.gen(function* () {
      const refusedCall = calls.next(one.provider)
      const { status } = yield* ask
      yield* Effect.sleep(againEvery)
      if (status === "accepted" || status === "unknown") yield* refusedCall
    })
    return yield* Effect.forever(askOnce)
  })

const log = ({
  detail,
  httpStatus,
  latencyMillis,
  provider,
  status,
  variable
}: ProbedProvider): Effect.Effect<void> => {
  const fields = {
    provider,
    ...(variable !== null && { variable }),
    status,
    ...(httpStatus !== null && { httpStatus }),
    ...(detail !== null && { detail }),
    latencyMillis
  }
  const line =
    status === "accepted"
      ? Effect.logInfo("the provider accepts its credential")
      : status === "unknown"
        ? Effect.logInfo("the credential of the provider could not be checked")
        : Effect.logWarning(problems[status])
  return Effect.annotateLogs(line, fields)
}

const problems = {
  refused: "the provider refuses its credential",
  quota_exhausted: "the quota of the provider's credential is exhausted",
  unreachable: "the provider is not reachable"
}
