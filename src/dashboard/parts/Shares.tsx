import { Group, Progress, Stack, Text } from "@mantine/core"
import { percent } from "./format.ts"

interface Part {
  readonly name: string
  readonly value: number
  readonly text: string
}

interface SharesProps {
  readonly label: string
  /** All of them, the largest first. */
  readonly parts: ReadonlyArray<Part>
  /** So many are shown by themselves, and the others as one. */
  readonly max?: number
  /** What several others are together, such as `3 more models`. */
  readonly others?: (count: number, value: number) => Omit<Part, "value">
}

/** Parts of a whole, each with its bar and its figure. */
export const Shares = ({ label, max = Number.POSITIVE_INFINITY, others, parts }: SharesProps) => {
  const sumOf = (some: ReadonlyArray<Part>) => some.reduce((sum, { value }) => sum + value, 0)
  const whole = sumOf(parts)
  const rest = parts.slice(max)
  const shown = [
    ...parts.slice(0, max),
    ...(rest.length === 0 || others === undefined ? [] : [{ ...others(rest.length, sumOf(rest)), value: sumOf(rest) }])
  ]
  return (
    <Stack gap={6} role="list" aria-label={label}>
      <Text size="xs" c="dimmed" fw={600}>
        {label}
      </Text>
      {shown.map(({ name, text, value }) => {
        const share = whole === 0 ? 0 : value / whole
        return (
          <Stack key={name} gap={2} role="listitem">
            <Group justify="space-between" wrap="nowrap" gap="xs">
              <Text size="sm" truncate>
                {name}
              </Text>
              <Text size="sm" className="figures" style={{ whiteSpace: "nowrap" }}>
                {text} · {percent(share)}
              </Text>
            </Group>
            <Progress value={share * 100} size="sm" aria-hidden="true" />
          </Stack>
        )
      })}
    </Stack>
  )
}
