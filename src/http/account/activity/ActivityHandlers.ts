import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { Activity } from "../../../account/activity/Activity.ts"
import { ReportPace } from "../../../account/pace/ReportPace.ts"
import { CurrentUser } from "../../../domain/CurrentUser.ts"
import { InvalidRequest } from "../../../domain/GatewayError.ts"
import { ProjectAccess } from "../../../identity/projects/ProjectAccess.ts"
import { maxDaysOfHours } from "../../../wire/account/Activity.ts"
import { AccountApi } from "../AccountApi.ts"

export const activityHandlers = HttpApiBuilder.group(AccountApi, "activity", (handlers) =>
  Effect.gen(function* () {
    const access = yield* ProjectAccess
    const activity = yield* Activity
    const pace = yield* ReportPace
    return handlers
      .handle("getActivity", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const project = yield* access.find(path.id)
          if (urlParams.granularity === "hour" && urlParams.days > maxDaysOfHours) return yield* tooManyHours
          const { userId } = yield* CurrentUser
          return yield* pace.run(userId, activity.of({ project: project.id, ...urlParams }))
        })
      )
      .handle("getSavings", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const project = yield* access.find(path.id)
          const { userId } = yield* CurrentUser
          return yield* pace.run(userId, activity.savings({ project: project.id, ...urlParams }))
        })
      )
  })
)

const tooManyHours = new InvalidRequest({
  code: "invalid_value",
  message: `Invalid value for 'days': at most ${maxDaysOfHours} with granularity 'hour'.`,
  param: "days"
})
