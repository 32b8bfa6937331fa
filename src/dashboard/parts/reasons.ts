/** Why a model was chosen, in words. */
const reasons: Readonly<Record<string, string>> = {
  pinned_model: "the request names this model",
  only_candidate: "the only eligible model",
  cheapest_eligible: "the cheapest eligible model",
  highest_quality: "the best eligible model",
  quality_cost_tradeoff: "the best balance of quality and cost",
  health_demotion: "better ones were failing",
  fallback_after_error: "the ones before it failed"
}

export const reasonText = (reason: string | null): string => (reason === null ? "—" : (reasons[reason] ?? reason))
