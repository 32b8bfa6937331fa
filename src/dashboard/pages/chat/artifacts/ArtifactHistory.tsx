import { Button, Group, Stack, Text } from "@mantine/core"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { client, take } from "../../../api/client.ts"
import { everyPage } from "../../../api/queries.ts"
import { AskInPlace } from "../../../parts/AskInPlace.tsx"
import { Loaded } from "../../../parts/Block.tsx"
import { Failure } from "../../../parts/Failure.tsx"
import { count, dateTime } from "../../../parts/format.ts"
import { useIdempotencyKeys } from "../../../parts/useIdempotencyKeys.ts"
import { useIsShown } from "../../../parts/useIsShown.ts"
import type { Artifact } from "../conversation.ts"

interface ArtifactHistoryProps {
  readonly conversationId: string
  /** In its last version. */
  readonly of: Artifact
  /** Nothing is changed while an answer may change the same. */
  readonly isRunning: boolean
  readonly onShow: (version: Artifact) => void
  readonly onChanged: () => void
  readonly onDeleted: () => void
}

/** All versions of an artifact, the newest first; an earlier one can be restored. */
export const ArtifactHistory = (props: ArtifactHistoryProps) => {
  const { conversationId, isRunning, of, onChanged, onDeleted, onShow } = props
  const queries = useQueryClient()
  const path = { id: conversationId, artifact_id: of.id }
  const versions = useQuery({
    queryKey: ["artifact-versions", of.id, of.version],
    queryFn: ({ signal }) =>
      everyPage((query) =>
        take(
          client.GET("/api/chat/conversations/{id}/artifacts/{artifact_id}/versions", {
            params: { path, query },
            signal
          })
        )
      )
  })
  const keys = useIdempotencyKeys()
  const isShown = useIsShown()
  const restore = useMutation({
    mutationFn: (version: number) =>
      take(
        client.POST("/api/chat/conversations/{id}/artifacts/{artifact_id}/restore", {
          params: { path, header: keys.headerOf(version) },
          body: { version }
        })
      ),
    onSuccess: async () => {
      keys.taken()
      await queries.invalidateQueries({ queryKey: ["artifact-versions", of.id] })
      onChanged()
    }
  })
  const remove = useMutation({
    mutationFn: () => take(client.DELETE("/api/chat/conversations/{id}/artifacts/{artifact_id}", { params: { path } })),
    onSuccess: () => {
      if (isShown()) onDeleted()
    }
  })
  return (
    <Loaded query={versions} height={200}>
      {(items) => (
        <Stack gap="xs">
          {restore.error === null ? null : <Failure error={restore.error} />}
          {items.map((version) => (
            <Group
              key={version.version}
              justify="space-between"
              gap="xs"
              role="group"
              aria-label={`Version ${version.version}`}
            >
              <Text size="sm" className="figures">
                v{version.version} · {dateTime(version.updated_at)} · {count(version.size_bytes)} bytes
              </Text>
              <Group gap="xs">
                <Button size="compact-xs" variant="default" onClick={() => onShow(version)}>
                  Show
                </Button>
                {version.version === of.version ? null : (
                  <Button
                    size="compact-xs"
                    variant="default"
                    disabled={isRunning}
                    loading={restore.isPending && restore.variables === version.version}
                    onClick={() => restore.mutate(version.version)}
                  >
                    Restore
                  </Button>
                )}
              </Group>
            </Group>
          ))}
          <AskInPlace
            size="xs"
            label="Delete this artifact"
            warning="All its versions are deleted with it."
            disabled={isRunning}
            doing={remove}
            onConfirm={() => remove.mutate()}
          />
        </Stack>
      )}
    </Loaded>
  )
}
