import { Stack, Text } from "@mantine/core"
import { Block } from "./Block.tsx"

/** More characters than these have no room in the size of others where a row of a phone has two tiles. */
const maxLarge = 12

/** A figure and what it is. */
export const Tile = ({ label, value }: { readonly label: string; readonly value: string }) => (
  <Block>
    <Stack gap={0}>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fw={650} fz={value.length > maxLarge ? "sm" : "lg"} className="figures">
        {value}
      </Text>
    </Stack>
  </Block>
)
