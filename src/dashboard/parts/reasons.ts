import { count } from "./format.ts"

/** Why a model was chosen, in words. */
const reasons: Readonly<Record<string, string>> = {
  pinned_model: "the request names this model",
  only_candidate: "the only eligible model",
  cheapest_eligible: "the cheapest eligible model",
  highest_quality: "the best eligible model",
  quality_cost_tradeoff: "the best balance of quality and cost",
  health_demotion: "better models were failing",
  exploration: "exploration: a model near the best is tried",
  sticky_session: "the model already used in this conversation",
  cache_affinity: "the model that has the prompt in its cache",
  first_affordable: "the best that the balance and limits cover",
  fallback_after_error: "the models before it failed"
}

export const reasonText = (reason: string | null): string => (reason === null ? "—" : (reasons[reason] ?? reason))

/** Why models could not be chosen */
const exclusions: Readonly<Record<string, string>> = {
  project_policy: "the project's policy",
  project_price_cap: "the project's price cap",
  routing_config: "the routing configuration",
  routing_config_price_cap: "the price cap of the routing configuration",
  request_restriction: "the request's own restrictions",
  request_price_cap: "the request's price cap",
  request_max_cost: "the cost that the request allows",
  unpriced: "no known price",
  no_credential: "no credential of the project",
  context_length: "the prompt is too long"
}

const exclusionText = (reason: string): string =>
  exclusions[reason] ??
  reason
    .replace(/^unsupported_/, "cannot do ")
    .replace(/^unpriced_/, "no price for ")
    .replaceAll("_", " ")

/** How many models could not be chosen, by the reason, the most frequent first; empty if none. */
export const exclusionList = (excluded: Readonly<Record<string, number>>): string =>
  Object.entries(excluded)
    .sort(([, some], [, other]) => other - some)
    .map(([reason, models]) => `${exclusionText(reason)}: ${count(models)}`)
    .join(" · ")
