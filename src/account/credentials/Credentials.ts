import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Audit } from "../../audit/Audit.ts"
import { type CredentialRow, CredentialStore } from "../../credentials/CredentialStore.ts"
import { credentialOf } from "../../credentials/ProjectCredentials.ts"
import { SealedCredentials } from "../../credentials/SealedCredentials.ts"
import {
  AlreadyExists,
  NotFound,
  type RoleRequired,
  SealingUnavailable,
  type VersionMismatch
} from "../../domain/AccountError.ts"
import type { CurrentUser } from "../../domain/CurrentUser.ts"
import { InvalidRequest, type StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import { CredentialId, type ProjectId } from "../../domain/Ids.ts"
import { isUnchanged } from "../../domain/Patch.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import type { AccessibleProject } from "../../identity/projects/ProjectAccessStore.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { type Checked, CredentialCheck } from "./CredentialCheck.ts"

/** A credential without its secret. */
export type Credential = Omit<CredentialRow, "sealed">

export interface NewCredential {
  readonly provider: string
  readonly label: string
  readonly secret: Redacted.Redacted
  readonly allowedModels: ReadonlyArray<string> | null
}

export type CredentialPatch = Partial<Omit<NewCredential, "provider">>

type Unread = NotFound | StoreUnavailable
type Refused = Unread | RoleRequired

export interface CredentialsShape {
  readonly create: (
    project: ProjectId,
    credential: NewCredential
  ) => Effect.Effect<Credential, Refused | AlreadyExists | InvalidRequest | SealingUnavailable, CurrentUser>
  /** Newest first, those before `before`. */
  readonly list: (
    project: ProjectId,
    max: number,
    before: CredentialId | undefined
  ) => Effect.Effect<ReadonlyArray<Credential>, Unread, CurrentUser>
  readonly read: (id: CredentialId) => Effect.Effect<Credential, Unread, CurrentUser>
  /** `check` sees the credential as it is before the change and can refuse it. */
  readonly update: (
    id: CredentialId,
    patch: CredentialPatch,
    check: (credential: Credential) => Effect.Effect<void, VersionMismatch>
  ) => Effect.Effect<Credential, Refused | AlreadyExists | SealingUnavailable | VersionMismatch, CurrentUser>
  readonly remove: (id: CredentialId) => Effect.Effect<void, Refused, CurrentUser>
  /** Asks the provider. */
  readonly verify: (id: CredentialId) => Effect.Effect<Checked, Refused | SealingUnavailable, CurrentUser>
}

/** The providers' credentials of projects; secrets go in and never come out. */
export class Credentials extends Context.Tag("gateway/account/Credentials")<Credentials, CredentialsShape>() {
  static readonly layer: Layer.Layer<
    Credentials,
    never,
    | AccountTransactions
    | Audit
    | CredentialCheck
    | CredentialStore
    | IdGenerator
    | ProjectAccess
    | ProjectStore
    | SealedCredentials
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

/** Every node reads and opens all of a project's at once. */
const maxCredentials = 100

const make = Effect.gen(function* () {
  const store = yield* CredentialStore
  const sealed = yield* SealedCredentials
  const providers = yield* CredentialCheck
  const access = yield* ProjectAccess
  const projects = yield* ProjectStore
  const transactions = yield* AccountTransactions
  const audit = yield* Audit
  const ids = yield* IdGenerator

  /** A credential of a project that the current user cannot see is not found either. */
  const found = <E, R>(id: CredentialId, may: (project: ProjectId) => Effect.Effect<AccessibleProject, E, R>) =>
    Effect.gen(function* () {
      const row = yield* store.find(id)
      if (row === undefined) return yield* notFound
      const project = yield* may(row.projectId)
      return { row, project }
    })
  const readable = (id: CredentialId) =>
    Effect.catchTag(found(id, access.find), "NotFound", () => Effect.fail(notFound))
  const writable = (id: CredentialId) =>
    Effect.catchTag(
      found(id, (project) => access.require(project, "member")),
      "NotFound",
      () => Effect.fail(notFound)
    )
  /** A credential that nobody else changes or removes until the end of the transaction. */
  const locked = (id: CredentialId) =>
    Effect.gen(function* () {
      const row = yield* store.find(id)
      if (row === undefined) return yield* notFound
      yield* projects.lock(row.projectId)
      yield* store.lock(id)
      return yield* writable(id)
    })

  const record = (
    action: string,
    { accountId }: AccessibleProject,
    before: CredentialRow | null,
    after: CredentialRow | null,
    id: CredentialId
  ) =>
    audit.record({
      accountId,
      action,
      target: { kind: "credential", id },
      before: before === null ? null : audited(before),
      after: after === null ? null : audited(after)
    })

  return Credentials.of({
    create: (projectId, { allowedModels, label, provider, secret }) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          // a project that is deleted meanwhile keeps no secret
          yield* projects.lock(projectId)
          const project = yield* access.require(projectId, "member")
          if (!providers.takesCredentials(provider)) return yield* unknownProvider(provider)
          if ((yield* store.count(projectId)) >= maxCredentials) return yield* tooMany
          const id = CredentialId.make(ids.uuid())
          const place = { id, projectId }
          const content = yield* sealed.seal(place, secret)
          const credential = { ...place, provider, label, masked: maskOf(secret), sealed: content, allowedModels }
          if (!(yield* store.create(credential))) return yield* alreadyExists
          const created = yield* Effect.flatMap(store.find(id), existing)
          yield* record("credential.create", project, null, created, id)
          return created
        })
      ),
    list: (project, max, before) => Effect.zipRight(access.find(project), store.list(project, max, before)),
    read: (id) => Effect.map(readable(id), ({ row }) => row),
    update: (id, patch, check) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          const { project, row } = yield* locked(id)
          yield* check(row)
          const { secret, ...settings } = patch
          if (secret === undefined && isUnchanged(row, settings)) return row
          const written = {
            ...row,
            ...settings,
            ...(secret === undefined ? {} : { masked: maskOf(secret), sealed: yield* sealed.seal(row, secret) })
          }
          if (!(yield* store.update(written))) return yield* alreadyExists
          const after = yield* Effect.flatMap(store.find(id), existing)
          yield* record("credential.update", project, row, after, id)
          return after
        })
      ),
    remove: (id) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          const { project, row } = yield* locked(id)
          yield* store.remove(row)
          yield* record("credential.delete", project, row, null, id)
        })
      ),
    verify: (id) =>
      Effect.gen(function* () {
        const { row } = yield* writable(id)
        const secret = yield* sealed.open(row)
        if (secret === undefined) return yield* unreadable
        return yield* providers.check(credentialOf(row, secret))
      })
  })
})

