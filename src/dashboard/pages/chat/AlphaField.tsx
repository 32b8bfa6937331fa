import { Button, Group, Slider, Text } from "@mantine/core"

interface AlphaFieldProps {
  /** `undefined` while none is chosen: that of the routing configuration or the project then is used, which the page does not know. */
  readonly value: number | undefined
  readonly onChange: (alpha: number | undefined) => void
}

/** Says nothing of the alpha that is used while none is chosen. */
const middle = 0.5

export const AlphaField = ({ onChange, value }: AlphaFieldProps) => {
  const text = value?.toFixed(2) ?? "default"
  return (
    <Group gap={6} wrap="nowrap" role="group" aria-label="Alpha">
      <Text size="xs" c="dimmed" className="figures">
        alpha: {text}
      </Text>
      <Slider
        w={110}
        min={0}
        max={1}
        step={0.05}
        label={null}
        thumbLabel="Alpha: 0 is cheapest, 1 is best"
        thumbValueText={text}
        {...(value === undefined ? { color: "gray", startPointValue: middle } : {})}
        value={value ?? middle}
        onChange={onChange}
      />
      {value === undefined ? null : (
        <Button
          size="compact-xs"
          variant="default"
          title="Use the alpha of the routing configuration or the project"
          onClick={({ currentTarget }) => {
            // it goes
            currentTarget.parentElement?.querySelector<HTMLElement>("[role=slider]")?.focus()
            onChange(undefined)
          }}
        >
          Default
        </Button>
      )}
    </Group>
  )
}
