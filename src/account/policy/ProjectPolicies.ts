import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Audit } from "../../audit/Audit.ts"
import {
  ManagedByConfiguration,
  type NotFound,
  type RoleRequired,
  type VersionMismatch
} from "../../domain/AccountError.ts"
import type { CurrentUser } from "../../domain/CurrentUser.ts"
import type { InvalidRequest, StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { intersectPolicies, noControls } from "../../policy/EffectivePolicy.ts"
import { type ProjectPolicy, policyOf, type RoutingConfiguration } from "../../policy/Policy.ts"
import { type PolicyColumns, type PolicyRow, PolicyStore } from "../../policy/PolicyStore.ts"
import { RoutingConfigurations } from "../../policy/RoutingConfigurations.ts"
import { permittedModels } from "../../routing/PermittedModels.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { PolicyInput } from "../../wire/account/Policy.ts"
import { checkedInput } from "../input/CheckedInput.ts"
import { usableModels } from "./UsableModels.ts"

/** What a policy would change. */
export interface PolicySimulation {
  /** Ids of the models that the project's keys may use, in code point order. */
  readonly before: ReadonlyArray<string>
  /** The same under the policy in question. */
  readonly after: ReadonlyArray<string>
  /** `auto` and each `auto:<slug>` that has a model to choose now and would have none. */
  readonly becomesEmpty: ReadonlyArray<string>
}

type Found = NotFound | StoreUnavailable

/** Reads and writes the policies of projects, each time as `CurrentUser`. */
export interface ProjectPoliciesShape {
  /** The current policy. */
  readonly read: (project: ProjectId) => Effect.Effect<PolicyRow, Found, CurrentUser>
  /** `check` sees the policy as it is before the change and can refuse it. */
  readonly write: (
    project: ProjectId,
    policy: PolicyColumns,
    check: (policy: PolicyRow) => Effect.Effect<void, VersionMismatch>
  ) => Effect.Effect<
    PolicyRow,
    Found | InvalidRequest | RoleRequired | ManagedByConfiguration | VersionMismatch,
    CurrentUser
  >
  /** What a policy would change; it is not written. */
  readonly simulate: (project: ProjectId, policy: PolicyColumns) => Effect.Effect<PolicySimulation, Found, CurrentUser>
}

/** The policies of projects, for the people of a project; `Policy` has them for calls. */
export class ProjectPolicies extends Context.Tag("gateway/account/ProjectPolicies")<
  ProjectPolicies,
  ProjectPoliciesShape
>() {
  /** @internal */
  static readonly layer = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const access = yield* ProjectAccess
  const store = yield* PolicyStore
  const projects = yield* ProjectStore
  const configurations = yield* RoutingConfigurations
  const usable = yield* usableModels
  const transactions = yield* AccountTransactions
  const audit = yield* Audit

  const find = (project: ProjectId) =>
    Effect.flatMap(store.find(project), (row) =>
      row === undefined ? Effect.dieMessage("a project that was found has a policy") : Effect.succeed(row)
    )
  /** In a transaction, so that it takes no connection of the calls. */
  const read = (project: ProjectId) => transactions.commit(() => Effect.zipRight(access.find(project), find(project)))

  return ProjectPolicies.of({
    read,
    write: (id, policy, check) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          yield* checkNumbers(policy)
          yield* projects.lock(id)
          const { accountId } = yield* access.require(id, "member")
          const before = yield* find(id)
          if (before.managed_by_configuration) return yield* managed
          yield* check(before)
          yield* store.write(id, policy, false)
          const after = yield* find(id)
          yield* audit.record({
            accountId,
            action: "policy.update",
            target: { kind: "project", id },
            before,
            after
          })
          return after
        })
      ),
    simulate: (id, policy) =>
      Effect.gen(function* () {
        const { billingMode } = yield* access.find(id)
        const current = yield* read(id)
        const named = (yield* configurations.ofProject(id)).filter(({ isActive }) => isActive)
        const snapshot = yield* usable(id, billingMode)
        const idsOf = (project: ProjectPolicy, configuration: RoutingConfiguration | null) =>
          permittedModels(snapshot, intersectPolicies(project, configuration, noControls), billingMode).map(
            ({ id }) => id
          )
        const [now, then] = [policyOf(current, current.policy_version), policyOf(policy, current.policy_version)]
        const becomesEmpty = [null, ...named]
          .filter((configuration) => idsOf(now, configuration).length > 0 && idsOf(then, configuration).length === 0)
          .map((configuration) => (configuration === null ? "auto" : `auto:${configuration.slug}`))
        return { before: idsOf(now, null), after: idsOf(then, null), becomesEmpty }
      })
  })
})

/** Patterns that were stored before may be more than a request may have now. */
const checkNumbers = checkedInput(
  Schema.Struct(PolicyInput.fields).pipe(
    Schema.pick(
      "default_alpha",
      "exploration_share",
      "max_input_price_microusd_per_million",
      "max_output_price_microusd_per_million"
    )
  )
)

const managed = new ManagedByConfiguration({ message: "This policy is managed by GATEWAY_CONFIG; change it there." })
