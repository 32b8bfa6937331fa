import { Button, Group, Stack, Text, TextInput, Title } from "@mantine/core"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useEffect, useMemo, useRef, useState } from "react"
import { client, newIdempotencyKey, take } from "../../api/client.ts"
import { Loaded } from "../../parts/Block.tsx"
import { Failure } from "../../parts/Failure.tsx"
import { type Asked, Composer } from "./Composer.tsx"
import type { Attempt, Conversation, Message } from "./conversation.ts"
import { MessageView } from "./MessageView.tsx"
import { useConversation } from "./useConversation.ts"

const noAttempts: ReadonlyArray<Attempt> = []

/** One conversation, with what is asked next. */
export const Thread = ({ id }: { readonly id: string }) => {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const changed = () =>
    Promise.all(
      [["conversations"], ["running-conversations"], ["balance"]].map((queryKey) =>
        queries.invalidateQueries({ queryKey })
      )
    )
  const { again, begin, error, state } = useConversation(id, () => void changed())
  const { conversation } = state

  const header = () => ({ "idempotency-key": newIdempotencyKey() })
  const ask = useMutation({
    mutationFn: (turn: Turn) => {
      switch (turn.kind) {
        case "send":
          return take(
            client.POST("/api/chat/conversations/{id}/messages", {
              params: { path: { id }, header: header() },
              body: turn.asked
            })
          )
        case "edit":
          return take(
            client.POST("/api/chat/conversations/{id}/messages/{message_id}/edit", {
              params: { path: { id, message_id: turn.message.id }, header: header() },
              body: { content: turn.content, model: turn.model }
            })
          )
        case "retry":
          return take(
            client.POST("/api/chat/conversations/{id}/messages/{message_id}/retry", {
              params: { path: { id, message_id: turn.message.id }, header: header() },
              body: {}
            })
          )
      }
    },
    onSuccess: (turn) => {
      begin(turn)
      void changed()
    }
  })
  const stop = useMutation({
    mutationFn: () => take(client.POST("/api/chat/conversations/{id}/stop", { params: { path: { id } } }))
  })
  const fork = useMutation({
    mutationFn: (message: Message) =>
      take(
        client.POST("/api/chat/conversations/{id}/fork", {
          params: { path: { id }, header: header() },
          body: { message_id: message.id }
        })
      ),
    onSuccess: async (made) => {
      await changed()
      await navigate({ to: "/chat/$conversationId", params: { conversationId: made.id } })
    }
  })
  const messages = conversation?.messages ?? []
  const model = messages.findLast(({ role }) => role === "assistant")?.model_requested ?? "auto"
  const actions = useMemo(
    () => ({
      retry: (message: Message) => ask.mutate({ kind: "retry", message }),
      edit: (message: Message, content: string) => ask.mutate({ kind: "edit", message, content, model }),
      fork: (message: Message) => fork.mutate(message)
    }),
    [ask.mutate, fork.mutate, model]
  )

  const end = useRef<HTMLDivElement>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const follows = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what has come moves the end
  useEffect(() => {
    if (follows.current) end.current?.scrollIntoView({ block: "end" })
  }, [conversation])

  const last = messages.at(-1)
  return (
    <section className="chat-thread" aria-label="Conversation">
      {error === null ? null : <Failure error={error} retry={again} />}
      <Loaded query={{ data: conversation, error: null, refetch: noRefetch }} height={400}>
        {(found) => (
          <>
            <Heading of={found} onChanged={changed} />
            <div
              ref={scroller}
              className="chat-messages"
              // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
              tabIndex={0}
              role="region"
              aria-label="Messages"
              onScroll={({ currentTarget: { clientHeight, scrollHeight, scrollTop } }) => {
                follows.current = scrollHeight - scrollTop - clientHeight < nearEnd
              }}
            >
              <Stack gap="lg">
                {found.messages.map((message) => (
                  <MessageView
                    key={message.id}
                    message={message}
                    isLast={
                      message === last || (message.role === "user" && message.position === (last?.position ?? 0) - 1)
                    }
                    isRunning={found.running}
                    attempts={message.status === "streaming" ? state.attempts : noAttempts}
                    actions={actions}
                  />
                ))}
              </Stack>
              <div ref={end} />
            </div>
            {stop.error === null ? null : <Failure error={stop.error} />}
            {fork.error === null ? null : <Failure error={fork.error} />}
            <Composer
              name={id}
              projectId={found.project_id}
              isRunning={found.running}
              sending={ask}
              onSend={(asked) => ask.mutateAsync({ kind: "send", asked })}
              onStop={() => stop.mutate()}
            />
          </>
        )}
      </Loaded>
    </section>
  )
}

type Turn =
  | { readonly kind: "send"; readonly asked: Asked }
  | { readonly kind: "edit"; readonly message: Message; readonly content: string; readonly model: string }
  | { readonly kind: "retry"; readonly message: Message }

/** Who reads further up is not moved. */
const nearEnd = 60
const noRefetch = (): never => {
  throw new Error("a conversation is followed, not fetched")
}

interface HeadingProps {
  readonly of: Conversation
  readonly onChanged: () => Promise<unknown>
}

const Heading = ({ of, onChanged }: HeadingProps) => {
  const navigate = useNavigate()
  const [title, setTitle] = useState<string>()
  const params = { path: { id: of.id } }
  const rename = useMutation({
    mutationFn: (to: string) => take(client.PATCH("/api/chat/conversations/{id}", { params, body: { title: to } })),
    onSuccess: async () => {
      await onChanged()
      setTitle(undefined)
    }
  })
  const remove = useMutation({
    mutationFn: () => take(client.DELETE("/api/chat/conversations/{id}", { params })),
    onSuccess: async () => {
      await onChanged()
      await navigate({ to: "/chat", search: { deleted: of.id } })
    }
  })
  const failed = rename.error ?? remove.error
  return (
    <Stack gap={4} pb="xs">
      <Group justify="space-between" gap="xs" wrap="nowrap">
        {title === undefined ? (
          <Title order={1} size="h4" lineClamp={1}>
            {rename.data?.title ?? of.title}
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
                maxLength={200}
                onChange={({ currentTarget }) => setTitle(currentTarget.value)}
                autoFocus
              />
              <Button size="xs" type="submit" loading={rename.isPending} disabled={title.trim() === ""}>
                Save
              </Button>
            </Group>
          </form>
        )}
        <Group gap="xs" wrap="nowrap">
          <Button size="compact-xs" variant="default" onClick={() => setTitle(of.title)}>
            Rename
          </Button>
          <Button
            size="compact-xs"
            variant="outline"
            color="red"
            loading={remove.isPending}
            onClick={() => remove.mutate()}
          >
            Delete
          </Button>
        </Group>
      </Group>
      {failed === null ? null : <Failure error={failed} />}
      {of.messages.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing was asked yet.
        </Text>
      ) : null}
    </Stack>
  )
}
