import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Catalog } from "../../catalog/Catalog.ts"
import { requireProvider } from "../../config/Settings.ts"
import { Timers } from "../../domain/Timers.ts"
import { ProviderLayer } from "../../provider/ProviderLayer.ts"
import { type ProbedProvider, probeAll } from "../CredentialProbes.ts"
import { providerOptions } from "../ProviderSettings.ts"
import { warningsOf } from "../StartWarnings.ts"
import { type Command, loaded } from "./Command.ts"
import { CommandFailed } from "./Operations.ts"
import { jsonOption, print, table } from "./Output.ts"

/** The settings are decoded before any command runs: what is wrong with them ends it with 78. */
export const check: Command = {
  name: "check",
  about:
    "validate environment and configuration, try the master key, and ask each provider whether it accepts its credential; costs nothing",
  positionals: [],
  options: { ...jsonOption },
  run: ({ given, settings, variables }) =>
    Effect.gen(function* () {
      yield* requireProvider(settings)
      const snapshot = (yield* Catalog).snapshot()
      const probed = yield* probeAll(settings)
      const providers = probed.map((one) => ({
        ...one,
        models: snapshot.models.filter(({ listed, providerId }) => listed && providerId === one.provider).length
      }))
      const simulated = snapshot.models.filter(({ listed, providerId }) => listed && /^sim2?$/.test(providerId)).length
      const ofDatabase = yield* loaded(
        () => import("../SealedValues.ts"),
        ({ warningsBeforeStart }) => warningsBeforeStart(settings)
      )
      const warnings = [...warningsOf(settings, variables, snapshot), ...ofDatabase]
      yield* print(
        given,
        { providers, simulated_models: simulated, warnings },
        [
          "The configuration is valid.",
          ...warnings.map(({ message, path }) => `warning: ${path} ${message}`),
          ...(settings.simulated ? [`simulated providers: ${simulated} models`] : []),
          ...(providers.length === 0
            ? []
            : [table(["provider", "variable", "result", "models", "ms"], providers.map(rowOf))])
        ].join("\n")
      )
      const failed = providers.filter(({ status }) => status !== "accepted" && status !== "unknown")
      if (failed.length > 0) {
        const names = failed.map(({ provider, variable }) =>
          variable === null ? provider : `${provider} (${variable})`
        )
        return yield* new CommandFailed({ message: `not usable now: ${names.join(", ")}` })
      }
    }).pipe(Effect.provide(ProviderLayer(providerOptions(settings)).pipe(Layer.provide(Timers.layer))))
}

const rowOf = ({ detail, latencyMillis, models, provider, status, variable }: ProbedProvider & { models: number }) => [
  provider,
  variable ?? "none",
  detail ?? status,
  String(models),
  String(latencyMillis)
]
