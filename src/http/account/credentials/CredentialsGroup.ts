import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { CredentialId } from "../../../domain/Ids.ts"
import {
  BillingModeInput,
  CreateCredentialRequest,
  CredentialCheckOut,
  CredentialOut,
  CredentialsPage,
  UpdateCredentialRequest
} from "../../../wire/account/Credentials.ts"
import { PageParameters } from "../../../wire/account/Page.ts"
import { sentId } from "../../../wire/account/SentId.ts"
import * as Errors from "../DeclaredErrors.ts"
import { IfMatchHeaders } from "../EntityTag.ts"
import { IdempotencyHeaders } from "../Idempotent.ts"
import { Identity } from "../Identity.ts"
import { ProjectPath } from "../ProjectPath.ts"

const CredentialPath = Schema.Struct({ id: sentId(CredentialId, "Id of the credential.") })

const getBillingMode = HttpApiEndpoint.get("getBillingMode", "/api/projects/:id/billing-mode")
  .setPath(ProjectPath)
  .addSuccess(BillingModeInput)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Get the billing mode of a project")

const setBillingMode = HttpApiEndpoint.put("setBillingMode", "/api/projects/:id/billing-mode")
  .setPath(ProjectPath)
  .setHeaders(IfMatchHeaders)
  .setPayload(BillingModeInput)
  .addSuccess(BillingModeInput)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.CredentialRequired)
  .addError(Errors.VersionMismatch)
  .annotate(OpenApi.Summary, "Set the billing mode of a project")
  .annotate(
    OpenApi.Description,
    "Requires the owner role. With `byok`, calls use the project's credentials, and models of providers without one are not eligible."
  )

const listCredentials = HttpApiEndpoint.get("listCredentials", "/api/projects/:id/credentials")
  .setPath(ProjectPath)
  .setUrlParams(PageParameters("credentials"))
  .addSuccess(CredentialsPage)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "List the provider credentials of a project")

const createCredential = HttpApiEndpoint.post("createCredential", "/api/projects/:id/credentials")
  .setPath(ProjectPath)
  .setHeaders(IdempotencyHeaders)
  .setPayload(CreateCredentialRequest)
  .addSuccess(CredentialOut, { status: 201 })
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.AlreadyExists)
  .addError(Errors.IdempotencyKeyInProgress)
  .addError(Errors.SealingUnavailable)
  .annotate(OpenApi.Summary, "Create a provider credential in a project")
  .annotate(OpenApi.Description, "The secret is stored encrypted and never returned.")

const getCredential = HttpApiEndpoint.get("getCredential", "/api/credentials/:id")
  .setPath(CredentialPath)
  .addSuccess(CredentialOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Get a credential without its secret")

const updateCredential = HttpApiEndpoint.patch("updateCredential", "/api/credentials/:id")
  .setPath(CredentialPath)
  .setHeaders(IfMatchHeaders)
  .setPayload(UpdateCredentialRequest)
  .addSuccess(CredentialOut)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.AlreadyExists)
  .addError(Errors.VersionMismatch)
  .addError(Errors.SealingUnavailable)
  .annotate(OpenApi.Summary, "Update the label, secret or models of a credential")
  .annotate(OpenApi.Description, "Omitted fields remain unchanged.")

const deleteCredential = HttpApiEndpoint.del("deleteCredential", "/api/credentials/:id")
  .setPath(CredentialPath)
  .addSuccess(HttpApiSchema.NoContent)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .annotate(OpenApi.Summary, "Delete a credential with its secret")

const verifyCredential = HttpApiEndpoint.post("verifyCredential", "/api/credentials/:id/verify")
  .setPath(CredentialPath)
  .addSuccess(CredentialCheckOut)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.SealingUnavailable)
  .annotate(OpenApi.Summary, "Verify a credential with its provider")
  .annotate(
    OpenApi.Description,
    "Asks the provider for its list of models, which costs nothing. Where that says nothing about the credential, requests one token from a model, which the provider may charge. Ends after 5 seconds."
  )

export const CredentialsGroup = HttpApiGroup.make("credentials")
  .add(getBillingMode)
  .add(setBillingMode)
  .add(listCredentials)
  .add(createCredential)
  .add(getCredential)
  .add(updateCredential)
  .add(deleteCredential)
  .add(verifyCredential)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Provider credentials and billing mode of projects.")
