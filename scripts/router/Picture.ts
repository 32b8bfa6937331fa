import { hullOf, type Point } from "./Curve.ts"

export interface Drawn {
  readonly title: string
  readonly singles: ReadonlyArray<Point & { readonly name: string }>
  readonly router: ReadonlyArray<Point>
}

const width = 760
const height = 440
const left = 64
const right = 24
const top = 40
const bottom = 52

/** Quality over average cost, on a log scale: the single models, the hull of mixing them by chance, and the router. */
export const pictureOf = ({ router, singles, title }: Drawn): string => {
  const points = [...singles, ...router].filter(({ cost }) => cost > 0)
  const costs = points.map(({ cost }) => Math.log10(cost))
  const qualities = points.map(({ quality }) => quality)
  const [lowCost, highCost] = [Math.min(...costs) - 0.05, Math.max(...costs) + 0.05]
  const [lowQuality, highQuality] = [Math.min(...qualities) - 0.02, Math.max(...qualities) + 0.02]
  const x = (cost: number): number =>
    round(left + ((Math.log10(cost) - lowCost) / (highCost - lowCost)) * (width - left - right))
  const y = (quality: number): number =>
    round(height - bottom - ((quality - lowQuality) / (highQuality - lowQuality)) * (height - top - bottom))
  const path = (hull: ReadonlyArray<Point>): string =>
    dense(hull)
      .map(({ cost, quality }) => `${x(cost)},${y(quality)}`)
      .join(" ")
  const tick = (cost: number): string =>
    `<line x1="${x(cost)}" y1="${height - bottom}" x2="${x(cost)}" y2="${top}" stroke="#e5e5e5"/>` +
    `<text x="${x(cost)}" y="${height - bottom + 18}" text-anchor="middle">${cost}</text>`
  const decades = [0.1, 1, 10, 100, 1_000, 10_000].filter(
    (cost) => Math.log10(cost) > lowCost && Math.log10(cost) < highCost
  )
  const levels = Array.from({ length: 21 }, (_, step) => round(step * 0.05)).filter(
    (quality) => quality > lowQuality && quality < highQuality
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#333">
<title>${title}</title>
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="${left}" y="22" font-size="14">${title}</text>
${decades.map(tick).join("\n")}
${levels.map((quality) => `<text x="${left - 8}" y="${y(quality) + 4}" text-anchor="end">${quality.toFixed(2)}</text>`).join("\n")}
<text x="${(width + left) / 2}" y="${height - 12}" text-anchor="middle">average cost of a call, micro-USD (log scale)</text>
<text transform="translate(16 ${height / 2}) rotate(-90)" text-anchor="middle">quality</text>
<polyline fill="none" stroke="#999" stroke-width="2" stroke-dasharray="5 4" points="${path(hullOf(singles))}"/>
<polyline fill="none" stroke="#1a6fb5" stroke-width="2.5" points="${path(hullOf(router))}"/>
${singles.map(({ cost, name, quality }) => `<circle cx="${x(cost)}" cy="${y(quality)}" r="4" fill="#777"><title>${name}</title></circle>`).join("\n")}
<text x="${width - right - 220}" y="${height - bottom - 40}" fill="#1a6fb5">router</text>
<text x="${width - right - 220}" y="${height - bottom - 22}" fill="#777">single models; mixing two by chance (dashed)</text>
</svg>
`
}

/** A straight mixture is a curve on a log scale. */
const dense = (hull: ReadonlyArray<Point>): ReadonlyArray<Point> =>
  hull.flatMap((a, at) => {
    const b = hull[at + 1]
    if (b === undefined) return [a]
    return Array.from({ length: 12 }, (_, step) => ({
      cost: a.cost + ((b.cost - a.cost) * step) / 12,
      quality: a.quality + ((b.quality - a.quality) * step) / 12
    }))
  })

const round = (value: number): number => Math.round(value * 100) / 100
