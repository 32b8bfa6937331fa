import type { RoutingSettings } from "../../account/routing/RoutingVersionStore.ts"
import type { PolicyColumns } from "../../policy/PolicyStore.ts"
import type { ActionPatch, AnalysisAction, ChangedFields } from "../../wire/account/AnalysisActions.ts"

/** What of a project an action changes; `undefined` where only the application can. */
export type Target = { readonly kind: "policy" } | { readonly kind: "routing_configuration"; readonly slug: string }

export const targetOf = ({ kind, patch }: Pick<AnalysisAction, "kind" | "patch">): Target | undefined => {
  if (kind === "policy") return { kind }
  return kind === "routing_configuration" && "slug" in patch ? { kind, slug: patch.slug } : undefined
}

/** The fields of the patch as they are in a policy. */
export const policyFields = (policy: PolicyColumns, patch: ActionPatch): ChangedFields => {
  if (!("body" in patch) || "slug" in patch) return {}
  const { default_alpha, excluded_models } = patch.body
  return {
    ...(default_alpha !== undefined && { default_alpha: policy.default_alpha }),
    ...(excluded_models !== undefined && { excluded_models: policy.excluded_models })
  }
}

/** The same fields as they would be: exclusions are added to those that are there. */
export const patchedFields = (policy: PolicyColumns, patch: ActionPatch): ChangedFields => {
  if (!("body" in patch) || "slug" in patch) return {}
  const { default_alpha, excluded_models } = patch.body
  return {
    ...(default_alpha !== undefined && { default_alpha }),
    ...(excluded_models !== undefined && {
      excluded_models: [...new Set([...(policy.excluded_models ?? []), ...excluded_models])]
    })
  }
}

/** The policy with these fields. */
export const withFields = (
  {
    managed_by_configuration: _,
    policy_version: __,
    ...policy
  }: PolicyColumns & {
    readonly managed_by_configuration?: boolean
    readonly policy_version?: number
  },
  { default_alpha, excluded_models }: ChangedFields
): PolicyColumns => ({
  ...policy,
  ...(default_alpha !== undefined && { default_alpha }),
  ...(excluded_models !== undefined && { excluded_models })
})

/** The settings of a routing configuration, with these fields. */
export const routingWith = (routing: RoutingSettings, { alpha }: ChangedFields): RoutingSettings => ({
  name: routing.name,
  models: routing.models,
  providers: routing.providers,
  alpha: alpha === undefined ? routing.alpha : alpha,
  max_input_price_microusd_per_million: routing.max_input_price_microusd_per_million,
  max_output_price_microusd_per_million: routing.max_output_price_microusd_per_million,
  enable_fallback: routing.enable_fallback
})

/** Whether the fields that were written are there still. */
export const stillThere = (now: ChangedFields, written: ChangedFields): boolean =>
  now.alpha === written.alpha &&
  now.default_alpha === written.default_alpha &&
  (now.excluded_models ?? []).join("\n") === (written.excluded_models ?? []).join("\n")
