import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../../audit/Audit.ts"
import { AlreadyExists, NotFound, type RoleRequired } from "../../domain/AccountError.ts"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import { dateAt } from "../../domain/Dates.ts"
import { InvalidRequest, type StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import type { ProjectId, UserId } from "../../domain/Ids.ts"
import { Timers } from "../../domain/Timers.ts"
import { type Member, MemberStore, type Role } from "../../identity/projects/MemberStore.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import type { AccessibleProject } from "../../identity/projects/ProjectAccessStore.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { UserStore } from "../../identity/users/UserStore.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"

type Refused = NotFound | RoleRequired | StoreUnavailable

export interface MembersShape {
  /** Newest first, those before `before`; the last one is the owner of the account. */
  readonly list: (
    project: ProjectId,
    max: number,
    before: string | undefined
  ) => Effect.Effect<ReadonlyArray<Member>, NotFound | StoreUnavailable, CurrentUser>
  /** For owners; at most 1,000 besides the owner of the account. */
  readonly add: (
    project: ProjectId,
    user: UserId,
    role: Role
  ) => Effect.Effect<Member, Refused | AlreadyExists | InvalidRequest, CurrentUser>
  /** For owners, and for whoever leaves the project. The owner of the account stays. */
  readonly remove: (project: ProjectId, user: UserId) => Effect.Effect<void, Refused | InvalidRequest, CurrentUser>
}

/** The people who may use a project, each in a role. */
export class Members extends Context.Tag("gateway/account/Members")<Members, MembersShape>() {
  static readonly layer: Layer.Layer<
    Members,
    never,
    AccountTransactions | Audit | IdGenerator | MemberStore | ProjectAccess | ProjectStore | Timers | UserStore
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const maxMembers = 1_000

const make = Effect.gen(function* () {
  const access = yield* ProjectAccess
  const members = yield* MemberStore
  const projects = yield* ProjectStore
  const users = yield* UserStore
  const transactions = yield* AccountTransactions
  const audit = yield* Audit
  const ids = yield* IdGenerator
  const timers = yield* Timers

  const record = (
    action: string,
    project: AccessibleProject,
    before: Pick<Member, "userId" | "role"> | null,
    after: Pick<Member, "userId" | "role"> | null
  ) =>
    audit.record({
      accountId: project.accountId,
      action,
      target: { kind: "project", id: project.id },
      before: before === null ? null : { user_id: before.userId, role: before.role },
      after: after === null ? null : { user_id: after.userId, role: after.role }
    })

  return Members.of({
    list: (project, max, before) => Effect.zipRight(access.find(project), members.list(project, max, before)),
    add: (projectId, userId, role) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          yield* projects.lock(projectId)
          const project = yield* access.require(projectId, "owner")
          const user = yield* users.find(userId)
          if (user === undefined) return yield* new NotFound({ message: "User not found." })
          const known = yield* members.find(projectId, userId)
          if (known === undefined && (yield* members.count(projectId)) >= maxMembers) return yield* tooMany
          const createdAt = dateAt(timers.now())
          const id = ids.uuid()
          if (known !== undefined || !(yield* members.create({ id, projectId, userId, role, createdAt }))) {
            return yield* new AlreadyExists({
              message: "This user is already a member; remove them first to change the role."
            })
          }
          const added = { id, userId, role, name: user.name, isAccountOwner: false, createdAt }
          yield* record("member.add", project, null, added)
          return added
        })
      ),
    remove: (projectId, userId) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          yield* projects.lock(projectId)
          const caller = yield* CurrentUser
          const leaves = caller.userId === userId
          const project = yield* leaves ? access.find(projectId) : access.require(projectId, "owner")
          const member = yield* members.find(projectId, userId)
          if (member === undefined) return yield* new NotFound({ message: "Member not found." })
          if (member.isAccountOwner) return yield* accountOwnerStays
          yield* members.remove(projectId, userId)
          yield* record("member.remove", project, member, null)
        })
      )
  })
})

const tooMany = new InvalidRequest({
  code: "invalid_value",
  message: `A project has at most ${maxMembers} members besides the owner of its account.`,
  param: null
})

/** So that a project always has an owner. */
const accountOwnerStays = new InvalidRequest({
  code: "invalid_value",
  message: "The owner of the project's account is always an owner of the project.",
  param: "user_id"
})
