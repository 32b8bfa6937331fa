import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../../audit/Audit.ts"
import { CaptureStore } from "../../capture/CaptureStore.ts"
import { CredentialStore } from "../../credentials/CredentialStore.ts"
import {
  ManagedByConfiguration,
  type NotFound,
  ProjectNotEmpty,
  type RoleRequired,
  type VersionMismatch
} from "../../domain/AccountError.ts"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import { dateAt } from "../../domain/Dates.ts"
import { InvalidRequest, type StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import { ProjectId } from "../../domain/Ids.ts"
import { isUnchanged } from "../../domain/Patch.ts"
import { Timers } from "../../domain/Timers.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import { type AccessibleProject, ProjectAccessStore } from "../../identity/projects/ProjectAccessStore.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { Scopes } from "../../ledger/Scopes.ts"
import { type SpendLimit, SpendLimitStore } from "../../ledger/SpendLimitStore.ts"
import type { RateLimit } from "../../policy/RateLimits.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { CreateMyProjectRequest, UpdateProjectRequest } from "../../wire/account/Projects.ts"
import { AlertStore } from "../alerts/AlertStore.ts"
import { checkedInput, inputOf } from "../input/CheckedInput.ts"
import { requireWithin } from "../limits/ConfiguredLimits.ts"
import { ProjectAnalysesStore } from "./ProjectAnalysesStore.ts"
import { ProjectConversationsStore } from "./ProjectConversationsStore.ts"

/** A project with the money of its scope. */
export interface Project extends AccessibleProject, SpendLimit {}

/** What is left out stays as it is. */
export type ProjectPatch = Partial<Pick<Project, "name" | "limitMicroUsd" | "limitReset" | "rateLimits">>

type Refused = NotFound | RoleRequired | StoreUnavailable

/** Creates, reads and changes projects, each time as `CurrentUser`. */
export interface ProjectsShape {
  /** In the account of the current user, of which it is one of at most 1,000; every model is allowed, and nothing is limited. */
  readonly create: (name: string) => Effect.Effect<Project, InvalidRequest | StoreUnavailable, CurrentUser>
  /** All that the current user may use, newest first, those before `before`. */
  readonly list: (
    max: number,
    before: ProjectId | undefined
  ) => Effect.Effect<ReadonlyArray<Project>, StoreUnavailable, CurrentUser>
  /** A project that the current user may see. */
  readonly read: (id: ProjectId) => Effect.Effect<Project, NotFound | StoreUnavailable, CurrentUser>
  /** `check` sees the project as it is before the change and can refuse it. */
  readonly update: (
    id: ProjectId,
    patch: ProjectPatch,
    check: (project: Project) => Effect.Effect<void, VersionMismatch>
  ) => Effect.Effect<Project, Refused | InvalidRequest | VersionMismatch, CurrentUser>
  /** Only without active keys; the project's calls stay, its secrets and what it has collected do not. */
  readonly remove: (
    id: ProjectId
  ) => Effect.Effect<void, Refused | ProjectNotEmpty | ManagedByConfiguration, CurrentUser>
}

/** The projects of people. */
export class Projects extends Context.Tag("gateway/account/Projects")<Projects, ProjectsShape>() {
  /** @internal With the rate limits that are configured for all projects. */
  static readonly layer = (configured: RateLimit) => Layer.effect(this, make(configured))
}

const checkNew = checkedInput(CreateMyProjectRequest)
const checkPatch = checkedInput(UpdateProjectRequest)

/** Of an account; an operator may create more. */
const maxProjects = 1_000

const make = Effect.fnUntraced(function* (configured: RateLimit) {
  const access = yield* ProjectAccess
  const accessible = yield* ProjectAccessStore
  const projects = yield* ProjectStore
  const scopes = yield* Scopes
  const limits = yield* SpendLimitStore
  const credentials = yield* CredentialStore
  const alerts = yield* AlertStore
  const captured = yield* CaptureStore
  const analyses = yield* ProjectAnalysesStore
  const conversations = yield* ProjectConversationsStore
  const transactions = yield* AccountTransactions
  const audit = yield* Audit
  const ids = yield* IdGenerator
  const timers = yield* Timers

  const withMoney = (project: AccessibleProject): Effect.Effect<Project, StoreUnavailable> =>
    Effect.map(limits.read(project.id), (limit) => ({ ...project, ...limit }))
  const read = (id: ProjectId) => Effect.flatMap(access.find(id), withMoney)
  const readOwn = (id: ProjectId) => Effect.flatMap(access.require(id, "owner"), withMoney)

  const record = (
    action: string,
    id: ProjectId,
    accountId: Project["accountId"],
    before: Project | null,
    after: Project | null
  ) =>
    audit.record({
      accountId,
      action,
      target: { kind: "project", id },
      before: before === null ? null : audited(before),
      after: after === null ? null : audited(after)
    })

  return Projects.of({
    create: (name) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          yield* checkNew({ name })
          const { accountId } = yield* CurrentUser
          yield* projects.lockAccount(accountId)
          if ((yield* projects.count(accountId)) >= maxProjects) return yield* tooMany
          const id = ProjectId.make(ids.uuid())
          yield* projects.create({ id, accountId, name, isDefault: false })
          yield* scopes.open("project", id, null)
          const created = yield* Effect.catchTag(read(id), "NotFound", () =>
            Effect.dieMessage("a project that was created just now is found")
          )
          yield* record("project.create", id, accountId, null, created)
          return created
        })
      ),
    list: (max, before) =>
      Effect.flatMap(CurrentUser, ({ userId }) =>
        Effect.flatMap(accessible.list(userId, max, before), (found) => Effect.forEach(found, withMoney))
      ),
    read,
    update: (id, patch, check) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          yield* checkPatch(inputOf(patch))
          yield* projects.lock(id)
          const before = yield* readOwn(id)
          yield* check(before)
          if (isUnchanged(before, patch)) return before
          yield* projects.rename(id, patch.name ?? before.name)
          if (patch.rateLimits !== undefined) {
            yield* requireWithin(configured, patch.rateLimits)
            yield* projects.setRateLimits(id, patch.rateLimits)
          }
          const { limitMicroUsd, limitReset } = { ...before, ...patch }
          if (limitMicroUsd !== before.limitMicroUsd || limitReset !== before.limitReset) {
            yield* limits.set(id, { limitMicroUsd, limitReset })
          }
          const after = yield* readOwn(id)
          yield* record("project.update", id, after.accountId, before, after)
          return after
        })
      ),
    remove: (id) =>
      transactions.commit((announce) =>
        Effect.gen(function* () {
          yield* projects.lock(id)
          const before = yield* readOwn(id)
          if (before.isDefault) {
            return yield* new ManagedByConfiguration({
              message: "The project that GATEWAY_CONFIG applies to cannot be deleted."
            })
          }
          if (!(yield* projects.remove(id))) {
            return yield* new ProjectNotEmpty({ message: "The project has active keys; revoke or delete them first." })
          }
          yield* credentials.removeAll(id)
          yield* alerts.erase(id)
          // whoever writes samples has ended, or finds the window closed
          yield* captured.lock(id)
          yield* captured.close(id, dateAt(timers.now()))
          yield* captured.eraseProject(id)
          for (const running of yield* analyses.removeAll(id)) {
            yield* announce({ kind: "analysis", id: running })
          }
          yield* announce({ kind: "capture", id })
          for (const running of yield* conversations.removeAll(id)) {
            yield* announce({ kind: "chat_stop", id: running })
          }
          yield* record("project.delete", id, before.accountId, before, null)
        })
      )
  })
})

const tooMany = new InvalidRequest({
  code: "invalid_value",
  message: `An account has at most ${maxProjects} projects.`,
  param: null
})

const audited = ({ limitMicroUsd, limitReset, name, rateLimits }: Project) => ({
  name,
  spend_limit_microusd: limitMicroUsd,
  limit_reset: limitReset,
  rate_limits: rateLimits
})
