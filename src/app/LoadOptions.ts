import { builtInCatalog } from "../catalog/CatalogFile.ts"
import type * as Settings from "../config/Settings.ts"
import { wellFormed } from "../identity/ApiKey.ts"
import * as Simulated from "../provider/simulated/Models.ts"
import { vendors } from "../provider/vendors/Vendors.ts"

/** What the settings are judged against: the vendors, models and forms that this build knows. */
export const loadOptions: Settings.LoadOptions = {
  vendors: vendors.map((vendor) => ({ id: vendor.id, env: vendor.credentialEnv })),
  isApiKey: wellFormed,
  builtInIds: [...vendors.map((vendor) => vendor.id), "sim", "sim2"],
  vendorIds: vendors.map((vendor) => vendor.id),
  placelessVendorIds: vendors.filter((vendor) => vendor.needsBaseUrl === true).map((vendor) => vendor.id),
  catalogModelIds: new Set([...builtInCatalog.models, ...Simulated.models].map((model) => model.id))
}