const shownCharacters = 4
/** Of a shorter secret nothing is shown. */
const minShownLength = 16

const maskOf = (secret: Redacted.Redacted): string => {
  const text = Redacted.value(secret)
  return `…${text.length < minShownLength ? "" : text.slice(-shownCharacters)}`
}

/** Of the secret it says no more than that it was changed. */
const audited = ({ allowedModels, label, masked, provider, sealed }: CredentialRow) => ({
  provider,
  label,
  allowed_models: allowedModels,
  secret: `${masked} (version ${Buffer.from(sealed.subarray(0, 4)).toString("hex")})`
})

const existing = (row: CredentialRow | undefined) =>
  row === undefined ? Effect.dieMessage("a credential that was written just now is found") : Effect.succeed(row)

const notFound = new NotFound({ message: "Credential not found." })
const alreadyExists = new AlreadyExists({
  message: "The project already has a credential of this provider with this label."
})
const tooMany = new InvalidRequest({
  code: "invalid_value",
  message: `A project has at most ${maxCredentials} credentials.`,
  param: null
})
const unreadable = new SealingUnavailable({
  message:
    "No configured master key can decrypt this credential: set GATEWAY_MASTER_KEY_PREVIOUS, or enter the secret again."
})

const unknownProvider = (provider: string): InvalidRequest =>
  new InvalidRequest({
    code: "invalid_value",
    message: `'${provider}' is not a provider of this gateway that accepts a credential.`,
    param: "provider"
  })
