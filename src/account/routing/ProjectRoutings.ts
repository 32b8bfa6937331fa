import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../../audit/Audit.ts"
import {
  AlreadyExists,
  ManagedByConfiguration,
  NotFound,
  type RoleRequired,
  type VersionMismatch
} from "../../domain/AccountError.ts"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import { InvalidRequest, type StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { PolicyStore } from "../../policy/PolicyStore.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import {
  type ProjectRouting,
  type RoutingSettings,
  type RoutingVersion,
  RoutingVersionStore,
  type RoutingVersionStoreShape
} from "./RoutingVersionStore.ts"

type Found = NotFound | StoreUnavailable
type Refused = Found | RoleRequired

/** Reads and writes the routing configurations of projects, each time as `CurrentUser`. */
export interface ProjectRoutingsShape {
  /** Newest first, those before `before`, an id of one; none before a text that is no id. */
  readonly list: (
    project: ProjectId,
    max: number,
    before: string | undefined
  ) => Effect.Effect<ReadonlyArray<ProjectRouting>, Found, CurrentUser>
  /** The configuration with this slug and its active version. */
  readonly read: (project: ProjectId, slug: string) => Effect.Effect<ProjectRouting, Found, CurrentUser>
  /** With these settings as its first version, which is active. */
  readonly create: (
    project: ProjectId,
    slug: string,
    settings: RoutingSettings
  ) => Effect.Effect<ProjectRouting, Refused | AlreadyExists | InvalidRequest, CurrentUser>
  /** Creates a version of these settings and activates it; `check` sees the configuration before and can refuse. */
  readonly replace: (
    project: ProjectId,
    slug: string,
    settings: RoutingSettings,
    check: (found: ProjectRouting) => Effect.Effect<void, VersionMismatch>
  ) => Effect.Effect<ProjectRouting, Refused | InvalidRequest | ManagedByConfiguration | VersionMismatch, CurrentUser>
  /** Activates an earlier or later version. */
  readonly activate: (
    project: ProjectId,
    slug: string,
    version: number
  ) => Effect.Effect<ProjectRouting, Refused | ManagedByConfiguration | InvalidRequest, CurrentUser>
  /** The configuration with all its versions. */
  readonly remove: (
    project: ProjectId,
    slug: string
  ) => Effect.Effect<void, Refused | ManagedByConfiguration, CurrentUser>
  /** Newest first, those before the version `before`. */
  readonly versions: (
    project: ProjectId,
    slug: string,
    max: number,
    before: number | undefined
  ) => Effect.Effect<
    { readonly routing: ProjectRouting; readonly versions: ReadonlyArray<RoutingVersion> },
    Found,
    CurrentUser
  >
}

/** The routing configurations of projects, for the people of a project; `RoutingConfigurations` has them for calls. */
export class ProjectRoutings extends Context.Tag("gateway/account/ProjectRoutings")<
  ProjectRoutings,
  ProjectRoutingsShape
