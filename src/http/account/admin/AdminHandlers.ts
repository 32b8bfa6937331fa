import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import {
  Admin,
  type AdminProjectWithMoney,
  type NewAdminProject,
  requireOperator
} from "../../../account/admin/Admin.ts"
import { AccountIdempotency } from "../../../account/idempotency/AccountIdempotency.ts"
import { ProjectId, UserId } from "../../../domain/Ids.ts"
import type { User } from "../../../identity/users/UserStore.ts"
import { AdminProjectOut, type CreateProjectRequest, type UserOut } from "../../../wire/account/Admin.ts"
import { AccountApi } from "../AccountApi.ts"
import { idempotent } from "../Idempotent.ts"
import { charactersIn, type LargeItems, page, pageOfLarge } from "../Paging.ts"

export const adminHandlers = HttpApiBuilder.group(AccountApi, "admin", (handlers) =>
  Effect.gen(function* () {
    const admin = yield* Admin
    const idempotency = yield* AccountIdempotency

    return handlers
      .handle("listAllProjects", ({ urlParams }) =>
        pageOfLarge(
          "all-projects",
          urlParams,
          (id) => ProjectId.make(id),
          admin.listProjects,
          projectOut,
          largeProjects
        )
      )
      .handle("createProject", ({ headers, payload }) =>
        idempotent(
          idempotency,
          headers["idempotency-key"],
          {
            body: payload,
            schema: AdminProjectOut,
            mayReplay: requireOperator
          },
          Effect.map(admin.createProject(newProjectOf(payload)), projectOut)
        )
      )
      .handle("listUsers", ({ urlParams }) =>
        page("users", urlParams, (id) => UserId.make(id), admin.listUsers, userOut)
      )
  })
)

const largeProjects: LargeItems<AdminProjectWithMoney> = {
  atOnce: 8,
  charactersOf: (project) =>
    charactersIn(project.allowedModels, project.excludedModels, project.allowedProviders, project.excludedProviders)
}

const newProjectOf = (given: CreateProjectRequest): NewAdminProject => ({
  userId: given.user_id,
  name: given.name,
  policy: {
    allowed_models: given.allowed_models ?? null,
    excluded_models: given.excluded_models ?? null,
    allowed_providers: given.allowed_providers ?? null,
    excluded_providers: given.excluded_providers ?? null,
    max_input_price_microusd_per_million: given.max_input_price_microusd_per_million ?? null,
    max_output_price_microusd_per_million: given.max_output_price_microusd_per_million ?? null,
    default_alpha: given.default_alpha ?? null,
    exploration_share: 0,
    enable_fallback: given.enable_fallback ?? true
  }
})

export const projectOut = (project: AdminProjectWithMoney): AdminProjectOut => ({
  id: project.id,
  name: project.name,
  account_id: project.accountId,
  user_id: project.userId,
  billing_mode: project.billingMode,
  spend_limit_microusd: project.limitMicroUsd,
  total_spent_microusd: project.spentMicroUsd,
  allowed_models: project.allowedModels,
  excluded_models: project.excludedModels,
  allowed_providers: project.allowedProviders,
  excluded_providers: project.excludedProviders,
  max_input_price_microusd_per_million: project.maxInputPriceMicroUsdPerMillion,
  max_output_price_microusd_per_million: project.maxOutputPriceMicroUsdPerMillion,
  default_alpha: project.defaultAlpha,
  enable_fallback: project.enableFallback,
  created_at: project.createdAt,
  updated_at: project.updatedAt
})

const userOut = (user: User): UserOut => ({
  id: user.id,
  name: user.name,
  account_id: user.accountId,
  issuer: user.issuer,
  subject: user.subject,
  is_operator: user.isOperator,
  created_at: user.createdAt
})
