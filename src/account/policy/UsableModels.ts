import * as Effect from "effect/Effect"
import { Catalog, type Snapshot } from "../../catalog/Catalog.ts"
import { CredentialStore } from "../../credentials/CredentialStore.ts"
import type { CallerShape } from "../../domain/Caller.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import type { Model } from "../../domain/Model.ts"
import { credentialsFor } from "../../routing/CredentialChoice.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"

/** The models that the calls of a project can use by its credentials, as `GET /v1/models` shows them; no policy is applied. */
export const usableModels = Effect.gen(function* () {
  const catalog = yield* Catalog
  const credentials = yield* CredentialStore
  const transactions = yield* AccountTransactions
  return (project: ProjectId, billingMode: CallerShape["billingMode"]) =>
    billingMode === "managed"
      ? Effect.succeed(catalog.snapshot())
      : Effect.map(
          transactions.commit(() => credentials.ofProject(project)),
          (rows): Snapshot => {
            const own = rows.map(({ allowedModels, provider }) => ({ allowedModels, providerId: provider }))
            const snapshot = catalog.callerSnapshot()
            const usable = (model: Model): boolean => credentialsFor(own, model).length > 0
            return { ...snapshot, models: snapshot.models.filter(usable), listed: snapshot.listed.filter(usable) }
          }
        )
})
