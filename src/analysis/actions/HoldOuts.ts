import * as Effect from "effect/Effect"
import { ProjectPolicies } from "../../account/policy/ProjectPolicies.ts"
import { AlreadyExists, type NotFound } from "../../domain/AccountError.ts"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { PolicyStore } from "../../policy/PolicyStore.ts"
import { ExperimentStore, type NewExperiment } from "../receipts/ExperimentStore.ts"

export type HoldOut = Omit<NewExperiment, "id" | "startedBy" | "startVersion">

/** Changes that conversations are held out of. Calls see each step with the version of the policy that they begin with. */
export interface HoldOuts {
  readonly start: (holdOut: HoldOut) => Effect.Effect<void, AlreadyExists | NotFound | StoreUnavailable, CurrentUser>
  /** Because a user has undone the change. */
  readonly end: (project: ProjectId, experiment: string) => Effect.Effect<void, NotFound | StoreUnavailable>
}

export const make: Effect.Effect<HoldOuts, never, ExperimentStore | IdGenerator | PolicyStore | ProjectPolicies> =
  Effect.gen(function* () {
    const experiments = yield* ExperimentStore
    const policyStore = yield* PolicyStore
    const policies = yield* ProjectPolicies
    const ids = yield* IdGenerator
    return {
      start: (holdOut) =>
        Effect.gen(function* () {
          yield* policyStore.raiseVersion(holdOut.projectId)
          const { policy_version: startVersion } = yield* policies.read(holdOut.projectId)
          const { userId: startedBy } = yield* CurrentUser
          const started = yield* experiments.start({ ...holdOut, id: ids.uuid(), startedBy, startVersion })
          if (!started) return yield* anotherRuns
        }),
      end: (project, experiment) =>
        Effect.zipRight(
          experiments.end(experiment, { state: "undone", reason: undoneByUser }),
          policyStore.raiseVersion(project)
        )
    }
  })

const undoneByUser = "A user undid the action."
const anotherRuns = new AlreadyExists({
  message: "Conversations of the project are held out of another change: undo it, or wait until its hold-out ends."
})
