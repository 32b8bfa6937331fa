import { Button, Group, Stack, Text } from "@mantine/core"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { client, take } from "../api/client.ts"
import { Failure } from "../parts/Failure.tsx"
import { isDialogOpen } from "../parts/mayTakeFocus.ts"
import { useIsShown } from "../parts/useIsShown.ts"

export interface Deleted {
  readonly id: string
  /** Not where a person has gone on meanwhile. */
  readonly takesFocus: boolean
}

/** A deletion can be undone for a while. */
const DeletedConversation = ({ id, takesFocus }: Deleted) => {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const isShown = useIsShown()
  const [isFocused] = useState(() => takesFocus && !isDialogOpen())
  const restore = useMutation({
    mutationFn: () => take(client.POST("/api/chat/conversations/{id}/restore", { params: { path: { id } } })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["conversations"] })
      if (isShown()) await navigate({ to: "/chat/$conversationId", params: { conversationId: id } })
    }
  })
  return (
    <Stack gap="xs" pb="sm">
      <Group gap="xs" role="status">
        <Text size="sm">The conversation is deleted.</Text>
        <Button
          size="compact-xs"
          variant="default"
          autoFocus={isFocused}
          loading={restore.isPending}
          onClick={() => restore.mutate()}
        >
          Undo
        </Button>
      </Group>
      {restore.error === null ? null : <Failure error={restore.error} />}
    </Stack>
  )
}

export default DeletedConversation
