import "./chat.css"
import { Button, Group, Stack, Text } from "@mantine/core"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { lazy, Suspense } from "react"
import { client, take } from "../../api/client.ts"
import { Failure } from "../../parts/Failure.tsx"
import { useIsShown } from "../../parts/useIsShown.ts"
import { NewConversation } from "./NewConversation.tsx"
import { Sidebar } from "./Sidebar.tsx"
import { Thread } from "./Thread.tsx"

const Compare = lazy(() => import("./Compare.tsx"))

/** Conversations with models, written by the service: closing the page ends none of them. */
const Chat = () => {
  const { conversationId } = useParams({ strict: false })
  const { artifact, deleted, with: other } = useSearch({ strict: false })
  return (
    <div className="chat">
      <Sidebar />
      {conversationId === undefined ? (
        <section className="chat-thread" aria-label="New conversation">
          {deleted === undefined ? null : <Deleted key={deleted} id={deleted} />}
          <NewConversation />
        </section>
      ) : other === undefined || other === conversationId ? (
        <Thread key={conversationId} id={conversationId} artifactId={artifact} />
      ) : (
        <Suspense>
          <Compare key={`${conversationId} ${other}`} ids={[conversationId, other]} />
        </Suspense>
      )}
    </div>
  )
}

/** A deletion can be undone for a while. */
const Deleted = ({ id }: { readonly id: string }) => {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const isShown = useIsShown()
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
          autoFocus
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

export default Chat
