import { withoutEffect } from "../catalog/WithoutEffect.ts"
import type * as Settings from "../config/Settings.ts"
import { isMasterKey } from "../credentials/MasterKey.ts"
import { wellFormed } from "../identity/keys/ApiKey.ts"
import { catalogModelIds, unsentEffortsOf } from "../provider/ModelLimits.ts"
import { simulatedIds } from "../provider/simulated/Simulated.ts"
import { vendors } from "../provider/vendors/Vendors.ts"

/** The vendors, models and formats of this build, for validating the settings. */
export const loadOptions: Settings.LoadOptions = {
  vendors: vendors.map((vendor) => ({ id: vendor.id, env: vendor.credentialEnv })),
  isApiKey: wellFormed,
  isMasterKey,
  builtInIds: [...vendors.map((vendor) => vendor.id), ...simulatedIds],
  vendorIds: vendors.map((vendor) => vendor.id),
  vendorIdsWithoutBaseUrl: vendors.filter((vendor) => vendor.needsBaseUrl === true).map((vendor) => vendor.id),
  catalogModelIds,
  vendorProtocols: new Map(vendors.map((vendor) => [vendor.id, vendor.protocol.id])),
  withoutEffect,
  unsentEfforts: ({ protocol, ...model }) => unsentEffortsOf(protocol, model)
}