>() {
  /** @internal */
  static readonly layer = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

/** Every node reads all of a project's at once: so many characters of patterns hold its event loop for up to 0.1 s. */
const maxConfigurations = 500
const maxCharacters = 1_000_000

const make = Effect.gen(function* () {
  const access = yield* ProjectAccess
  const store = yield* RoutingVersionStore

  /** The same error for a project that the current user may not see. */
  const read = (project: ProjectId, slug: string) =>
    Effect.zipRight(
      Effect.catchTag(access.find(project), "NotFound", () => noRouting),
      find(store, project, slug)
    )

  return ProjectRoutings.of({
    ...(yield* changes),
    list: (project, max, before) => Effect.zipRight(access.find(project), store.list(project, max, before)),
    read,
    versions: (project, slug, max, before) =>
      Effect.flatMap(read(project, slug), (routing) =>
        Effect.map(store.versions(routing.id, max, before), (versions) => ({ routing, versions }))
      )
  })
})

const find = (store: RoutingVersionStoreShape, project: ProjectId, slug: string) =>
  Effect.flatMap(store.find(project, slug), (found) => (found === undefined ? noRouting : Effect.succeed(found)))

/** One that may be changed here. */
const findOwn = (store: RoutingVersionStoreShape, project: ProjectId, slug: string) =>
  Effect.filterOrFail(
    find(store, project, slug),
    (found) => !found.managedByConfiguration,
    () => managed
  )

const changes = Effect.gen(function* () {
  const store = yield* RoutingVersionStore
  const ids = yield* IdGenerator
  const change = yield* recordedChange

  /** Adds a version and activates it. */
  const put = (id: string, settings: RoutingSettings) =>
    Effect.gen(function* () {
      const { userId } = yield* CurrentUser
      yield* store.activate(id, yield* store.add(id, settings, userId))
    })

  return {
    create: (project, slug, settings) =>
      change(
        project,
        "routing_configuration.create",
        Effect.gen(function* () {
          if ((yield* store.find(project, slug)) !== undefined) return yield* exists(slug)
          if ((yield* store.count(project)) >= maxConfigurations) return yield* tooMany
          const id = ids.uuid()
          yield* store.create(project, id, slug, settings.name)
          yield* withinRoom(store, project, put(id, settings))
          return { before: null, after: yield* find(store, project, slug) }
        })
      ),
    replace: (project, slug, settings, check) =>
      change(
        project,
        "routing_configuration.update",
        Effect.gen(function* () {
          const before = yield* findOwn(store, project, slug)
          yield* check(before)
          yield* withinRoom(store, project, put(before.id, settings))
          return { before, after: yield* find(store, project, slug) }
        })
      ),
    activate: (project, slug, version) =>
      change(
        project,
        "routing_configuration.activate",
        Effect.gen(function* () {
          const before = yield* findOwn(store, project, slug)
          const isActivated = yield* withinRoom(store, project, store.activate(before.id, version))
          if (!isActivated) return yield* noVersion(version)
          return { before, after: yield* find(store, project, slug) }
        })
      ),
    remove: (project, slug) =>
      Effect.asVoid(
        change(
          project,
          "routing_configuration.delete",
          Effect.gen(function* () {
            const before = yield* findOwn(store, project, slug)
            yield* store.remove(before.id)
            return { before, after: null }
          })
        )
      )
  } satisfies Partial<ProjectRoutingsShape>
})

/** Changes what one project has, one change at a time; the change is effective on this node when it returns. */
const recordedChange = Effect.gen(function* () {
  const access = yield* ProjectAccess
  const projects = yield* ProjectStore
  const policies = yield* PolicyStore
  const transactions = yield* AccountTransactions
  const audit = yield* Audit

  return <A extends ProjectRouting | null, E, R>(
    project: ProjectId,
    action: string,
    run: Effect.Effect<{ readonly before: ProjectRouting | null; readonly after: A }, E, R>
  ) =>
    transactions.commit((announce) =>
      Effect.gen(function* () {
        yield* projects.lock(project)
        const { accountId } = yield* Effect.catchTag(access.require(project, "member"), "NotFound", () => noRouting)
        const { after, before } = yield* run
        yield* policies.raiseVersion(project)
        yield* announce({ kind: "configurations", id: project })
        yield* audit.record({
          accountId,
          action,
          target: { kind: "routing_configuration", id: (after ?? before)?.id ?? project },
          before: before === null ? null : audited(before),
          after: after === null ? null : audited(after)
        })
        return after
      })
    )
})

/** For a change that activates a version; one that adds nothing is never refused. */
const withinRoom = <A, E, R>(
  store: Pick<RoutingVersionStoreShape, "characters">,
  project: ProjectId,
  put: Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const before = yield* store.characters(project)
    const done = yield* put
    const after = yield* store.characters(project)
    return after > Math.max(before, maxCharacters) ? yield* tooLarge : done
  })

const noRouting = new NotFound({ message: "Routing configuration not found." })

const managed = new ManagedByConfiguration({
  message: "This routing configuration is managed by GATEWAY_CONFIG; change it there."
})

const exists = (slug: string): AlreadyExists =>
  new AlreadyExists({ message: `The project already has a routing configuration '${slug}'.` })

const tooMany = new InvalidRequest({
  code: "invalid_value",
  message: `A project has at most ${maxConfigurations} routing configurations.`,
  param: "slug"
})

const tooLarge = new InvalidRequest({
  code: "invalid_value",
  message: `The routing configurations of a project have at most ${maxCharacters} characters of models and providers together.`,
  param: null
})

const noVersion = (version: number): InvalidRequest =>
  new InvalidRequest({
    code: "invalid_value",
    message: `The routing configuration has no version ${version}.`,
    param: "version"
  })

/** Everything that a version says, with its number. */
const audited = ({ createdAt, id, managedByConfiguration, projectId, updatedAt, ...routing }: ProjectRouting) => routing
