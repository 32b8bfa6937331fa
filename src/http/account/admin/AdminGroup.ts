import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { AdminProjectOut, AdminProjectsPage, CreateProjectRequest, UsersPage } from "../../../wire/account/Admin.ts"
import { PageParameters } from "../../../wire/account/Page.ts"
import * as Errors from "../DeclaredErrors.ts"
import { IdempotencyHeaders } from "../Idempotent.ts"
import { Identity } from "../Identity.ts"

const listAllProjects = HttpApiEndpoint.get("listAllProjects", "/api/admin/projects")
  .setUrlParams(PageParameters("all-projects"))
  .addSuccess(AdminProjectsPage)
  .addError(Errors.OperatorRequired)
  .annotate(OpenApi.Summary, "List the projects of all accounts")

const createProject = HttpApiEndpoint.post("createProject", "/api/admin/projects")
  .setHeaders(IdempotencyHeaders)
  .setPayload(CreateProjectRequest)
  .addSuccess(AdminProjectOut, { status: 201 })
  .addError(Errors.OperatorRequired)
  .addError(Errors.NotFound)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Create a project with a policy in the account of any user")

const listUsers = HttpApiEndpoint.get("listUsers", "/api/admin/users")
  .setUrlParams(PageParameters("users"))
  .addSuccess(UsersPage)
  .addError(Errors.OperatorRequired)
  .annotate(OpenApi.Summary, "List all users")

export const AdminGroup = HttpApiGroup.make("admin")
  .add(listAllProjects)
  .add(createProject)
  .add(listUsers)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Administration; requires the operator role.")
