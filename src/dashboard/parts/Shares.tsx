import { Group, Progress, Stack, Text } from "@mantine/core"
import { percent } from "./format.ts"

interface Part {
  readonly name: string
  readonly value: number
  readonly text: string
}

/** Parts of a whole, each with its bar and its figure. */
export const Shares = ({ label, parts }: { readonly label: string; readonly parts: ReadonlyArray<Part> }) => {
  const whole = parts.reduce((sum, { value }) => sum + value, 0)
  return (
    <Stack gap={6} role="list" aria-label={label}>
      <Text size="xs" c="dimmed" fw={600}>
        {label}
      </Text>
      {parts.map(({ name, text, value }) => {
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
