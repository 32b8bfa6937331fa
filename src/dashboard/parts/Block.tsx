import { Group, Paper, Skeleton, Stack, Title } from "@mantine/core"
import { useTimeout } from "@mantine/hooks"
import { type ReactNode, useState } from "react"
import { Failure } from "./Failure.tsx"

interface BlockProps {
  readonly title?: string
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** One part of a page, with a border of its own. */
export const Block = ({ actions, children, title }: BlockProps) => (
  <Paper
    component="section"
    withBorder
    p="md"
    className="block"
    {...(title === undefined ? {} : { "aria-label": title })}
  >
    <Stack gap="sm">
      {title === undefined && actions === undefined ? null : (
        <Group justify="space-between" gap="xs">
          {title === undefined ? (
            <span />
          ) : (
            <Title order={2} size="h5">
              {title}
            </Title>
          )}
          {actions}
        </Group>
      )}
      {children}
    </Stack>
  </Paper>
)

/** Before this a skeleton would only flash. */
const skeletonMillis = 150

export const Waiting = ({ height }: { readonly height: number }) => {
  const [isShown, show] = useState(false)
  useTimeout(() => show(true), skeletonMillis, { autoInvoke: true })
  return (
    <Skeleton height={height} visible={isShown} animate={isShown} aria-busy="true" role="status" aria-label="Loading">
      <div style={{ height }} />
    </Skeleton>
  )
}

interface LoadedProps<Data> {
  readonly query: { readonly data: Data | undefined; readonly error: unknown; readonly refetch: () => unknown }
  /** Of the content, so that nothing moves when it comes. */
  readonly height: number
  readonly children: (data: Data) => ReactNode
}

/** What a query has brought, and what stands there before, or when it fails; old data stays while newer is fetched. */
export const Loaded = <Data,>({ children, height, query }: LoadedProps<Data>) => {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.error !== null) return <Failure error={query.error} retry={query.refetch} />
  return <Waiting height={height} />
}
