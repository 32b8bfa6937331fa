import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { CatalogPage, CatalogParameters } from "../../../wire/account/Models.ts"
import { PageParameters } from "../../../wire/account/Page.ts"
import { RouteOut } from "../../../wire/account/Route.ts"
import {
  ActivateVersionRequest,
  CreateRoutingConfigurationRequest,
  RoutingConfigurationInput,
  RoutingConfigurationOut,
  RoutingConfigurationsPage,
  RoutingVersionsPage,
  Slug
} from "../../../wire/account/Routing.ts"
import * as Errors from "../DeclaredErrors.ts"
import { IfMatchHeaders } from "../EntityTag.ts"
import { IdempotencyHeaders } from "../Idempotent.ts"
import { Identity } from "../Identity.ts"
import { ProjectPath } from "../ProjectPath.ts"

const SlugPath = Schema.Struct({ ...ProjectPath.fields, slug: Slug })

const list = HttpApiEndpoint.get("listRoutingConfigurations", "/api/projects/:id/routing-configurations")
  .setPath(ProjectPath)
  .setUrlParams(PageParameters("routing-configurations"))
  .addSuccess(RoutingConfigurationsPage)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "List the routing configurations of a project")

const create = HttpApiEndpoint.post("createRoutingConfiguration", "/api/projects/:id/routing-configurations")
  .setPath(ProjectPath)
  .setHeaders(IdempotencyHeaders)
  .setPayload(CreateRoutingConfigurationRequest)
  .addSuccess(RoutingConfigurationOut, { status: 201 })
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.AlreadyExists)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Create a routing configuration")
  .annotate(
    OpenApi.Description,
    "Requires the member role. Its first version is active immediately, as `auto:<slug>`. A project whose policy or configurations GATEWAY_CONFIG manages can have further ones; if the file later contains the same slug, its settings replace them at the next start or reload and the configuration becomes read-only until the file no longer contains it; then the newest version is active again."
  )

const get = HttpApiEndpoint.get("getRoutingConfiguration", "/api/projects/:id/routing-configurations/:slug")
  .setPath(SlugPath)
  .addSuccess(RoutingConfigurationOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Get a routing configuration with its active version")

const put = HttpApiEndpoint.put("putRoutingConfiguration", "/api/projects/:id/routing-configurations/:slug")
  .setPath(SlugPath)
  .setHeaders(IfMatchHeaders)
  .setPayload(RoutingConfigurationInput)
  .addSuccess(RoutingConfigurationOut)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.ManagedByConfiguration)
  .addError(Errors.VersionMismatch)
  .annotate(OpenApi.Summary, "Create a new version of a routing configuration")
  .annotate(
    OpenApi.Description,
    "Requires the member role. The new version is active immediately; earlier versions remain unchanged."
  )

const remove = HttpApiEndpoint.del("deleteRoutingConfiguration", "/api/projects/:id/routing-configurations/:slug")
  .setPath(SlugPath)
  .addSuccess(HttpApiSchema.NoContent)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.ManagedByConfiguration)
  .annotate(OpenApi.Summary, "Delete a routing configuration with its versions")
  .annotate(OpenApi.Description, "Requires the member role.")

const versions = HttpApiEndpoint.get("listRoutingVersions", "/api/projects/:id/routing-configurations/:slug/versions")
  .setPath(SlugPath)
  .setUrlParams(PageParameters("routing-versions"))
  .addSuccess(RoutingVersionsPage)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "List the versions of a routing configuration")
  .annotate(
    OpenApi.Description,
    "The newest 1,000 versions before the last one are kept, and the active one; the audit log has what each version said."
  )

const activate = HttpApiEndpoint.post(
  "activateRoutingVersion",
  "/api/projects/:id/routing-configurations/:slug/activate"
)
  .setPath(SlugPath)
  .setPayload(ActivateVersionRequest)
  .addSuccess(RoutingConfigurationOut)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.ManagedByConfiguration)
  .annotate(OpenApi.Summary, "Activate another version of a routing configuration")
  .annotate(OpenApi.Description, "Requires the member role.")

const models = HttpApiEndpoint.get("listCatalog", "/api/models")
  .setUrlParams(CatalogParameters)
  .addSuccess(CatalogPage)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "List the model catalog, with prices, capabilities and health")
  .annotate(
    OpenApi.Description,
    "Ordered by id. Every model that this gateway can call, regardless of project policies; with `project_id` also those of vendors that only " +
      "the project has a credential for, while its billing mode is `byok`."
  )

/** Decoded as on `/v1`, whose errors it has. */
const AnyChatRequest = Schema.Unknown.annotations({
  identifier: "RouteRequest",
  description: "The body of `POST /v1/chat/completions`.",
  jsonSchema: { type: "object", description: "The body of `POST /v1/chat/completions`." }
})

const route = HttpApiEndpoint.post("previewRoute", "/api/projects/:id/route")
  .setPath(ProjectPath)
  .setPayload(AnyChatRequest)
  .addSuccess(RouteOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Preview the route of a request")
  .annotate(OpenApi.Description, "Nothing is sent to a provider, counted or charged.")

export const RoutingGroup = HttpApiGroup.make("routing")
  .add(list)
  .add(create)
  .add(get)
  .add(put)
  .add(remove)
  .add(versions)
  .add(activate)
  .add(models)
  .add(route)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Model selection: routing configurations, the model catalog, and a dry run.")
