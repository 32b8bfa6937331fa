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
  KeysParameters,
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
const shownOnce = "The response contains the full key, which is shown only once."
const maxOfProject = "A project can have at most 1,000 keys that are not revoked; an operator can create more."

const listMyKeys = HttpApiEndpoint.get("listMyKeys", "/api/me/keys")
  .setUrlParams(KeysParameters)
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
  .annotate(OpenApi.Description, `${shownOnce} ${maxOfProject} Not found if the user has no project.`)

const listKeys = HttpApiEndpoint.get("listKeys", "/api/projects/:id/keys")
  .setPath(ProjectPath)
  .setUrlParams(KeysParameters)
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
  .annotate(OpenApi.Description, `Requires the member role. ${shownOnce} ${maxOfProject}`)

const createAnyKey = HttpApiEndpoint.post("createAnyKey", "/api/admin/keys")
  .setHeaders(IdempotencyHeaders)
  .setPayload(CreateApiKeyRequest)
  .addSuccess(CreateApiKeyResponse, { status: 201 })
  .addError(Errors.NotFound)
  .addError(Errors.OperatorRequired)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Create a key in any project")
  .annotate(OpenApi.Description, `Requires the operator role. ${shownOnce}`)

const getKey = HttpApiEndpoint.get("getKey", "/api/keys/:id")
  .setPath(KeyPath)
  .addSuccess(ApiKeyOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Get a key")

const updateKey = HttpApiEndpoint.patch("updateKey", "/api/keys/:id")
  .setPath(KeyPath)
  .setHeaders(IfMatchHeaders)
  .setPayload(UpdateApiKeyRequest)
  .addSuccess(ApiKeyOut)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.VersionMismatch)
  .annotate(OpenApi.Summary, "Update a key")
  .annotate(
    OpenApi.Description,
    "Requires the member role. Omitted fields remain unchanged. Takes effect on every node within a second, within five on a node that receives no notifications; a spend limit immediately."
  )

const deleteKey = HttpApiEndpoint.del("deleteKey", "/api/keys/:id")
  .setPath(KeyPath)
  .addSuccess(HttpApiSchema.NoContent)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .annotate(OpenApi.Summary, "Delete a key")
  .annotate(
    OpenApi.Description,
    "Requires the member role. The key is revoked and no longer listed; its calls are retained."
  )

const rotateKey = HttpApiEndpoint.post("rotateKey", "/api/keys/:id/rotate")
  .setPath(KeyPath)
  .setHeaders(IdempotencyHeaders)
  .setPayload(RotateApiKeyRequest)
  .addSuccess(CreateApiKeyResponse)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Rotate a key's secret")
  .annotate(
    OpenApi.Description,
    `Requires the member role. The key keeps its id, limits and calls; the previous secret works until the grace period ends, an older one is revoked immediately. ${shownOnce}`
  )

const revokeKey = HttpApiEndpoint.post("revokeKey", "/api/keys/:id/revoke")
  .setPath(KeyPath)
  .addSuccess(ApiKeyOut)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .annotate(OpenApi.Summary, "Revoke a key")
  .annotate(
    OpenApi.Description,
    "Requires the member role. Permanently revokes all secrets of the key, including one in its grace period."
  )

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
  .annotate(OpenApi.Description, "Project keys, which applications send to `/v1`.")
