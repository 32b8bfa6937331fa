import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import {
  ActivityDataOut,
  Days,
  Granularity,
  maxDays,
  maxDaysOfHours,
  SavingsOut
} from "../../../wire/account/Activity.ts"
import * as Errors from "../DeclaredErrors.ts"
import { Identity } from "../Identity.ts"
import { ProjectPath } from "../ProjectPath.ts"

const defaultDays = 30

const getActivity = HttpApiEndpoint.get("getActivity", "/api/projects/:id/activity")
  .setPath(ProjectPath)
  .setUrlParams(
    Schema.Struct({
      days: Schema.optionalWith(Days, { default: () => defaultDays }).annotations({
        description: `Number of UTC days, including today: 1 to ${maxDays}, with \`granularity\` \`hour\` to ${maxDaysOfHours}; ${defaultDays} by default.`
      }),
      granularity: Schema.optionalWith(Granularity, { default: () => "day" as const }).annotations({
        description: "Interval of one point of `timeseries`: `day` (default) or `hour`."
      })
    })
  )
  .addSuccess(ActivityDataOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Get the usage and spend of a project")
  .annotate(
    OpenApi.Description,
    "Every call is counted once, at the time when it ended and its charge was written; the sums equal the ledger's at the time of the request."
  )

const getSavings = HttpApiEndpoint.get("getSavings", "/api/projects/:id/savings")
  .setPath(ProjectPath)
  .setUrlParams(
    Schema.Struct({
      days: Schema.optionalWith(Days, { default: () => defaultDays }).annotations({
        description: `Number of UTC days, including today: 1 to ${maxDays}; ${defaultDays} by default.`
      })
    })
  )
  .addSuccess(SavingsOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Get the savings from routing of a project")
  .annotate(
    OpenApi.Description,
    "Calls of `auto` and of routing configurations, each compared with the model of the highest predicted quality in its pool, at the prices at that time."
  )

export const ActivityGroup = HttpApiGroup.make("activity")
  .add(getActivity)
  .add(getSavings)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Usage, spend and savings.")
