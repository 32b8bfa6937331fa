import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { PolicyInput, PolicyOut, PolicySimulationOut } from "../../../wire/account/Policy.ts"
import { AlphaCurveOut, Calls, maxCalls } from "../../../wire/account/Replay.ts"
import * as Errors from "../DeclaredErrors.ts"
import { IfMatchHeaders } from "../EntityTag.ts"
import { Identity } from "../Identity.ts"
import { ProjectPath } from "../ProjectPath.ts"

const getPolicy = HttpApiEndpoint.get("getPolicy", "/api/projects/:id/policy")
  .setPath(ProjectPath)
  .addSuccess(PolicyOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Get the policy of a project")

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
    "Requires the member role. Omitted fields are unrestricted. Takes effect on every node within a second, within five on a node that receives no notifications."
  )

const simulatePolicy = HttpApiEndpoint.post("simulatePolicy", "/api/projects/:id/policy/simulate")
  .setPath(ProjectPath)
  .setPayload(PolicyInput)
  .addSuccess(PolicySimulationOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Simulate a policy")
  .annotate(
    OpenApi.Description,
    `Nothing is written. \`replay\` re-ranks the newest \`auto\` calls of the project, at most ${maxCalls}, under the current and the requested policy.`
  )

const getAlphaCurve = HttpApiEndpoint.get("getAlphaCurve", "/api/projects/:id/alpha-curve")
  .setPath(ProjectPath)
  .setUrlParams(
    Schema.Struct({
      calls: Schema.optionalWith(Calls, { default: () => maxCalls }).annotations({
        description: `Number of the newest \`auto\` calls to re-rank: 1 to ${maxCalls}, the default.`
      })
    })
  )
  .addSuccess(AlphaCurveOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Get the cost and quality of past calls at each alpha")
  .annotate(
    OpenApi.Description,
    "Re-ranks past calls from the features that the router saw, which contain no text: under the current policy, at every alpha from 0 to 1 in steps of 0.05. Costs and qualities are expected values, assuming that all routes are healthy; the conversation that a call was part of is not taken into account."
  )

export const PolicyGroup = HttpApiGroup.make("policy")
  .add(getPolicy)
  .add(putPolicy)
  .add(simulatePolicy)
  .add(getAlphaCurve)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Which models and providers the keys of a project may use.")
