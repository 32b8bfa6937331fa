/** Starting points of a routing configuration, by what matters. */
export const starters = [
  { slug: "cheap", name: "Cheap", alpha: 0 },
  { slug: "balanced", name: "Balanced", alpha: 0.5 },
  { slug: "best", name: "Best", alpha: 1 }
] as const
export type Starter = (typeof starters)[number]
