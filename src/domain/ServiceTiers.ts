/** Service tiers of requests with their counterparts at Anthropic, which has no others. */
export const anthropicServiceTiers: ReadonlyMap<string, string> = new Map([
  ["auto", "auto"],
  ["priority", "auto"],
  ["default", "standard_only"],
  ["standard_only", "standard_only"]
])
