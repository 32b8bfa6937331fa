import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { PolicyInput, PolicyOut, PolicySimulationOut } from "../../../wire/account/Policy.ts"
import * as Errors from "../DeclaredErrors.ts"
import { IfMatchHeaders } from "../EntityTag.ts"
import { Identity } from "../Identity.ts"
import { ProjectPath } from "../ProjectPath.ts"

const getPolicy = HttpApiEndpoint.get("getPolicy", "/api/projects/:id/policy")
  .setPath(ProjectPath)
  .addSuccess(PolicyOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "The policy of a project")

const putPolicy = HttpApiEndpoint.put("putPolicy", "/api/projects/:id/policy")
  .setPath(ProjectPath)
  .setHeaders(IfMatchHeaders)
  .setPayload(PolicyInput)
  .addSuccess(PolicyOut)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.ManagedByConfiguration)
  .addError(Errors.VersionMismatch)
  .annotate(OpenApi.Summary, "Replace the policy of a project")
  .annotate(
    OpenApi.Description,
    "For members. A field that is left out is unrestricted. In force on every node within a second, within five on one that hears no notifications."
  )

const simulatePolicy = HttpApiEndpoint.post("simulatePolicy", "/api/projects/:id/policy/simulate")
  .setPath(ProjectPath)
  .setPayload(PolicyInput)
  .addSuccess(PolicySimulationOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "What a policy would change")
  .annotate(OpenApi.Description, "Nothing is written.")

export const PolicyGroup = HttpApiGroup.make("policy")
  .add(getPolicy)
  .add(putPolicy)
  .add(simulatePolicy)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Which models and providers the keys of a project may use.")
