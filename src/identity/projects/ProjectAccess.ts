import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { NotFound, RoleRequired } from "../../domain/AccountError.ts"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { type AccessibleProject, ProjectAccessStore } from "./ProjectAccessStore.ts"

export interface ProjectAccessShape {
  /** A project in which the current user has any role, if only that of a viewer; every project of others is not found. */
  readonly find: (project: ProjectId) => Effect.Effect<AccessibleProject, NotFound | StoreUnavailable, CurrentUser>
  /** The same for what needs more than the role of a viewer. */
  readonly require: (
    project: ProjectId,
    role: "member" | "owner"
  ) => Effect.Effect<AccessibleProject, NotFound | RoleRequired | StoreUnavailable, CurrentUser>
}

/** The one place that decides who may do what with a project. */
export class ProjectAccess extends Context.Tag("gateway/identity/ProjectAccess")<ProjectAccess, ProjectAccessShape>() {
  static readonly layer: Layer.Layer<ProjectAccess, never, ProjectAccessStore> = Layer.effect(
    this,
    Effect.map(ProjectAccessStore, (store) => make(store))
  )
}

const make = (store: Context.Tag.Service<ProjectAccessStore>): ProjectAccessShape => {
  const find = (project: ProjectId) =>
    Effect.gen(function* () {
      const { transport, userId } = yield* CurrentUser
      // whoever has the master key could change every row
      const found = yield* transport === "command" ? store.findAny(project) : store.find(project, userId)
      return found ?? (yield* new NotFound({ message: "Project not found." }))
    })
  return {
    find,
    require: (project, role) =>
      Effect.filterOrFail(
        find(project),
        (found) => ranks[found.role] >= ranks[role],
        (found) => new RoleRequired({ message: `The role ${role} is required; yours is ${found.role}.` })
      )
  }
}

const ranks = { viewer: 0, member: 1, owner: 2 } as const
