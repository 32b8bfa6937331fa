import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Catalog } from "../../catalog/Catalog.ts"
import { inDollars } from "../../domain/Money.ts"
import { Timers } from "../../domain/Timers.ts"
import { ProviderLayer } from "../../provider/ProviderLayer.ts"
import { providerOptions } from "../ProviderSettings.ts"
import type { Command } from "./Command.ts"
import { Operations } from "./Operations.ts"
import { jsonOption, print, table } from "./Output.ts"
import { withOperations } from "./WithOperations.ts"

export const projects: Command = {
  name: "projects",
  about: "the projects of all accounts",
  positionals: [],
  options: { ...jsonOption },
  run: ({ given, settings }) =>
    Effect.gen(function* () {
      const all = yield* Effect.flatMap(Operations, (operations) => operations.projects)
      const rows = all.map((project) => [
        project.id,
        project.name,
        project.account_id,
        project.billing_mode,
        inDollars(project.total_spent_microusd),
        project.spend_limit_microusd === null ? "none" : inDollars(project.spend_limit_microusd)
      ])
      yield* print(given, all, table(["id", "name", "account", "billing", "spent", "limit"], rows))
    }).pipe(withOperations(settings))
}

/** Of the settings, before any project's policy. */
export const models: Command = {
  name: "models",
  about: "the models that these settings make available, with prices per million tokens",
  positionals: [],
  options: { ...jsonOption },
  run: ({ given, settings }) =>
    Effect.gen(function* () {
      const listed = (yield* Catalog).snapshot().models.filter((model) => model.listed)
      const values = listed.map(({ contextTokens, id, outputTokens, prices, providerId }) => ({
        id,
        provider: providerId,
        input_price_microusd_per_million: prices?.input ?? null,
        output_price_microusd_per_million: prices?.output ?? null,
        context_tokens: contextTokens,
        output_tokens: outputTokens
      }))
      const rows = values.map((model) => [
        model.id,
        priceOf(model.input_price_microusd_per_million),
        priceOf(model.output_price_microusd_per_million),
        String(model.context_tokens ?? "unknown"),
        String(model.output_tokens ?? "unknown")
      ])
      yield* print(given, values, table(["id", "input", "output", "context", "max output"], rows))
    }).pipe(Effect.provide(ProviderLayer(providerOptions(settings)).pipe(Layer.provide(Timers.layer))))
}

const priceOf = (price: number | null): string => (price === null ? "unknown" : inDollars(price))
