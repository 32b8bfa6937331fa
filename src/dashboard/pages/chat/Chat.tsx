import "./chat.css"
import { Button, Group, Select, Stack, Text, Title } from "@mantine/core"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { client, newIdempotencyKey, take } from "../../api/client.ts"
import { Loaded } from "../../parts/Block.tsx"
import { Empty } from "../../parts/Empty.tsx"
import { Failure } from "../../parts/Failure.tsx"
import { useProjectId } from "../../shell/project.ts"
import { type Asked, Composer } from "./Composer.tsx"
import { chatProjects } from "./queries.ts"
import { Sidebar } from "./Sidebar.tsx"
import { Thread } from "./Thread.tsx"

/** Conversations with models, written by the service: closing the page ends none of them. */
const Chat = () => {
  const { conversationId } = useParams({ strict: false })
  const { deleted } = useSearch({ strict: false })
  return (
    <div className="chat">
      <Sidebar />
      {conversationId === undefined ? (
        <section className="chat-thread" aria-label="New conversation">
          {deleted === undefined ? null : <Deleted key={deleted} id={deleted} />}
          <NewConversation />
        </section>
      ) : (
        <Thread key={conversationId} id={conversationId} />
      )}
    </div>
  )
}

const examples = [
  "Explain what a hold is, in two sentences",
  "Write a SQL query for the ten dearest calls of a day",
  "Compare REST and gRPC in a table",
  "Write a regular expression for an ISO date, and test cases"
]

const NewConversation = () => {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const query = useQuery(chatProjects)
  const current = useProjectId()
  const [chosen, choose] = useState<string>()
  const begin = useMutation({
    mutationFn: async ({ asked, projectId }: { readonly asked: Asked; readonly projectId: string }) => {
      const made = await take(
        client.POST("/api/chat/conversations", {
          params: { header: { "idempotency-key": newIdempotencyKey() } },
          body: { project_id: projectId }
        })
      )
      await take(
        client.POST("/api/chat/conversations/{id}/messages", {
          params: { path: { id: made.id }, header: { "idempotency-key": newIdempotencyKey() } },
          body: asked
        })
      )
      return made.id
    },
    onSuccess: async (id) => {
      await Promise.all(
        [["conversations"], ["running-conversations"]].map((queryKey) => queries.invalidateQueries({ queryKey }))
      )
      await navigate({ to: "/chat/$conversationId", params: { conversationId: id } })
    }
  })
  return (
    <Loaded query={query} height={300}>
      {({ items }) => {
        const projectId = (items.find(({ id }) => id === (chosen ?? current)) ?? items[0])?.id
        if (projectId === undefined) return <Empty title="No project of yours can pay for a conversation" />
        return (
          <>
            <Stack className="chat-messages" gap="sm">
              <Title order={1} size="h3">
                New conversation
              </Title>
              <Text size="sm" c="dimmed">
                auto chooses a model for each question by quality and cost. It is paid by the project; the answer is
                written even if you close this page.
              </Text>
              <Group gap="xs">
                {examples.map((content) => (
                  <Button
                    key={content}
                    size="xs"
                    variant="default"
                    disabled={begin.isPending}
                    onClick={() => begin.mutate({ asked: { content, model: "auto" }, projectId })}
                  >
                    {content}
                  </Button>
                ))}
              </Group>
              {items.length < 2 ? null : (
                <Select
                  label="Paid by"
                  w={240}
                  allowDeselect={false}
                  data={items.map(({ id, name }) => ({ value: id, label: name }))}
                  value={projectId}
                  onChange={(value) => choose(value ?? undefined)}
                />
              )}
            </Stack>
            <Composer
              name="new"
              projectId={projectId}
              isRunning={false}
              sending={begin}
              onSend={(asked) => begin.mutateAsync({ asked, projectId })}
              onStop={() => {}}
            />
          </>
        )
      }}
    </Loaded>
  )
}

/** A deletion can be taken back for a while. */
const Deleted = ({ id }: { readonly id: string }) => {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const restore = useMutation({
    mutationFn: () => take(client.POST("/api/chat/conversations/{id}/restore", { params: { path: { id } } })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["conversations"] })
      await navigate({ to: "/chat/$conversationId", params: { conversationId: id } })
    }
  })
  return (
    <Stack gap="xs" pb="sm">
      <Group gap="xs" role="status">
        <Text size="sm">The conversation is deleted.</Text>
        <Button size="compact-xs" variant="default" loading={restore.isPending} onClick={() => restore.mutate()}>
          Undo
        </Button>
      </Group>
      {restore.error === null ? null : <Failure error={restore.error} />}
    </Stack>
  )
}

export default Chat
