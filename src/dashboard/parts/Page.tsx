import { Group, Stack, Text, Title } from "@mantine/core"
import { useDocumentTitle } from "@mantine/hooks"
import type { ReactNode } from "react"

interface PageProps {
  readonly title: string
  readonly lead?: string
  readonly actions?: ReactNode
  readonly children: ReactNode
}

export const Page = ({ actions, children, lead, title }: PageProps) => {
  useDocumentTitle(`${title} · Model routing gateway`)
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-start" gap="sm">
        <div>
          <Title order={1} size="h3">
            {title}
          </Title>
          {lead === undefined ? null : (
            <Text size="sm" c="dimmed">
              {lead}
            </Text>
          )}
        </div>
        {actions === undefined ? null : <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}
