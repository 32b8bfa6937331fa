import { createHash } from "node:crypto"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { type BillingMode, BillingModes } from "../../../account/credentials/BillingModes.ts"
import { type Credential, type CredentialPatch, Credentials } from "../../../account/credentials/Credentials.ts"
import { AccountIdempotency } from "../../../account/idempotency/AccountIdempotency.ts"
import { CredentialId, type ProjectId } from "../../../domain/Ids.ts"
import { ProjectAccess } from "../../../identity/projects/ProjectAccess.ts"
import { CredentialOut, type UpdateCredentialRequest } from "../../../wire/account/Credentials.ts"
import { AccountApi } from "../AccountApi.ts"
import { entityTag, requireMatch } from "../EntityTag.ts"
import { idempotent, withHeader } from "../Idempotent.ts"
import { charactersIn, pageOfLarge } from "../Paging.ts"

export const credentialsHandlers = HttpApiBuilder.group(AccountApi, "credentials", (handlers) =>
  Effect.gen(function* () {
    const credentials = yield* Credentials
    const billingModes = yield* BillingModes
    const idempotency = yield* AccountIdempotency
    const access = yield* ProjectAccess

    /** Each is sent with its version. */
    const sent = (credential: Credential) => Effect.as(withHeader("etag", tagOf(credential)), outOf(credential))
    const modeSent = (project: ProjectId) => (mode: BillingMode) =>
      Effect.as(withHeader("etag", entityTag([project, mode])), { billing_mode: mode })

    return handlers
      .handle("getBillingMode", ({ path }) => Effect.flatMap(billingModes.read(path.id), modeSent(path.id)))
      .handle("setBillingMode", ({ headers, path, payload }) =>
        Effect.flatMap(
          billingModes.write(path.id, payload.billing_mode, (mode) =>
            requireMatch(headers["if-match"], entityTag([path.id, mode]))
          ),
          modeSent(path.id)
        )
      )
      .handle("listCredentials", ({ path, urlParams }) =>
        pageOfLarge(
          "credentials",
          urlParams,
          (id) => CredentialId.make(id),
          (max, before) => credentials.list(path.id, max, before),
          outOf,
          { atOnce: 32, charactersOf: ({ allowedModels }) => charactersIn(allowedModels) }
        )
      )
      .handle("createCredential", ({ headers, path, payload }) => {
        const { allowed_models: allowedModels = null, label, provider, secret } = payload
        return idempotent(
          idempotency,
          headers["idempotency-key"],
          {
            // a Redacted is the same text whatever it holds
            body: { allowedModels, label, provider, secret: digestOf(secret) },
            schema: CredentialOut,
            mayReplay: access.require(path.id, "member")
          },
          Effect.map(credentials.create(path.id, { allowedModels, label, provider, secret }), outOf)
        )
      })
      .handle("getCredential", ({ path }) => Effect.flatMap(credentials.read(path.id), sent))
      .handle("updateCredential", ({ headers, path, payload }) =>
        Effect.flatMap(
          credentials.update(path.id, patchOf(payload), (found) => requireMatch(headers["if-match"], tagOf(found))),
          sent
        )
      )
      .handle("deleteCredential", ({ path }) => credentials.remove(path.id))
      .handle("verifyCredential", ({ path }) =>
        Effect.map(credentials.verify(path.id), ({ error, latencyMillis, model, status }) => ({
          status,
          model,
          latency_ms: latencyMillis,
          error
        }))
      )
  })
)

const digestOf = (secret: Redacted.Redacted): string =>
  createHash("sha256").update(Redacted.value(secret)).digest("hex")

const patchOf = ({ allowed_models, label, secret }: UpdateCredentialRequest): CredentialPatch => ({
  ...(label === undefined ? {} : { label }),
  ...(secret === undefined ? {} : { secret }),
  ...(allowed_models === undefined ? {} : { allowedModels: allowed_models })
})

/** Of the secret no more than its end can be shown; its change moves the time by a millisecond at least. */
const tagOf = ({ allowedModels, id, label, masked, updatedAt }: Credential): string =>
  entityTag([id, label, masked, JSON.stringify(allowedModels), updatedAt.getTime()])

const outOf = (credential: Credential): typeof CredentialOut.Type => ({
  id: credential.id,
  project_id: credential.projectId,
  provider: credential.provider,
  label: credential.label,
  masked_secret: credential.masked,
  allowed_models: credential.allowedModels,
  created_at: credential.createdAt,
  updated_at: credential.updatedAt
})
