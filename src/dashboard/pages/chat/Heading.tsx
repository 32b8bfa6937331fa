import { Button, Group, Stack, Text, TextInput, Title } from "@mantine/core"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useRef, useState } from "react"
import { client, take } from "../../api/client.ts"
import { Failure } from "../../parts/Failure.tsx"
import { useIsShown } from "../../parts/useIsShown.ts"
import { isEscape } from "./asked.ts"
import type { Conversation } from "./conversation.ts"

interface HeadingProps {
  readonly of: Conversation
  readonly onChanged: () => Promise<unknown>
}

/** The title of a conversation, and what is done to all of it. */
export const Heading = ({ of, onChanged }: HeadingProps) => {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const isShown = useIsShown()
  const [title, setTitle] = useState<string>()
  const renameButton = useRef<HTMLButtonElement>(null)
  const close = () => {
    // the field goes
    renameButton.current?.focus()
    setTitle(undefined)
  }
  const params = { path: { id: of.id } }
  const rename = useMutation({
    mutationFn: (to: string) => take(client.PATCH("/api/chat/conversations/{id}", { params, body: { title: to } })),
    onSuccess: async () => {
      await onChanged()
      close()
    }
  })
  const mutationKey = ["delete", of.id]
  const remove = useMutation({
    mutationKey,
    mutationFn: () => take(client.DELETE("/api/chat/conversations/{id}", { params })),
    onSuccess: async () => {
      await onChanged()
      const state = { deleted: { id: of.id, takesFocus: isShown() } }
      // what was edited in it has gone with it; who has left it is not led away
      await navigate(
        isShown()
          ? { to: "/chat", state, ignoreBlocker: true }
          : { to: ".", search: true, state, replace: true, resetScroll: false }
      )
    }
  })
  const failed = rename.error ?? remove.error
  const current = rename.data?.title ?? of.title
  return (
    <Stack gap={4} pb="xs">
      <Group justify="space-between" gap="xs" wrap="nowrap">
        {title === undefined ? (
          <Title order={1} size="h4" lineClamp={1}>
            {current}
          </Title>
        ) : (
          <form
            onSubmit={(event) => {
              event.preventDefault()
              rename.mutate(title)
            }}
          >
            <Group gap="xs">
              <TextInput
                aria-label="Title"
                size="xs"
                value={title}
                readOnly={rename.isPending}
                maxLength={200}
                onChange={({ currentTarget }) => setTitle(currentTarget.value)}
                onKeyDown={(event) => isEscape(event) && close()}
                autoFocus
              />
              <Button size="xs" type="submit" loading={rename.isPending} disabled={title.trim() === ""}>
                Save
              </Button>
            </Group>
          </form>
        )}
        <Group gap="xs" wrap="nowrap">
          <Button ref={renameButton} size="compact-xs" variant="default" onClick={() => setTitle(current)}>
            Rename
          </Button>
          <Button
            size="compact-xs"
            variant="outline"
            color="red"
            loading={remove.isPending}
            onClick={() => {
              // known before the page shows it: a second click may come earlier, and would say that there is no such conversation
              if (queries.isMutating({ mutationKey }) === 0) remove.mutate()
            }}
          >
            Delete
          </Button>
        </Group>
      </Group>
      {failed === null ? null : <Failure error={failed} />}
      {of.messages.length === 0 ? (
        <Text size="sm" c="dimmed">
          No messages yet.
        </Text>
      ) : null}
    </Stack>
  )
}
