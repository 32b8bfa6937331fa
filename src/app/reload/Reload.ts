import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberHandle from "effect/FiberHandle"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Settings from "../../config/Settings.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { InvalidConfiguration } from "../../domain/InvalidConfiguration.ts"
import { ProviderReplacement } from "../../provider/ProviderReplacement.ts"
import { reasonOf } from "../../sql/DatabaseError.ts"
import * as Configuration from "../Configuration.ts"
import { probing } from "../CredentialProbes.ts"
import { applyConfiguration } from "../FirstStartConfiguration.ts"
import { providerOptions } from "../ProviderSettings.ts"
import { logWarnings } from "../StartWarnings.ts"
import * as LastValid from "./LastValid.ts"
import type { LiveSettings } from "./LiveSettings.ts"
import { reloadable, warnOfStart } from "./Reloadable.ts"

/**
 * Reloads `.env` and the file of GATEWAY_CONFIG and applies them immediately, or leaves everything as it was and logs why.
 * Running calls keep the providers, prices and deadlines that they began with. Providers are asked about their credentials from now
 * on, after a reload those of the new settings alone. While the database cannot be used, the reload is tried again, with the files
 * as they are then, until it succeeds or another one is asked for.
 */
export const make = (live: LiveSettings) =>
  Effect.gen(function* () {
    const replacement = yield* ProviderReplacement
    const one = yield* Effect.makeSemaphore(1)
    const probes = yield* FiberHandle.make()
    const waiting = yield* FiberHandle.make()
    yield* FiberHandle.run(probes, Layer.launch(probing(live.settings)))

    const reload = Effect.gen(function* () {
      const configuration = yield* Configuration.read
      const { needStart, next } = reloadable(live.current(), configuration.settings)
      yield* Settings.requireProvider(next)
      // the only step that can fail comes first
      const isChanged = yield* applyConfiguration(next.policy, next.routingConfigurations ?? [])
      live.replace(next)
      yield* LastValid.report(configuration)
      yield* replacement.replace(providerOptions(next))
      yield* Effect.annotateLogs(Effect.logInfo("the configuration was reloaded"), { policyChanged: isChanged })
      yield* warnOfStart(needStart)
      yield* logWarnings(next, configuration.variables)
      yield* FiberHandle.run(probes, Layer.launch(probing(next)))
    })
    const repeated = one
      .withPermits(1)(reload)
      .pipe(
        Effect.retry({ schedule: repetitions, while: ({ _tag }) => _tag === "StoreUnavailable" }),
        Effect.catchAllCause(notReloaded),
        Effect.delay(firstRepetition)
      )
    const repeatedLater = (failure: StoreUnavailable) =>
      Effect.zipRight(
        Effect.annotateLogs(
          Effect.logWarning("the configuration is not reloaded yet: the database cannot be used; it is tried again"),
          { reason: reasonOf(failure) }
        ),
        FiberHandle.run(waiting, repeated)
      )
    return one
      .withPermits(1)(
        // with the permit: a repetition is ended while it waits, never between what it has applied and what it has not
        Effect.zipRight(FiberHandle.clear(waiting), Effect.catchTag(reload, "StoreUnavailable", repeatedLater))
      )
      .pipe(Effect.catchAllCause(notReloaded))
  })

const firstRepetition = "1 second"
const repetitions = Schedule.exponential(firstRepetition).pipe(Schedule.union(Schedule.spaced("10 seconds")))

const notReloaded = (cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  if (Cause.isInterruptedOnly(cause)) return Effect.void
  const failure = Cause.failureOption(cause)
  const why =
    failure._tag === "Some" && failure.value instanceof InvalidConfiguration
      ? Effect.annotateLogs({ issues: failure.value.message.split("\n"), file: failure.value.file ?? null })
      : Effect.annotateLogs({ cause: Cause.pretty(cause) })
  return why(Effect.logError("the configuration was not reloaded; the previous one stays active"))
}
