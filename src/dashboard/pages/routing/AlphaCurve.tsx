import { Stack, Text } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import type { Records } from "../../api/client.ts"
import { alphaCurve } from "../../api/queries.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { Chart } from "../../parts/Chart.tsx"
import { count, money } from "../../parts/format.ts"

type Curve = Records["AlphaCurveOut"]

/** What the project's own calls would cost at each alpha, and how good the answers would be. */
const AlphaCurve = ({ projectId }: { readonly projectId: string }) => {
  const query = useQuery(alphaCurve(projectId))
  return (
    <Block title="Quality and cost of your own calls">
      <Loaded query={query} height={320}>
        {(curve) =>
          curve.calls === 0 ? (
            <Text size="sm" c="dimmed">
              Once calls of auto have ended, this shows what they would have cost at each alpha.
            </Text>
          ) : (
            <Drawn of={curve} />
          )
        }
      </Loaded>
    </Block>
  )
}

const Drawn = ({ of }: { readonly of: Curve }) => (
  <Stack gap="xs">
    <Text size="sm" className="figures" data-testid="curve-now">
      Now: ≈ {money(of.current.expected_cost_microusd)} for {count(of.calls)} calls, predicted quality{" "}
      {quality(of.current.expected_quality)}; {shares(of)}. They were charged {money(of.charged_microusd)}.
    </Text>
    <Chart
      label="Cost and predicted quality by alpha"
      x={of.points.map(({ alpha }) => alpha)}
      formatX={alphaText}
      isTime={false}
      marked={nearest(of)}
      series={[
        {
          label: "Expected cost",
          values: of.points.map((point) => point.expected_cost_microusd),
          format: money,
          kind: "line"
        },
        {
          label: "Predicted quality",
          values: of.points.map((point) => point.expected_quality),
          format: quality,
          kind: "line"
        }
      ]}
    />
    <Text size="xs" c="dimmed">
      Every call is ranked again under the active policy, without its text; the project's alpha is marked.
    </Text>
  </Stack>
)

const quality = (value: number | null): string => (value === null ? "—" : value.toFixed(2))
const alphaText = (alpha: number): string => alpha.toFixed(2)

/** The place of the current alpha among the points. */
const nearest = ({ default_alpha, points }: Curve): number =>
  points.reduce(
    (best, { alpha }, index) =>
      Math.abs(alpha - default_alpha) < Math.abs((points[best]?.alpha ?? 0) - default_alpha) ? index : best,
    0
  )

const maxShares = 3

const shares = ({ calls, current }: Curve): string =>
  current.models
    .slice(0, maxShares)
    .map((each) => `${each.model} ${Math.round((100 * each.count) / calls)} %`)
    .join(", ")

export default AlphaCurve
