import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { PageParameters } from "../../../wire/account/Page.ts"
import {
  CreateMyProjectRequest,
  MeOut,
  ProjectOut,
  ProjectsPage,
  UpdateProjectRequest
} from "../../../wire/account/Projects.ts"
import * as Errors from "../DeclaredErrors.ts"
import { IfMatchHeaders } from "../EntityTag.ts"
import { IdempotencyHeaders } from "../Idempotent.ts"
import { Identity } from "../Identity.ts"
import { ProjectPath } from "../ProjectPath.ts"

const getMe = HttpApiEndpoint.get("getMe", "/api/me")
  .addSuccess(MeOut)
  .annotate(OpenApi.Summary, "Get the current user, with their accounts and roles")

const listMyProjects = HttpApiEndpoint.get("listMyProjects", "/api/me/projects")
  .setUrlParams(PageParameters("projects"))
  .addSuccess(ProjectsPage)
  .annotate(OpenApi.Summary, "List the projects that the current user may use")

const createMyProject = HttpApiEndpoint.post("createMyProject", "/api/me/projects")
  .setHeaders(IdempotencyHeaders)
  .setPayload(CreateMyProjectRequest)
  .addSuccess(ProjectOut, { status: 201 })
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Create a project in the caller's account")
  .annotate(
    OpenApi.Description,
    "A new project allows every model and has no limit. An account can have at most 1,000 projects; an operator can create more."
  )

const getProject = HttpApiEndpoint.get("getProject", "/api/projects/:id")
  .setPath(ProjectPath)
  .addSuccess(ProjectOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Get a project")

const updateProject = HttpApiEndpoint.patch("updateProject", "/api/projects/:id")
  .setPath(ProjectPath)
  .setHeaders(IfMatchHeaders)
  .setPayload(UpdateProjectRequest)
  .addSuccess(ProjectOut)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.VersionMismatch)
  .annotate(OpenApi.Summary, "Update the name or the limits of a project")
  .annotate(OpenApi.Description, "Requires the owner role. Omitted fields remain unchanged.")

const deleteProject = HttpApiEndpoint.del("deleteProject", "/api/projects/:id")
  .setPath(ProjectPath)
  .addSuccess(HttpApiSchema.NoContent)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.ProjectNotEmpty)
  .addError(Errors.ManagedByConfiguration)
  .annotate(OpenApi.Summary, "Delete a project")
  .annotate(
    OpenApi.Description,
    "Requires the owner role. Possible only while no key of the project is active. Its calls are retained."
  )

export const ProjectsGroup = HttpApiGroup.make("projects")
  .add(getMe)
  .add(listMyProjects)
  .add(createMyProject)
  .add(getProject)
  .add(updateProject)
  .add(deleteProject)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Projects, which keys, limits and policies belong to.")
