import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { UserId } from "../../../domain/Ids.ts"
import { CreateMemberRequest, MemberOut, MembersPage } from "../../../wire/account/Members.ts"
import { PageParameters } from "../../../wire/account/Page.ts"
import { sentId } from "../../../wire/account/SentId.ts"
import * as Errors from "../DeclaredErrors.ts"
import { IdempotencyHeaders } from "../Idempotent.ts"
import { Identity } from "../Identity.ts"
import { ProjectPath } from "../ProjectPath.ts"

const listMembers = HttpApiEndpoint.get("listMembers", "/api/projects/:id/members")
  .setPath(ProjectPath)
  .setUrlParams(PageParameters("members"))
  .addSuccess(MembersPage)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "List the members of a project")

const addMember = HttpApiEndpoint.post("addMember", "/api/projects/:id/members")
  .setPath(ProjectPath)
  .setHeaders(IdempotencyHeaders)
  .setPayload(CreateMemberRequest)
  .addSuccess(MemberOut, { status: 201 })
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.AlreadyExists)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Add a member to a project")
  .annotate(
    OpenApi.Description,
    "Requires the owner role. To change a role, remove the member and add them again. A project can have at most 1,000 members besides the owner of its account."
  )

const removeMember = HttpApiEndpoint.del("removeMember", "/api/projects/:id/members")
  .setPath(ProjectPath)
  .setUrlParams(Schema.Struct({ user_id: sentId(UserId, "Id of the user.") }))
  .addSuccess(HttpApiSchema.NoContent)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .annotate(OpenApi.Summary, "Remove a member from a project")
  .annotate(
    OpenApi.Description,
    "Requires the owner role, except to remove oneself. The owner of the account cannot be removed: they are always an owner of the project."
  )

export const MembersGroup = HttpApiGroup.make("members")
  .add(listMembers)
  .add(addMember)
  .add(removeMember)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Members of projects and their roles.")
