import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { KeyId } from "../../../domain/Ids.ts"
import {
  ApiKeyOut,
  ApiKeysPage,
  CreateApiKeyRequest,
  CreateApiKeyResponse,
  CreateMyApiKeyRequest,
  NumberedPageParameters,
  RotateApiKeyRequest,
  UpdateApiKeyRequest
} from "../../../wire/account/Keys.ts"
import { sentId } from "../../../wire/account/SentId.ts"
import * as Errors from "../DeclaredErrors.ts"
import { IfMatchHeaders } from "../EntityTag.ts"
import { IdempotencyHeaders } from "../Idempotent.ts"
import { Identity } from "../Identity.ts"
import { ProjectPath } from "../ProjectPath.ts"

const KeyPath = Schema.Struct({ id: sentId(KeyId, "Id of the key.") })
const shownOnce = "The response has the complete key, which is shown only once."
const maxOfProject = "A project can have 1,000 keys that are not revoked; an operator can create more."

const listMyKeys = HttpApiEndpoint.get("listMyKeys", "/api/me/keys")
  .setUrlParams(NumberedPageParameters)
  .addSuccess(ApiKeysPage)
  .annotate(OpenApi.Summary, "List the keys of the default project")

const createMyKey = HttpApiEndpoint.post("createMyKey", "/api/me/keys")
  .setHeaders(IdempotencyHeaders)
  .setPayload(CreateMyApiKeyRequest)
  .addSuccess(CreateApiKeyResponse, { status: 201 })
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Create a key in the default project")
  .annotate(OpenApi.Description, `${shownOnce} ${maxOfProject} Without any project it is 404.`)

const listKeys = HttpApiEndpoint.get("listKeys", "/api/projects/:id/keys")
  .setPath(ProjectPath)
  .setUrlParams(NumberedPageParameters)
  .addSuccess(ApiKeysPage)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "List the keys of a project")

const createKey = HttpApiEndpoint.post("createKey", "/api/projects/:id/keys")
  .setPath(ProjectPath)
  .setHeaders(IdempotencyHeaders)
  .setPayload(CreateMyApiKeyRequest)
  .addSuccess(CreateApiKeyResponse, { status: 201 })
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Create a key in a project")
  .annotate(OpenApi.Description, `For members. ${shownOnce} ${maxOfProject}`)

const createAnyKey = HttpApiEndpoint.post("createAnyKey", "/api/admin/keys")
  .setHeaders(IdempotencyHeaders)
  .setPayload(CreateApiKeyRequest)
  .addSuccess(CreateApiKeyResponse, { status: 201 })
  .addError(Errors.NotFound)
  .addError(Errors.OperatorRequired)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Create a key in any project")
  .annotate(OpenApi.Description, `For operators. ${shownOnce}`)

const getKey = HttpApiEndpoint.get("getKey", "/api/keys/:id")
  .setPath(KeyPath)
  .addSuccess(ApiKeyOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "One key")

const updateKey = HttpApiEndpoint.patch("updateKey", "/api/keys/:id")
  .setPath(KeyPath)
  .setHeaders(IfMatchHeaders)
  .setPayload(UpdateApiKeyRequest)
  .addSuccess(ApiKeyOut)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.VersionMismatch)
  .annotate(OpenApi.Summary, "Change a key")
  .annotate(
    OpenApi.Description,
    "For members. A field that is left out stays as it is. In force on every node within a second, within five on one that hears no notifications; a spend limit at once."
  )

const deleteKey = HttpApiEndpoint.del("deleteKey", "/api/keys/:id")
  .setPath(KeyPath)
  .addSuccess(HttpApiSchema.NoContent)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .annotate(OpenApi.Summary, "Revoke and hide a key")
  .annotate(OpenApi.Description, "For members. Its calls stay.")

const rotateKey = HttpApiEndpoint.post("rotateKey", "/api/keys/:id/rotate")
  .setPath(KeyPath)
  .setHeaders(IdempotencyHeaders)
  .setPayload(RotateApiKeyRequest)
  .addSuccess(CreateApiKeyResponse)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Give a key a new secret")
  .annotate(
    OpenApi.Description,
    `For members. The key keeps its id, limits and calls; the secret before works until the grace ends, an older one ends now. ${shownOnce}`
  )

const revokeKey = HttpApiEndpoint.post("revokeKey", "/api/keys/:id/revoke")
  .setPath(KeyPath)
  .addSuccess(ApiKeyOut)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .annotate(OpenApi.Summary, "End a key for good")
  .annotate(OpenApi.Description, "For members. With every secret of it, a grace included.")

export const KeysGroup = HttpApiGroup.make("keys")
  .add(listMyKeys)
  .add(createMyKey)
  .add(listKeys)
  .add(createKey)
  .add(createAnyKey)
  .add(getKey)
  .add(updateKey)
  .add(deleteKey)
  .add(rotateKey)
  .add(revokeKey)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Project keys: what applications send to `/v1`.")
