import * as Effect from "effect/Effect"
import type { Resealed } from "../../credentials/SealedCredentials.ts"
import type { SealingUnavailable } from "../../domain/AccountError.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { AlertStore, type AlertStoreShape } from "./AlertStore.ts"
import { WebhookSecrets, type WebhookSecretsShape } from "./WebhookSecrets.ts"

const portion = 500

/** Seals the secrets of webhooks with the current master key; can be repeated. */
export const resealWebhooks: Effect.Effect<
  Resealed,
  SealingUnavailable | StoreUnavailable,
  AlertStore | WebhookSecrets
> = Effect.flatMap(Effect.all([AlertStore, WebhookSecrets]), ([store, secrets]) =>
  after(store, secrets, undefined, { resealed: 0, unreadable: 0 })
)

const after = (
  store: AlertStoreShape,
  secrets: WebhookSecretsShape,
  last: ProjectId | undefined,
  before: Resealed
): Effect.Effect<Resealed, SealingUnavailable | StoreUnavailable> =>
  Effect.gen(function* () {
    const rows = yield* store.secrets(last, portion)
    const end = rows.at(-1)
    if (end === undefined) return before
    let { resealed, unreadable } = before
    for (const row of rows) {
      const sealed = yield* secrets.resealed(row.projectId, row.sealed)
      if (sealed === undefined) unreadable++
      else if (sealed !== "current") {
        yield* store.reseal(row, sealed)
        resealed++
      }
    }
    return yield* after(store, secrets, end.projectId, { resealed, unreadable })
  })
