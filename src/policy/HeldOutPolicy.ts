import { armOf } from "../domain/HoldOut.ts"
import type { CallPolicyRow } from "./PolicyStore.ts"
import { type Experiment, type ProjectPolicy, policyOf, type RoutingConfiguration } from "./ProjectPolicy.ts"

/** The policy with the experiment that runs; without one whose change a user has changed since. */
export const callPolicyOf = (row: CallPolicyRow): ProjectPolicy => {
  const policy = policyOf(row, row.policy_version)
  const experiment = row.experiment === null ? undefined : experimentOf(row, row.experiment)
  return experiment === undefined ? policy : { ...policy, experiment }
}

const experimentOf = (
  row: CallPolicyRow,
  { after, before, id, share, slug }: NonNullable<CallPolicyRow["experiment"]>
): Experiment | undefined => {
  if (slug !== null) {
    const alpha = { before: before.alpha ?? null, after: after.alpha ?? null }
    return { kind: "routing_configuration", id, share, slug, alpha }
  }
  const isApplied =
    (after.default_alpha === undefined || after.default_alpha === row.default_alpha) &&
    (after.excluded_models === undefined || equal(after.excluded_models, row.excluded_models))
  if (!isApplied) return undefined
  const heldOut = {
    ...row,
    ...(before.default_alpha !== undefined && { default_alpha: before.default_alpha }),
    ...(before.excluded_models !== undefined && { excluded_models: before.excluded_models })
  }
  return { kind: "policy", id, share, policy: policyOf(heldOut, row.policy_version) }
}

const equal = (a: ReadonlyArray<string> | null, b: ReadonlyArray<string> | null): boolean =>
  (a ?? []).join("\n") === (b ?? []).join("\n")

/** What of a project applies to one call. */
interface Rules {
  readonly project: ProjectPolicy
  readonly configuration: RoutingConfiguration | null
}

/** The rules of a call, by the arm of its conversation, which is asked for only where an experiment could change them. */
export const rulesFor = (rules: Rules, conversation: () => string): Rules => {
  const { configuration, project } = rules
  const { experiment } = project
  if (experiment === undefined) return rules
  if (experiment.kind === "policy") {
    return armOf(experiment, conversation()) === "treated" ? rules : { project: experiment.policy, configuration }
  }
  const { alpha, slug } = experiment
  // a configuration that a user has changed since is as they set it
  if (configuration === null || configuration.slug !== slug || configuration.alpha !== alpha.after) return rules
  return armOf(experiment, conversation()) === "treated"
    ? rules
    : { project, configuration: withAlpha(configuration, alpha.before) }
}

/** Configurations are immutable and shared by many calls, and so are their copies: what is compiled of them is kept. */
const copies = new WeakMap<RoutingConfiguration, RoutingConfiguration>()

const withAlpha = (configuration: RoutingConfiguration, alpha: number | null): RoutingConfiguration => {
  const known = copies.get(configuration)
  if (known !== undefined && known.alpha === alpha) return known
  const copy = { ...configuration, alpha }
  copies.set(configuration, copy)
  return copy
}
