import { buildModels } from "../../../../src/catalog/Build.ts"
import { builtInCatalog } from "../../../../src/catalog/CatalogFile.ts"
import type { Model } from "../../../../src/domain/Model.ts"
import { anthropic } from "../../../../src/provider/vendors/Anthropic.ts"
import { describe } from "../../../../src/provider/vendors/Vendor.ts"

const models = buildModels({ data: builtInCatalog, vendors: [describe(anthropic)], configured: [], patches: {} })

/** A model of Anthropic's as the catalog has it. */
export const claude = (name: string): Model => {
  const found = models.find((model) => model.upstreamModel === name)
  if (found === undefined) throw new Error(`the catalog does not have ${name}`)
  return found
}
