import { Box, SegmentedControl, Stack, Table, useComputedColorScheme } from "@mantine/core"
import { useElementSize } from "@mantine/hooks"
import { useEffect, useRef, useState } from "react"
import uPlot from "uplot"
import "uplot/dist/uPlot.min.css"
import { rangeOf, stepsOf, widthOf } from "./axis.ts"

export interface Series {
  readonly label: string
  readonly values: ReadonlyArray<number | null>
  readonly format: (value: number) => string
  readonly kind: "bars" | "line"
  /** Its axis goes so far where every value is zero; else to 1. */
  readonly unit?: number
}

interface ChartProps {
  readonly label: string
  /** Of the points, from left to right. */
  readonly x: ReadonlyArray<number>
  readonly formatX: (value: number) => string
  /** In UTC, as the service counts days. */
  readonly isTime: boolean
  readonly series: ReadonlyArray<Series>
  readonly height?: number
  /** A point that is marked, by its place. */
  readonly marked?: number | undefined
}

/** A chart with a table of the same figures: for people who do not see it, and for exact values. */
export const Chart = (props: ChartProps) => {
  const [view, setView] = useState("chart")
  return (
    <Stack gap="xs">
      <SegmentedControl
        size="xs"
        value={view}
        onChange={setView}
        data={["chart", "table"].map((each) => ({ value: each, label: each === "chart" ? "Chart" : "Table" }))}
        aria-label={`${props.label}: view`}
        style={{ alignSelf: "flex-end" }}
      />
      {view === "chart" ? <Drawn {...props} /> : <Figures {...props} />}
    </Stack>
  )
}

const Figures = ({ formatX, height = 220, isTime, label, series, x }: ChartProps) => (
  <Box mah={height} style={{ overflow: "auto" }} tabIndex={0} role="region" aria-label={label}>
    <Table striped fz="sm" className="figures">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{isTime ? "UTC" : ""}</Table.Th>
          {series.map((each) => (
            <Table.Th key={each.label}>{each.label}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {x.map((at, index) => (
          <Table.Tr key={at}>
            <Table.Td>{formatX(at)}</Table.Td>
            {series.map(({ format, label, values }) => {
              const value = values[index]
              return <Table.Td key={label}>{value === null || value === undefined ? "—" : format(value)}</Table.Td>
            })}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Box>
)

const barsOf = uPlot.paths.bars
const colors = { light: ["#4263eb", "#0b7285"], dark: ["#91a7ff", "#66d9e8"] }

const Drawn = ({ formatX, height = 220, isTime, label, marked, series, x }: ChartProps) => {
  const scheme = useComputedColorScheme("light")
  const { ref: sized, width } = useElementSize()
  const target = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (target.current === null || width === 0) return
    const ink = scheme === "dark" ? "#c9c9c9" : "#495057"
    const lines = scheme === "dark" ? "#424242" : "#dee2e6"
    const plot = new uPlot(
      {
        width,
        height,
        cursor: { drag: { x: false, y: false } },
        legend: { live: true },
        scales: {
          x: {
            time: isTime,
            range: spread(
              series.some(({ kind }) => kind === "bars"),
              x.length
            )
          },
          ...Object.fromEntries(
            series.map(({ unit = 1 }, index) => [
              `y${index}`,
              { range: (_: uPlot, low: number, high: number) => rangeOf(low, high, unit) }
            ])
          )
        },
        axes: [
          { stroke: ink, grid: { show: false }, ticks: { stroke: lines }, values: (_, at) => at.map(formatX) },
          ...series.map((each, index) => {
            const incrs = stepsOf(each.values)
            return {
              scale: `y${index}`,
              side: index === 0 ? 3 : 1,
              stroke: ink,
              grid: { show: index === 0, stroke: lines },
              ticks: { show: false },
              size: (_: uPlot, labels: Array<string> | null) => widthOf(labels),
              values: (_: uPlot, at: Array<number>) => at.map(each.format),
              ...(incrs === undefined ? {} : { incrs })
            }
          })
        ],
        series: [
          { value: (_, at) => (at === null ? "—" : formatX(at)), label: isTime ? "UTC" : "At" },
          ...series.map((each, index) => ({
            label: each.label,
            scale: `y${index}`,
            stroke: colors[scheme][index] ?? ink,
            width: 2,
            value: (_: uPlot, value: number | null) => (value === null ? "—" : each.format(value)),
            ...(each.kind === "bars" && barsOf !== undefined
              ? { paths: barsOf({ size: [0.7, 40] }), fill: `${colors[scheme][index]}66`, points: { show: false } }
              : {
                  points: {
                    show: true,
                    size: marked === undefined ? 5 : 8,
                    filter: () => (marked === undefined ? null : [marked])
                  }
                })
          }))
        ]
      },
      [[...x], ...series.map(({ values }) => [...values])] as uPlot.AlignedData,
      target.current
    )
    return () => plot.destroy()
  }, [width, height, scheme, x, series, formatX, isTime, marked])
  return (
    <Box ref={sized} mih={height + 30}>
      <div ref={target} role="img" aria-label={`${label}; the table has its figures`} />
    </Box>
  )
}

/** Half a bar more on each side, so that the first and the last are not cut. */
const spread =
  (hasBars: boolean, points: number) =>
  (_: uPlot, low: number, high: number): [number, number] => {
    const margin = points < 2 ? 1 : (high - low) / (points - 1) / 2
    return hasBars ? [low - margin, high + margin] : [low, high]
  }
