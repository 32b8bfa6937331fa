import * as Schema from "effect/Schema"
import { CredentialId, ProjectId } from "../../domain/Ids.ts"
import { listOf, matching, storedText } from "../validation/SchemaParts.ts"
import { pageOf } from "./Page.ts"
import { named } from "./Projects.ts"
import { strict } from "./Strict.ts"
import { timestamp } from "./Times.ts"

export const BillingModeInput = strict({
  billing_mode: Schema.Literal("managed", "byok").annotations({
    description:
      "managed: calls are paid from the balance. byok: calls are paid with the project's own provider credentials."
  })
}).annotations({ identifier: "BillingModeInput" })

/** It becomes a header of requests to the provider. */
const Secret = Schema.Redacted(matching(/^[\x21-\x7e]{8,8192}$/, "8 to 8192 printable ASCII characters without spaces"))

const AllowedModels = Schema.NullOr(listOf(storedText(200), { min: 1, max: 200 }))
const allowedModels = "Models that it may be used for, as ids, `<prefix>/*` or `*`; null: all models of the provider."

export const CreateCredentialRequest = strict({
  provider: storedText(120).annotations({ description: "Provider id, such as `openai`." }),
  label: named("Label, 1 to 200 characters, unique per provider in the project."),
  secret: Secret.annotations({ description: "The provider's API key or token; never returned." }),
  allowed_models: Schema.optional(AllowedModels).annotations({ description: allowedModels })
}).annotations({ identifier: "CreateCredentialRequest" })

export const UpdateCredentialRequest = strict({
  label: Schema.optionalWith(named("Label, 1 to 200 characters."), { exact: true }),
  secret: Schema.optionalWith(Secret, { exact: true }).annotations({ description: "The new secret." }),
  allowed_models: Schema.optionalWith(AllowedModels, { exact: true }).annotations({ description: allowedModels })
}).annotations({ identifier: "UpdateCredentialRequest" })
export type UpdateCredentialRequest = typeof UpdateCredentialRequest.Type

export const CredentialOut = Schema.Struct({
  id: CredentialId.annotations({ description: "Id of the credential." }),
  project_id: ProjectId.annotations({ description: "The project whose calls use the credential." }),
  provider: Schema.String.annotations({ description: "Id of the provider." }),
  label: Schema.String.annotations({ description: "Label of the credential." }),
  masked_secret: Schema.String.annotations({ description: "The last four characters of the secret, as `…abcd`." }),
  allowed_models: Schema.NullOr(Schema.Array(Schema.String)).annotations({ description: allowedModels }),
  created_at: timestamp("When it was created."),
  updated_at: timestamp("When it was last updated.")
}).annotations({ identifier: "CredentialOut" })

export const CredentialsPage = pageOf("CredentialsPage", CredentialOut)

export const CredentialCheckOut = Schema.Struct({
  status: Schema.Literal("accepted", "rejected", "unknown").annotations({
    description: "unknown: the provider could not be reached, or failed for another reason; see `error`."
  }),
  model: Schema.NullOr(Schema.String).annotations({
    description:
      "The model from which one token was requested, the cheapest that the credential allows; null: there is none, or the provider's model list was sufficient."
  }),
  latency_ms: Schema.Int.annotations({ description: "Duration of the check, in milliseconds; it ends after 5,000." }),
  error: Schema.NullOr(
    Schema.Struct({
      code: Schema.String.annotations({ description: "Error code as for calls, or `credential_rejected`." }),
      message: Schema.String.annotations({ description: "Human-readable error message." })
    })
  ).annotations({ description: "Null where the credential is accepted." })
}).annotations({ identifier: "CredentialCheckOut" })
