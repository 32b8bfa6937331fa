import { builtInCatalog } from "../catalog/CatalogFile.ts"
import { withoutEffect } from "../catalog/WithoutEffect.ts"
import type { Effort } from "../domain/Chat.ts"
import type { EffortModel, ModelLimits } from "../domain/ModelRules.ts"
import type { ProtocolId } from "../domain/Support.ts"
import { unsentEfforts } from "./protocols/UnsentEfforts.ts"
import * as Simulated from "./simulated/Models.ts"

const catalogModels = new Map([...builtInCatalog.models, ...Simulated.models].map((model) => [model.id, model]))

/** Of all models of the built-in providers, usable or not. */
export const catalogModelIds: ReadonlySet<string> = new Set(catalogModels.keys())

/** Efforts that a provider of this protocol cannot be sent for the model. */
export const unsentEffortsOf = (protocol: string, { id, upstreamModel }: EffortModel): ReadonlyArray<Effort> => {
  const known = catalogModels.get(id)
  // a budget in tokens is a share for each effort
  if (known?.reasoning?.style === "budget" || known?.reasoning?.style === "toggle") return []
  return unsentEfforts(protocol, upstreamModel ?? known?.upstreamModel ?? id)
}

/** What cannot be set for a model of such a provider; `undefined`: the provider is not known. */
export const limitsOf = (protocol: ProtocolId | undefined): ModelLimits =>
  protocol === undefined
    ? { fields: [], capabilities: [], unsentEfforts: () => [] }
    : { ...withoutEffect[protocol], unsentEfforts: (model) => unsentEffortsOf(protocol, model) }
