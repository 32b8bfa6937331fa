import { builtInCatalog } from "../catalog/CatalogFile.ts"
import { withoutEffect } from "../catalog/WithoutEffect.ts"
import type * as Settings from "../config/Settings.ts"
import { isMasterKey } from "../credentials/MasterKey.ts"
import { wellFormed } from "../identity/keys/ApiKey.ts"
import { unsentEfforts } from "../provider/protocols/UnsentEfforts.ts"
import * as Simulated from "../provider/simulated/Models.ts"
import { simulatedIds } from "../provider/simulated/Simulated.ts"
import { vendors } from "../provider/vendors/Vendors.ts"

const catalogModels = new Map([...builtInCatalog.models, ...Simulated.models].map((model) => [model.id, model]))

/** The vendors, models and formats of this build, for validating the settings. */
export const loadOptions: Settings.LoadOptions = {
  vendors: vendors.map((vendor) => ({ id: vendor.id, env: vendor.credentialEnv })),
  isApiKey: wellFormed,
  isMasterKey,
  builtInIds: [...vendors.map((vendor) => vendor.id), ...simulatedIds],
  vendorIds: vendors.map((vendor) => vendor.id),
  vendorIdsWithoutBaseUrl: vendors.filter((vendor) => vendor.needsBaseUrl === true).map((vendor) => vendor.id),
  catalogModelIds: new Set(catalogModels.keys()),
  vendorProtocols: new Map(vendors.map((vendor) => [vendor.id, vendor.protocol.id])),
  withoutEffect,
  unsentEfforts: ({ id, protocol, upstreamModel }) => {
    const known = catalogModels.get(id)
    // a budget in tokens is a share for each effort
    if (known?.reasoning?.style === "budget" || known?.reasoning?.style === "toggle") return []
    return unsentEfforts(protocol, upstreamModel ?? known?.upstreamModel ?? id)
  }
}
