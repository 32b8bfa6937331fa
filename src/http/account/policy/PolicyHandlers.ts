import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { ReportPace } from "../../../account/pace/ReportPace.ts"
import { ProjectPolicies } from "../../../account/policy/ProjectPolicies.ts"
import { RoutingReplay } from "../../../account/replay/RoutingReplay.ts"
import { CurrentUser } from "../../../domain/CurrentUser.ts"
import type { PolicyRow } from "../../../policy/PolicyStore.ts"
import type { PolicyOut } from "../../../wire/account/Policy.ts"
import { AccountApi } from "../AccountApi.ts"
import { entityTag, requireMatch } from "../EntityTag.ts"
import { withHeader } from "../Idempotent.ts"
import { alphaCurveOf, policyReplayOf } from "./ReplayRecords.ts"

export const policyHandlers = HttpApiBuilder.group(AccountApi, "policy", (handlers) =>
  Effect.gen(function* () {
    const policies = yield* ProjectPolicies
    const replays = yield* RoutingReplay
    const pace = yield* ReportPace

    /** A policy is sent with its version. */
    const sent = (policy: PolicyRow) => Effect.as(withHeader("etag", tagOf(policy)), outOf(policy))

    return handlers
      .handle("getPolicy", ({ path }) => Effect.flatMap(policies.read(path.id), sent))
      .handle("putPolicy", ({ headers, path, payload }) =>
        Effect.flatMap(
          policies.write(path.id, payload, (found) => requireMatch(headers["if-match"], tagOf(found))),
          sent
        )
      )
      .handle("simulatePolicy", ({ path, payload }) =>
        Effect.gen(function* () {
          const { after, becomesEmpty, before } = yield* policies.simulate(path.id, payload)
          const { userId } = yield* CurrentUser
          const replay = yield* pace.run(userId, replays.compare(path.id, { policy: payload }))
          return {
            before: { models: before },
            after: { models: after },
            becomes_empty: becomesEmpty,
            replay: policyReplayOf(replay)
          }
        })
      )
      .handle("getAlphaCurve", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const { userId } = yield* CurrentUser
          return alphaCurveOf(yield* pace.run(userId, replays.alphaCurve(path.id, urlParams.calls)))
        })
      )
  })
)

/** Of the policy alone: its version goes up with routing configurations, too. */
const tagOf = ({ policy_version, ...policy }: PolicyRow): string => entityTag([JSON.stringify(policy)])

const outOf = (row: PolicyRow): PolicyOut => ({
  ...row,
  excluded_models: row.excluded_models ?? [],
  excluded_providers: row.excluded_providers ?? []
})
