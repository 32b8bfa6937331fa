import * as Either from "effect/Either"
import type { Snapshot } from "../catalog/Catalog.ts"
import type { CallerShape } from "../domain/Caller.ts"
import type { ChatRequest } from "../domain/Chat.ts"
import { ModelNotFound } from "../domain/GatewayError.ts"
import type { Model } from "../domain/Model.ts"
import { plainTerms } from "../domain/Prices.ts"
import type { ProviderCredential } from "../domain/ProviderCredential.ts"
import { type EffectivePolicy, excludedBy } from "../policy/EffectivePolicy.ts"
import { credentialsFor } from "./CredentialChoice.ts"
import { filterEligible } from "./Eligibility.ts"
import { poolOf } from "./ModelPool.ts"
import { tableOf } from "./ModelTable.ts"
import { noneEligible, type RankFailure } from "./NoneEligible.ts"
import type { RankContext } from "./Router.ts"

/** The models of `GET /v1/models`: health, balance and limits do not change them. `credentials` are those of the project that calls use. */
export const permittedModels = (
  snapshot: Snapshot,
  policy: EffectivePolicy,
  billingMode: CallerShape["billingMode"] = "managed",
  credentials: ReadonlyArray<ProviderCredential> | null = null
): ReadonlyArray<Model> =>
  snapshot.listed.filter(
    (model) =>
      excludedBy(policy, model, 0) === null &&
      (model.prices !== null || billingMode === "byok") &&
      (credentials === null || credentialsFor(credentials, model).length > 0)
  )

/** The models that a request names and may use; not whether they take what it asks for. */
export const namedModels = (
  request: ChatRequest,
  {
    billingMode,
    credentialOf,
    policy,
    snapshot
  }: Pick<RankContext, "billingMode" | "credentialOf" | "policy" | "snapshot">
): Either.Either<ReadonlyArray<Model>, RankFailure> => {
  const pool = poolOf(request.model, snapshot)
  if (pool === null) return Either.left(new ModelNotFound({ model: request.model }))
  const table = tableOf(pool.models)
  const eligibility = filterEligible(table, {
    policy,
    maxOutputTokens: undefined,
    requirements: [],
    promptTokens: 0,
    imagesAndFiles: 0,
    billingMode,
    terms: plainTerms,
    termsOf: () => plainTerms,
    reasons: () => false,
    credentialOf
  })
  return eligibility.permitted === 0
    ? Either.left(noneEligible(request, pool.pinned, eligibility))
    : Either.right(eligibility.eligible.flatMap((at) => table.models[at] ?? []))
}
