import * as Effect from "effect/Effect"
import type { ProjectPoliciesShape } from "../../account/policy/ProjectPolicies.ts"
import type { PolicyReplay, RoutingReplayShape } from "../../account/replay/RoutingReplay.ts"
import type { ProjectRoutingsShape } from "../../account/routing/ProjectRoutings.ts"
import type { ManagedByConfiguration, NotFound, RoleRequired } from "../../domain/AccountError.ts"
import type { CurrentUser } from "../../domain/CurrentUser.ts"
import type { InvalidRequest, StoreUnavailable } from "../../domain/GatewayError.ts"
import type { ProjectId } from "../../domain/Ids.ts"
import { defaultAlpha } from "../../policy/EffectivePolicy.ts"
import type { AnalysisAction, ChangedFields } from "../../wire/account/AnalysisActions.ts"
import * as Change from "./ProjectChange.ts"

type Found = NotFound | StoreUnavailable

export interface ChangeDeps {
  readonly policies: Pick<ProjectPoliciesShape, "read" | "simulate" | "write">
  readonly routings: Pick<ProjectRoutingsShape, "read" | "replace">
  readonly replays: Pick<RoutingReplayShape, "compare">
}

/** The settings of a project that an action changes: as they are, as they would be, and how they are written. */
export interface SettingsChange {
  /** Of calls that the change concerns, without and with it; `null`: of all calls that named no model. */
  readonly alphas: readonly [number, number] | null
  readonly configVersion: number
  readonly isManaged: boolean
  readonly before: ChangedFields
  readonly after: ChangedFields
  readonly becomesEmpty: Effect.Effect<ReadonlyArray<string>, Found, CurrentUser>
  readonly replay: Effect.Effect<PolicyReplay, Found, CurrentUser>
  readonly write: (
    fields: ChangedFields
  ) => Effect.Effect<
    unknown,
    InvalidRequest | NotFound | RoleRequired | ManagedByConfiguration | StoreUnavailable,
    CurrentUser
  >
}

/** What the action changes of the project as it is now. */
export const of = (
  { policies, replays, routings }: ChangeDeps,
  project: ProjectId,
  target: Change.Target,
  { patch }: Pick<AnalysisAction, "patch">
): Effect.Effect<SettingsChange, Found, CurrentUser> =>
  Effect.gen(function* () {
    const policy = yield* policies.read(project)
    if (target.kind === "policy") {
      const after = Change.patchedFields(policy, patch)
      const changed = Change.withFields(policy, after)
      return {
        alphas:
          after.default_alpha === undefined || after.excluded_models !== undefined
            ? null
            : [policy.default_alpha ?? defaultAlpha, after.default_alpha ?? defaultAlpha],
        configVersion: policy.policy_version,
        isManaged: policy.managed_by_configuration,
        before: Change.policyFields(policy, patch),
        after,
        becomesEmpty: Effect.map(policies.simulate(project, changed), ({ becomesEmpty }) => becomesEmpty),
        replay: replays.compare(project, { policy: changed }),
        write: (fields) => notMismatched(policies.write(project, Change.withFields(policy, fields), unchecked))
      } satisfies SettingsChange
    }
    const routing = yield* routings.read(project, target.slug)
    const alpha = "body" in patch && "alpha" in patch.body ? patch.body.alpha : routing.alpha
    const inherited = policy.default_alpha ?? defaultAlpha
    return {
      alphas: [routing.alpha ?? inherited, alpha ?? inherited],
      configVersion: policy.policy_version,
      isManaged: routing.managedByConfiguration,
      before: { alpha: routing.alpha },
      after: { alpha },
      becomesEmpty: Effect.succeed([]),
      replay: replays.compare(project, { configuration: { slug: target.slug, alpha } }),
      write: (fields) =>
        notMismatched(routings.replace(project, target.slug, Change.routingWith(routing, fields), unchecked))
    } satisfies SettingsChange
  })

const unchecked = () => Effect.void

/** `unchecked` never refuses. */
const notMismatched = <A, E extends { readonly _tag: string }, R>(write: Effect.Effect<A, E, R>) =>
  Effect.catchIf(
    write,
    (error): error is Extract<E, { readonly _tag: "VersionMismatch" }> => error._tag === "VersionMismatch",
    () => Effect.dieMessage("a change that checks no version was refused for its version")
  )
