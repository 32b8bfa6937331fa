import * as Schema from "effect/Schema"
import { CredentialId, ProjectId } from "../../domain/Ids.ts"
import { listOf, storedText } from "../validation/SchemaParts.ts"
import { pageOf } from "./Page.ts"
import { Name } from "./Projects.ts"
import { strict } from "./Strict.ts"
import { timestamp } from "./Times.ts"

export const BillingModeInput = strict({
  billing_mode: Schema.Literal("managed", "byok").annotations({
    description: "managed: calls are paid from the balance. byok: by the project's own credentials."
  })
}).annotations({ identifier: "BillingModeInput" })

/** It becomes a header of requests to the provider. */
const Secret = Schema.Redacted(
  Schema.String.pipe(
    Schema.pattern(/^[\x21-\x7e]{8,8192}$/),
    Schema.annotations({ message: () => "8 to 8192 printable ASCII characters without spaces are expected" })
  )
)

const AllowedModels = Schema.NullOr(listOf(storedText(200), { min: 1, max: 200 }))
const allowedModels = "Ids, `<prefix>/*` or `*` of models that it may be used for; null: every model of the provider."

export const CreateCredentialRequest = strict({
  provider: storedText(120).annotations({ description: "Id of a provider of this gateway, such as `openai`." }),
  label: Name.annotations({ description: "1 to 200 characters, unique among those of the provider." }),
  secret: Secret.annotations({ description: "The provider's API key or token; it is never shown again." }),
  allowed_models: Schema.optional(AllowedModels).annotations({ description: allowedModels })
}).annotations({ identifier: "CreateCredentialRequest" })

export const UpdateCredentialRequest = strict({
  label: Schema.optionalWith(Name, { exact: true }).annotations({ description: "1 to 200 characters." }),
  secret: Schema.optionalWith(Secret, { exact: true }).annotations({ description: "Replaces the secret." }),
  allowed_models: Schema.optionalWith(AllowedModels, { exact: true }).annotations({ description: allowedModels })
}).annotations({ identifier: "UpdateCredentialRequest" })
export type UpdateCredentialRequest = typeof UpdateCredentialRequest.Type

export const CredentialOut = Schema.Struct({
  id: CredentialId.annotations({ description: "Id of the credential." }),
  project_id: ProjectId.annotations({ description: "The project whose calls use it." }),
  provider: Schema.String.annotations({ description: "Id of the provider." }),
  label: Schema.String.annotations({ description: "What it is called." }),
  masked_secret: Schema.String.annotations({ description: "The last four characters of the secret, as `…abcd`." }),
  allowed_models: Schema.NullOr(Schema.Array(Schema.String)).annotations({ description: allowedModels }),
  created_at: timestamp("When it was created."),
  updated_at: timestamp("When it was changed last.")
}).annotations({ identifier: "CredentialOut" })

export const CredentialsPage = pageOf("CredentialsPage", CredentialOut)

export const CredentialCheckOut = Schema.Struct({
  status: Schema.Literal("accepted", "rejected", "unknown").annotations({
    description: "unknown: the provider could not be asked, or has failed for another reason; `error` says which."
  }),
  model: Schema.NullOr(Schema.String).annotations({
    description:
      "The model that was asked for one token, the cheapest that the credential allows; null: there is none, or none had to be asked, since the provider's list of models said enough."
  }),
  latency_ms: Schema.Int.annotations({ description: "How long that took, in milliseconds; 5,000 at most." }),
  error: Schema.NullOr(
    Schema.Struct({
      code: Schema.String.annotations({ description: "As in the errors of calls, or `credential_rejected`." }),
      message: Schema.String.annotations({ description: "For people." })
    })
  ).annotations({ description: "Null where the credential is accepted." })
}).annotations({ identifier: "CredentialCheckOut" })
