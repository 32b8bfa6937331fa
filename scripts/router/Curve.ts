/** Average cost and quality of one way to choose models. */
export interface Point {
  readonly cost: number
  readonly quality: number
}

/** Cost of the cheapest mixtures by quality: the upper edge of the points, from cheap to dear, never falling. */
export const hullOf = (points: ReadonlyArray<Point>): ReadonlyArray<Point> => {
  const sorted = [...points].sort((a, b) => a.cost - b.cost || b.quality - a.quality)
  const hull: Array<Point> = []
  for (const point of sorted) {
    const last = hull.at(-1)
    if (last !== undefined && point.quality <= last.quality) continue
    for (;;) {
      const a = hull.at(-2)
      const b = hull.at(-1)
      if (a === undefined || b === undefined) break
      if ((b.quality - a.quality) * (point.cost - a.cost) > (point.quality - a.quality) * (b.cost - a.cost)) break
      hull.pop()
    }
    hull.push(point)
  }
  return hull
}

/** Mean height of the hull between two costs. Below its first point it has the height 0 that no mixture reaches. */
export const areaOf = (hull: ReadonlyArray<Point>, from: number, to: number): number => {
  if (to <= from) return qualityAt(hull, from)
  let area = 0
  for (const [at, a] of hull.entries()) {
    const b = hull[at + 1] ?? { cost: Number.POSITIVE_INFINITY, quality: a.quality }
    const low = Math.max(from, a.cost)
    const high = Math.min(to, b.cost)
    if (high <= low) continue
    const height = (cost: number): number =>
      b.cost === Number.POSITIVE_INFINITY || b.cost === a.cost
        ? a.quality
        : a.quality + ((b.quality - a.quality) * (cost - a.cost)) / (b.cost - a.cost)
    area += ((height(low) + height(high)) / 2) * (high - low)
  }
  return area / (to - from)
}

export const qualityAt = (hull: ReadonlyArray<Point>, cost: number): number => {
  let quality = 0
  for (const [at, a] of hull.entries()) {
    if (a.cost > cost) break
    const b = hull[at + 1]
    quality =
      b === undefined || b.cost <= cost
        ? a.quality
        : a.quality + ((b.quality - a.quality) * (cost - a.cost)) / (b.cost - a.cost)
  }
  return quality
}

/** The lowest cost at which a mixture reaches the quality; `null` when none does. */
export const costOf = (hull: ReadonlyArray<Point>, quality: number): number | null => {
  const [first] = hull
  if (first === undefined) return null
  if (first.quality >= quality) return first.cost
  for (const [at, a] of hull.entries()) {
    const b = hull[at + 1]
    if (b !== undefined && b.quality >= quality)
      return a.cost + ((b.cost - a.cost) * (quality - a.quality)) / (b.quality - a.quality)
  }
  return null
}
