import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Catalog } from "../../catalog/Catalog.ts"
import { requireProvider } from "../../config/Settings.ts"
import { Timers } from "../../domain/Timers.ts"
import { ProviderLayer } from "../../provider/ProviderLayer.ts"
import type { ProbeStatus } from "../../provider/probe/Probe.ts"
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
    "validate environment and configuration, try database and master key, and ask each provider whether it accepts its credential; costs nothing. Fails for a database, a master key or a provider that cannot be used, not for warnings or what cannot be verified",
  positionals: [],
  options: { ...jsonOption },
  run: ({ given, settings, variables }) =>
    Effect.gen(function* () {
      yield* requireProvider(settings)
      const snapshot = (yield* Catalog).snapshot()
      const probed = yield* probeAll(settings)
      const providers = probed.map((one) => ({
        ...one,
        verdict: verdicts[one.status],
        models: snapshot.models.filter(({ listed, providerId }) => listed && providerId === one.provider).length
      }))
      const simulated = snapshot.models.filter(({ listed, providerId }) => listed && /^sim2?$/.test(providerId)).length
      const unusable = yield* loaded(
        () => import("../SealedValues.ts"),
        ({ beforeStart }) => beforeStart(settings)
      )
      const warnings = warningsOf(settings, variables, snapshot)
      yield* print(
        given,
        { providers, simulated_models: simulated, warnings, problems: unusable === null ? [] : [unusable] },
        [
          "The configuration is valid.",
          ...warnings.map(({ message, path }) => `warning: ${path} ${message}`),
          ...(settings.simulated ? [`simulated providers: ${simulated} models`] : []),
          ...(providers.length === 0
            ? []
            : [table(["provider", "variable", "result", "models", "ms"], providers.map(rowOf)), countsOf(providers)])
        ].join("\n")
      )
      const failed = providers
        .filter(({ verdict }) => verdict === "unusable")
        .map(({ provider, variable }) => (variable === null ? provider : `${provider} (${variable})`))
      const problems = [
        ...(unusable === null ? [] : [`${unusable.path} ${unusable.message}`]),
        ...(failed.length === 0 ? [] : [`not usable now: ${failed.join(", ")}`])
      ]
      if (problems.length > 0) return yield* new CommandFailed({ message: problems.join("\n") })
    }).pipe(Effect.provide(ProviderLayer(providerOptions(settings)).pipe(Layer.provide(Timers.layer))))
}

/** A provider that has no list of models may serve its models all the same: that is neither verified nor wrong. */
const verdicts = {
  accepted: "verified",
  refused: "unusable",
  quota_exhausted: "unusable",
  unreachable: "unusable",
  unknown: "not_verifiable"
} as const satisfies Record<ProbeStatus, string>
type Verdict = (typeof verdicts)[ProbeStatus]

const verdictWords = { verified: "verified", unusable: "not usable", not_verifiable: "not verifiable" } as const

interface CheckedProvider extends ProbedProvider {
  readonly verdict: Verdict
  readonly models: number
}

/** How many providers have each verdict. */
const countsOf = (providers: ReadonlyArray<CheckedProvider>): string =>
  Object.entries(verdictWords)
    .map(([verdict, words]) => `${words}: ${providers.filter((one) => one.verdict === verdict).length}`)
    .join(", ")

const rowOf = ({ detail, latencyMillis, models, provider, variable, verdict }: CheckedProvider) => [
  provider,
  variable ?? "none",
  detail === null ? verdictWords[verdict] : `${verdictWords[verdict]}: ${detail}`,
  String(models),
  String(latencyMillis)
]
