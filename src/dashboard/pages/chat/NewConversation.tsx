import { Button, Group, Select, Stack, Text, Title } from "@mantine/core"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useRouter } from "@tanstack/react-router"
import { useState } from "react"
import { client, take } from "../../api/client.ts"
import { Loaded, Waiting } from "../../parts/Block.tsx"
import { Empty } from "../../parts/Empty.tsx"
import { draftOf, moveRest } from "../../parts/useDraft.ts"
import { type IdempotencyKeys, useIdempotencyKeys } from "../../parts/useIdempotencyKeys.ts"
import { useIsProjectKnown, useProjectId } from "../../shell/project.ts"
import { type Asked, withModel } from "./asked.ts"
import { Composer } from "./Composer.tsx"
import type { Message } from "./conversation.ts"
import { chatModels, chatProjects } from "./queries.ts"
import { attachedTo, moveImages } from "./useAttachments.ts"

const examples = [
  "Explain what a hold is, in two sentences",
  "Write a SQL query for the ten dearest calls of a day",
  "Compare REST and gRPC in a table",
  "Write a regular expression for an ISO date, and test cases"
]

const noHistories: ReadonlyArray<ReadonlyArray<Message>> = []

/** What is written and attached now. */
const draft = (): string => JSON.stringify([draftOf("chat.new"), attachedTo("new")])

interface Begun {
  readonly asked: Asked
  readonly projectId: string
  /** The draft at the time, where another question was asked. */
  readonly draftBefore?: string
}

/** A question that begins a conversation, or two with one model each. */
export const NewConversation = () => {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const router = useRouter()
  const query = useQuery(chatProjects)
  const current = useProjectId()
  const isKnown = useIsProjectKnown()
  const [chosen, choose] = useState<string>()
  const [other, compareWith] = useState<string | null>(null)
  const keys = useIdempotencyKeys()
  const begin = useMutation({
    mutationKey: ["begin"],
    mutationFn: ({ asked, projectId }: Begun) =>
      Promise.all(
        [asked, ...(other === null ? [] : [withModel(asked, other)])].map((each, index) =>
          begun(keys, index, projectId, each)
        )
      ),
    onSuccess: async ([id = "", second], { asked, draftBefore }) => {
      keys.taken()
      const name = second === undefined ? id : `${id}.${second}`
      // a draft that has not changed since an example was asked is kept for another conversation
      const goesOn = draftBefore === undefined || draftBefore !== draft()
      if (goesOn && moveRest(draftBefore === undefined ? asked.content : "", "chat.new", `chat.${name}`))
        moveImages(asked.image_ids ?? [], "new", name)
      // not awaited: what is written meanwhile would stay behind
      for (const list of ["conversations", "running-conversations"])
        void queries.invalidateQueries({ queryKey: [list] })
      // who has left it is not led back
      if (router.state.location.pathname !== "/chat") return
      await navigate({
        to: "/chat/$conversationId",
        params: { conversationId: id },
        search: second === undefined ? {} : { with: second },
        state: { isBegun: true }
      })
    }
  })
  return (
    <Loaded query={query} height={300}>
      {(projects) => {
        // another one must not pay
        if (!isKnown) return <Waiting height={300} />
        const projectId = (projects.find(({ id }) => id === (chosen ?? current)) ?? projects[0])?.id
        if (projectId === undefined)
          return (
            <Empty title="No project of yours can pay for a conversation">
              It takes a project in which you are an owner or a member. Create one in the menu at the top left, or ask
              an owner of a project that you only view.
            </Empty>
          )
        return (
          <>
            <Stack className="chat-messages" gap="sm">
              <Title order={1} size="h3">
                New conversation
              </Title>
              <Text size="sm" c="dimmed">
                auto chooses a model for each question by quality and cost. The project pays; the answer continues if
                you close this page.
              </Text>
              <Group gap="xs">
                {examples.map((content) => (
                  <Button
                    key={content}
                    size="xs"
                    variant="default"
                    h="auto"
                    mih={30}
                    py={5}
                    styles={{ label: { whiteSpace: "normal", lineHeight: 1.3 } }}
                    disabled={begin.isPending}
                    onClick={() => {
                      if (queries.isMutating({ mutationKey: ["begin"] }) > 0) return
                      begin.mutate({ asked: { content, model: "auto" }, projectId, draftBefore: draft() })
                    }}
                  >
                    {content}
                  </Button>
                ))}
              </Group>
              <Group gap="md" align="flex-end">
                {projects.length < 2 ? null : (
                  <Select
                    label="Paid by"
                    w={240}
                    allowDeselect={false}
                    data={projects.map(({ id, name }) => ({ value: id, label: name }))}
                    value={projectId}
                    onChange={(value) => choose(value ?? undefined)}
                  />
                )}
                <OtherModel projectId={projectId} value={other} onChange={compareWith} />
              </Group>
            </Stack>
            <Composer
              name="new"
              projectId={projectId}
              histories={noHistories}
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

/** A conversation with its first question; where that is refused, the next one begins the same conversation. */
const begun = async (keys: IdempotencyKeys, index: number, projectId: string, asked: Asked): Promise<string> => {
  const { id } = await take(
    client.POST("/api/chat/conversations", {
      params: { header: keys.headerOf("conversation", index, projectId) },
      body: { project_id: projectId }
    })
  )
  await take(
    client.POST("/api/chat/conversations/{id}/messages", {
      params: { path: { id }, header: keys.headerOf("message", id, asked) },
      body: asked
    })
  )
  return id
}

interface OtherModelProps {
  readonly projectId: string
  readonly value: string | null
  readonly onChange: (model: string | null) => void
}

const OtherModel = ({ onChange, projectId, value }: OtherModelProps) => {
  const models = useQuery(chatModels(projectId)).data ?? []
  return (
    <Select
      label="Compare with"
      description="Sends the same message to a second model, side by side"
      placeholder="no other model"
      w={240}
      searchable
      clearable
      data={models.map(({ id }) => id)}
      value={value}
      onChange={onChange}
    />
  )
}
