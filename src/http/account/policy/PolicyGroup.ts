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
  .annotate(
    OpenApi.Description,
    `Nothing is written. \`replay\` ranks the newest calls of the project that named no model once more, at most ${maxCalls}, under the policy in force and under that of the request.`
  )

const getAlphaCurve = HttpApiEndpoint.get("getAlphaCurve", "/api/projects/:id/alpha-curve")
  .setPath(ProjectPath)
  .setUrlParams(
    Schema.Struct({
      calls: Schema.optionalWith(Calls, { default: () => maxCalls }).annotations({
        description: `How many of the newest calls that named no model are ranked again: 1 to ${maxCalls}, the default.`
      })
    })
  )
  .addSuccess(AlphaCurveOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "What past calls would have cost at each alpha")
  .annotate(
    OpenApi.Description,
    "Ranks past calls once more from what the router saw of them, which has no text: under the policy in force, at every alpha from 0 to 1 in steps of 0.05. Costs and qualities are expected ones, with all routes well; the conversation that a call was part of is not known to it."
  )

export const PolicyGroup = HttpApiGroup.make("policy")
  .add(getPolicy)
  .add(putPolicy)
  .add(simulatePolicy)
  .add(getAlphaCurve)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Which models and providers the keys of a project may use.")
