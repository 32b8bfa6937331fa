import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { ProjectPolicies } from "../../../account/policy/ProjectPolicies.ts"
import type { PolicyRow } from "../../../policy/PolicyStore.ts"
import type { PolicyOut } from "../../../wire/account/Policy.ts"
import { AccountApi } from "../AccountApi.ts"
import { entityTag, requireMatch } from "../EntityTag.ts"
import { withHeader } from "../Idempotent.ts"

export const policyHandlers = HttpApiBuilder.group(AccountApi, "policy", (handlers) =>
  Effect.gen(function* () {
    const policies = yield* ProjectPolicies

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
        Effect.map(policies.simulate(path.id, payload), ({ after, becomesEmpty, before }) => ({
          before: { models: before },
          after: { models: after },
          becomes_empty: becomesEmpty
        }))
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
