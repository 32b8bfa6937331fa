import { randomFillSync } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../../audit/Audit.ts"
import { type NotFound, RoleRequired } from "../../domain/AccountError.ts"
import type { CallerShape } from "../../domain/Caller.ts"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import { KeyId, type ProjectId } from "../../domain/Ids.ts"
import { mint } from "../../identity/keys/ApiKey.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { Scopes } from "../../ledger/Scopes.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { recordKeyWith } from "./KeyAudit.ts"
import { PersonKeyStore } from "./PersonKeyStore.ts"
import { ProjectKeyStore } from "./ProjectKeyStore.ts"

export interface PersonKeysShape {
  /**
   * The current user as the caller of a call in the project: by a key of their own there, made at the first call, which can
   * carry a limit or be switched off like any other.
   */
  readonly callerIn: (
    project: ProjectId
  ) => Effect.Effect<CallerShape, NotFound | RoleRequired | StoreUnavailable, CurrentUser>
}

export class PersonKeys extends Context.Tag("gateway/account/PersonKeys")<PersonKeys, PersonKeysShape>() {
  static readonly layer: Layer.Layer<
    PersonKeys,
    never,
    AccountTransactions | Audit | IdGenerator | PersonKeyStore | ProjectAccess | ProjectKeyStore | ProjectStore | Scopes
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const access = yield* ProjectAccess
  const store = yield* PersonKeyStore
  const keys = yield* ProjectKeyStore
  const projects = yield* ProjectStore
  const scopes = yield* Scopes
  const transactions = yield* AccountTransactions
  const record = recordKeyWith(yield* Audit)
  const ids = yield* IdGenerator

  const created = (projectId: ProjectId) =>
    transactions.commit(() =>
      Effect.gen(function* () {
        const actor = yield* CurrentUser
        // of two first calls at the same time one makes the key; nor is the project deleted meanwhile
        yield* projects.lock(projectId)
        const project = yield* access.require(projectId, "member")
        const found = yield* store.find(projectId, actor.userId)
        if (found !== undefined) return found
        const id = KeyId.make(ids.uuid())
        yield* store.create({ id, projectId, userId: actor.userId, secret: mint(randomFillSync) })
        yield* scopes.open("key", id, null)
        const key = yield* keys.find(id)
        const made = yield* store.find(projectId, actor.userId)
        if (key === undefined || made === undefined) return yield* notWritten
        yield* record("key.create", project.accountId, id, null, key)
        return made
      })
    )

  return PersonKeys.of({
    callerIn: (projectId) =>
      Effect.gen(function* () {
        yield* access.require(projectId, "member")
        const { userId } = yield* CurrentUser
        const { caller, isActive } = (yield* store.find(projectId, userId)) ?? (yield* created(projectId))
        return isActive ? caller : yield* switchedOff
      })
  })
})

const notWritten = Effect.dieMessage("a key that was written just now is found")
const switchedOff = new RoleRequired({
  message:
    "Your key for calls from the dashboard is inactive, expired or revoked: change it, or delete it, and the next call makes another one."
})
