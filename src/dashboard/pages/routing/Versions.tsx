import { Button, Code, Group, Stack, Text } from "@mantine/core"
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useRef, useState } from "react"
import { client, type Records, take } from "../../api/client.ts"
import { routing, routingVersions } from "../../api/queries.ts"
import { rulesChanged } from "../../api/queryClient.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { Failure } from "../../parts/Failure.tsx"
import { dateTime } from "../../parts/format.ts"
import { LoadMore } from "../../parts/LoadMore.tsx"
import { Status } from "../../parts/Status.tsx"

type Settings = Pick<Records["RoutingVersionOut"], (typeof compared)[number]>

interface VersionsProps {
  readonly projectId: string
  readonly slug: string
  readonly mayWrite: boolean
}

/** Every version, with what it changes, and the way back to it. */
export const Versions = ({ mayWrite, projectId, slug }: VersionsProps) => {
  const queries = useQueryClient()
  const list = useInfiniteQuery(routingVersions(projectId, slug))
  // it may be none of the versions that are read
  const active = useQuery(routing(projectId, slug)).data?.data
  const activate = useMutation({
    mutationFn: (version: number) =>
      take(
        client.POST("/api/projects/{id}/routing-configurations/{slug}/activate", {
          params: { path: { id: projectId, slug } },
          body: { version }
        })
      ),
    onSuccess: async (_, version) => {
      await rulesChanged(queries, projectId, "routings", "routing", "routing-versions")
      // its button goes
      if (document.activeElement === document.body)
        lines.current?.querySelector<HTMLElement>(`[data-version="${version}"]`)?.focus()
    }
  })
  const lines = useRef<HTMLDivElement>(null)
  const [open, setOpen] = useState<number>()
  return (
    <Block title="Versions">
      <Loaded query={list} height={120}>
        {({ pages }) => (
          <Stack gap="xs" ref={lines}>
            {pages
              .flatMap(({ items }) => items)
              .map((each) => (
                <Stack key={each.version} gap={4}>
                  <Group justify="space-between">
                    <Group gap="xs">
                      <Text size="sm" fw={600} tabIndex={-1} data-version={each.version}>
                        v{each.version}
                      </Text>
                      {each.is_active ? <Status state="active" label="active" /> : null}
                      <Text size="xs" c="dimmed">
                        {dateTime(each.created_at)}
                      </Text>
                    </Group>
                    {each.is_active ? null : (
                      <Group gap="xs">
                        <Button
                          size="compact-xs"
                          variant="default"
                          aria-expanded={open === each.version}
                          onClick={() => setOpen(open === each.version ? undefined : each.version)}
                        >
                          Differences
                        </Button>
                        <Button
                          size="compact-xs"
                          variant="default"
                          disabled={!mayWrite}
                          loading={activate.isPending && activate.variables === each.version}
                          onClick={() => activate.mutate(each.version)}
                        >
                          Activate
                        </Button>
                      </Group>
                    )}
                  </Group>
                  {open === each.version && !each.is_active && active !== undefined ? (
                    <Code block fz="xs">
                      {differences(active, each).join("\n") || "the same settings"}
                    </Code>
                  ) : null}
                </Stack>
              ))}
            {activate.error === null ? null : <Failure error={activate.error} />}
            <LoadMore w="fit-content" list={list}>
              Earlier versions
            </LoadMore>
          </Stack>
        )}
      </Loaded>
    </Block>
  )
}

const compared = [
  "name",
  "models",
  "providers",
  "alpha",
  "max_input_price_microusd_per_million",
  "max_output_price_microusd_per_million",
  "enable_fallback"
] as const

const differences = (from: Settings, to: Settings): ReadonlyArray<string> =>
  compared
    .map((field) => [field, JSON.stringify(from[field] ?? null), JSON.stringify(to[field] ?? null)] as const)
    .filter(([, before, after]) => before !== after)
    .map(([field, before, after]) => `${field}: ${before} → ${after}`)
