import * as Either from "effect/Either"
import { buildModels } from "../../../src/catalog/Build.ts"
import { makeSnapshot, type Snapshot } from "../../../src/catalog/Catalog.ts"
import { builtInCatalog } from "../../../src/catalog/CatalogFile.ts"
import { intersectPolicies } from "../../../src/policy/EffectivePolicy.ts"
import { sameFigure } from "../../../src/routing/ModelTable.ts"
import { classify } from "../../../src/routing/quality/Classify.ts"
import { expectedOutputTokens, qualityFor } from "../../../src/routing/quality/QualityTable.ts"
import { featuresOf } from "../../../src/routing/RequestFeatures.ts"
import { rank } from "../../../src/routing/Router.ts"
import { controls, everythingNative, healthy, project, request } from "../models.ts"

const vendors = builtInCatalog.providers.map(({ id, protocol }) => ({
  id,
  protocol,
  support: everythingNative,
  billsAbortedCalls: true
}))

const models = buildModels({ data: builtInCatalog, vendors, configured: [], patches: {} })

/** Every model of the built-in catalog. */
export const wholeCatalog: Snapshot = makeSnapshot(models)

export const catalogOf = (provider: string): Snapshot =>
  makeSnapshot(models.filter(({ providerId }) => providerId === provider))

/** The model that `auto` chooses for a prompt, without any call before it. */
export const chosen = (snapshot: Snapshot, text: string, alpha: number | null): string => {
  const asked = request({ messages: [{ role: "user", content: text }] })
  const classes = classify(asked, 40)
  const ranked = rank({
    snapshot,
    policy: intersectPolicies(project({ defaultAlpha: alpha }), null, controls()),
    request: asked,
    features: featuresOf(asked, false, 40, classes),
    quality: qualityFor(classes),
    outputTokens: sameFigure(expectedOutputTokens(classes)),
    health: () => healthy,
    nowMillis: 0,
    billingMode: "managed"
  })
  return Either.getOrThrow(ranked).candidates.first.model.id
}

/** Share of the pairs whose two prompts go to one model. */
export const sameShare = (snapshot: Snapshot, pairs: ReadonlyArray<readonly [string, string]>, alpha: number): number =>
  pairs.filter(([one, other]) => chosen(snapshot, one, alpha) === chosen(snapshot, other, alpha)).length / pairs.length
