import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { Audit } from "../../audit/Audit.ts"
import { NotFound, OperatorRequired } from "../../domain/AccountError.ts"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import { ProjectId, type UserId } from "../../domain/Ids.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { type User, UserStore } from "../../identity/users/UserStore.ts"
import { Scopes } from "../../ledger/Scopes.ts"
import { type PolicyColumns, PolicyStore } from "../../policy/PolicyStore.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { type AdminProject, AdminProjectStore } from "./AdminProjectStore.ts"

/** A project of any account with the money of its scope. */
export interface AdminProjectWithMoney extends AdminProject {
  readonly limitMicroUsd: number | null
  readonly spentMicroUsd: number
}

export interface NewAdminProject {
  /** Whose account pays. */
  readonly userId: UserId
  readonly name: string
  readonly policy: PolicyColumns
}

type Refused = OperatorRequired | StoreUnavailable

export interface AdminShape {
  /** Newest first, those before `before`. */
  readonly listProjects: (
    max: number,
    before: ProjectId | undefined
  ) => Effect.Effect<ReadonlyArray<AdminProjectWithMoney>, Refused, CurrentUser>
  /** In the account of any person, with a policy. */
  readonly createProject: (
    project: NewAdminProject
  ) => Effect.Effect<AdminProjectWithMoney, Refused | NotFound, CurrentUser>
  /** Newest first, those before `before`. */
  readonly listUsers: (
    max: number,
    before: UserId | undefined
  ) => Effect.Effect<ReadonlyArray<User>, Refused, CurrentUser>
}

/** What only operators may do: see all people and projects, and create projects for others. */
export class Admin extends Context.Tag("gateway/account/Admin")<Admin, AdminShape>() {
  static readonly layer: Layer.Layer<
    Admin,
    never,
    AccountTransactions | AdminProjectStore | Audit | IdGenerator | PolicyStore | ProjectStore | Scopes | UserStore
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const stored = yield* AdminProjectStore
  const projects = yield* ProjectStore
  const policies = yield* PolicyStore
  const users = yield* UserStore
  const scopes = yield* Scopes
  const transactions = yield* AccountTransactions
  const audit = yield* Audit
  const ids = yield* IdGenerator

  const withMoney = (project: AdminProject): Effect.Effect<AdminProjectWithMoney, StoreUnavailable> =>
    Effect.flatMap(
      scopes.read(project.id),
      Option.match({
        onNone: () => Effect.dieMessage(`the project ${project.id} has no scope`),
        onSome: ({ limitMicroUsd, spentMicroUsd }) => Effect.succeed({ ...project, limitMicroUsd, spentMicroUsd })
      })
    )

  return Admin.of({
    listProjects: (max, before) =>
      Effect.zipRight(
        requireOperator,
        Effect.flatMap(stored.list(max, before), (found) => Effect.forEach(found, withMoney))
      ),
    createProject: ({ name, policy, userId }) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          yield* requireOperator
          const user = yield* users.find(userId)
          if (user === undefined) return yield* new NotFound({ message: "User not found." })
          const id = ProjectId.make(ids.uuid())
          yield* projects.create({ id, accountId: user.accountId, name, isDefault: false })
          yield* scopes.open("project", id, null)
          yield* policies.write(id, policy, false)
          const created = yield* stored.find(id)
          if (created === undefined) return yield* Effect.dieMessage("a project that was created just now is found")
          yield* audit.record({
            accountId: user.accountId,
            action: "project.create",
            target: { kind: "project", id },
            before: null,
            after: { name, spend_limit_microusd: null, policy }
          })
          return yield* withMoney(created)
        })
      ),
    listUsers: (max, before) => Effect.zipRight(requireOperator, users.list(max, before))
  })
})

/** Whether the current user is an operator, as every request here must be. */
export const requireOperator = Effect.filterOrFail(
  CurrentUser,
  ({ isOperator }) => isOperator,
  () => new OperatorRequired({ message: "Only an operator may do this." })
)
