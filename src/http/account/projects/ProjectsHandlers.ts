import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { AccountIdempotency } from "../../../account/idempotency/AccountIdempotency.ts"
import * as RateLimitRecords from "../../../account/limits/RateLimitRecords.ts"
import { type Project, type ProjectPatch, Projects } from "../../../account/projects/Projects.ts"
import { CurrentUser } from "../../../domain/CurrentUser.ts"
import { ProjectId } from "../../../domain/Ids.ts"
import { UserStore } from "../../../identity/users/UserStore.ts"
import { type MeOut, ProjectOut, type UpdateProjectRequest } from "../../../wire/account/Projects.ts"
import { AccountApi } from "../AccountApi.ts"
import { entityTag, requireMatch } from "../EntityTag.ts"
import { idempotent, withHeader } from "../Idempotent.ts"
import { page } from "../Paging.ts"

export const projectsHandlers = HttpApiBuilder.group(AccountApi, "projects", (handlers) =>
  Effect.gen(function* () {
    const projects = yield* Projects
    const users = yield* UserStore
    const idempotency = yield* AccountIdempotency

    /** A single project is sent with its version. */
    const sent = (project: Project) => Effect.as(withHeader("etag", tagOf(project)), outOf(project))

    return handlers
      .handle("getMe", () =>
        Effect.gen(function* () {
          const { isOperator, userId } = yield* CurrentUser
          const user = yield* users.find(userId)
          if (user === undefined) return yield* Effect.dieMessage("a session's user is never deleted")
          const me: typeof MeOut.Type = {
            user: {
              id: user.id,
              name: user.name,
              issuer: user.issuer,
              subject: user.subject,
              created_at: user.createdAt
            },
            accounts: [{ id: user.accountId, role: "owner" }],
            roles: isOperator ? ["operator"] : [],
            default_project_id: user.defaultProjectId
          }
          return me
        })
      )
      .handle("listMyProjects", ({ urlParams }) =>
        page("projects", urlParams, (id) => ProjectId.make(id), projects.list, outOf)
      )
      .handle("createMyProject", ({ headers, payload }) =>
        idempotent(
          idempotency,
          headers["idempotency-key"],
          { body: payload, schema: ProjectOut, mayReplay: Effect.void },
          Effect.map(projects.create(payload.name), outOf)
        )
      )
      .handle("getProject", ({ path }) => Effect.flatMap(projects.read(path.id), sent))
      .handle("updateProject", ({ headers, path, payload }) =>
        Effect.flatMap(
          projects.update(path.id, patchOf(payload), (found) => requireMatch(headers["if-match"], tagOf(found))),
          sent
        )
      )
      .handle("deleteProject", ({ path }) => projects.remove(path.id))
  })
)

const patchOf = ({ limit_reset, name, rate_limits, spend_limit_microusd }: UpdateProjectRequest): ProjectPatch => ({
  ...(name === undefined ? {} : { name }),
  ...(spend_limit_microusd === undefined ? {} : { limitMicroUsd: spend_limit_microusd }),
  ...(limit_reset === undefined ? {} : { limitReset: limit_reset }),
  ...(rate_limits === undefined ? {} : { rateLimits: RateLimitRecords.in(rate_limits) })
})

/** Two versions may have the same time: everything that can be changed is in it. */
const tagOf = ({ billingMode, id, limitMicroUsd, limitReset, name, rateLimits, updatedAt }: Project): string => {
  const limits = JSON.stringify(RateLimitRecords.out(rateLimits))
  return entityTag([id, name, billingMode, limitMicroUsd, limitReset, limits, updatedAt.getTime()])
}

const outOf = (project: Project): ProjectOut => ({
  id: project.id,
  name: project.name,
  account_id: project.accountId,
  role: project.role,
  is_default: project.isDefault,
  billing_mode: project.billingMode,
  spend_limit_microusd: project.limitMicroUsd,
  limit_reset: project.limitReset,
  spent_microusd: project.spentMicroUsd,
  total_spent_microusd: project.totalSpentMicroUsd,
  rate_limits: RateLimitRecords.out(project.rateLimits),
  created_at: project.createdAt,
  updated_at: project.updatedAt
})
