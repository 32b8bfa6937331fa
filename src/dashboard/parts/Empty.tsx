import { Stack, Text } from "@mantine/core"
import type { ReactNode } from "react"

/** What stands where a list has nothing yet, and how it gets something. */
export const Empty = ({ children, title }: { readonly title: string; readonly children?: ReactNode }) => (
  <Stack align="center" gap="xs" py="xl" ta="center">
    <Text fw={600}>{title}</Text>
    {typeof children === "string" ? (
      <Text size="sm" c="dimmed" maw={520}>
        {children}
      </Text>
    ) : (
      children
    )}
  </Stack>
)
