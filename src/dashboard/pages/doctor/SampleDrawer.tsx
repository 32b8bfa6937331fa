import { Code, Group, Stack, Text, Title } from "@mantine/core"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { client, take } from "../../api/client.ts"
import { AskInPlace } from "../../parts/AskInPlace.tsx"
import { Loaded } from "../../parts/Block.tsx"
import { CopyText } from "../../parts/CopyText.tsx"
import { Drawer } from "../../parts/Dialog.tsx"
import { cost, count, dateTime, relative, seconds } from "../../parts/format.ts"
import { TextLink } from "../../parts/LinkButton.tsx"
import { RouteTrail } from "../../parts/RouteTrail.tsx"
import { Status } from "../../parts/Status.tsx"
import { useIsShown } from "../../parts/useIsShown.ts"
import { type Sample, sample, samplesErased } from "./queries.ts"

interface SampleDrawerProps {
  readonly id: string
  readonly projectId: string
  readonly mayWrite: boolean
  readonly block: number | undefined
  readonly onClose: () => void
}

/** One collected call with its content. */
const SampleDrawer = ({ block, id, mayWrite, onClose, projectId }: SampleDrawerProps) => {
  const query = useQuery(sample(id))
  return (
    <Drawer opened onClose={onClose} title="Sample" size="xl">
      <Loaded query={query} height={320}>
        {(found) => (
          <Stack>
            <About of={found} />
            <Prompt of={found} block={block} />
            <Remove id={id} projectId={projectId} mayWrite={mayWrite} onRemoved={onClose} />
          </Stack>
        )}
      </Loaded>
    </Drawer>
  )
}

const About = ({ of: { flow_authorized, id, sample: call } }: { readonly of: Sample }) => (
  <Stack gap={4}>
    <Group gap="xs">
      <Status state={call.status} />
      <RouteTrail attempts={call.attempts} />
      <CopyText label="Request id" text={id} />
      <TextLink to="/requests/$requestId" params={{ requestId: id }}>
        The call
      </TextLink>
    </Group>
    <Text size="sm" className="figures">
      {dateTime(call.captured_at)} · {call.decision.requested_model} · {cost(call.cost)} · {seconds(call.latency_ms)}
    </Text>
    <Text size="sm" c="dimmed">
      Conversation <span className="mono">{call.conversation}</span>. Deleted {relative(call.expires_at)}.{" "}
      {flow_authorized ? "It may be sent to other models." : "It is sent to no other model."}
    </Text>
  </Stack>
)

interface PromptProps {
  readonly of: Sample
  readonly block: number | undefined
}

/** What was sent, tools first as evidence counts them, and what was answered; where no text is kept, the sizes of the blocks. */
const Prompt = ({ block, of: { sample: call } }: PromptProps) => {
  const { blocks, messages, tools } = call.request
  const answer = call.response?.message ?? null
  return (
    <Stack gap="sm">
      {messages === null
        ? blocks.map(({ bytes, id, kind, tool }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: equal blocks have the same id
            <Place key={`${index} ${id}`} number={index + 1} isMarked={index === block}>
              <Text size="sm" className="figures">
                {kind}
                {tool === null ? "" : ` ${tool}`} · {count(bytes)} bytes
              </Text>
            </Place>
          ))
        : [...(tools ?? []).map(ofTool), ...messages].map((message, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the messages of a call do not change
            <Place key={index} number={index + 1} isMarked={index === block}>
              <Message of={message} />
            </Place>
          ))}
      {answer === null ? null : <Message of={answer} />}
      {call.truncated ? <Text size="sm">It was too large: its text is not kept.</Text> : null}
    </Stack>
  )
}

const ofTool = (tool: Readonly<Record<string, unknown>>) => ({ role: "tool offered", content: tool })

interface PlaceProps {
  readonly number: number
  readonly isMarked: boolean
  readonly children: ReactNode
}

/** A block of the prompt; the marked one comes into view. */
const Place = ({ children, isMarked, number }: PlaceProps) => (
  <div
    ref={isMarked ? intoView : undefined}
    className={isMarked ? "place marked" : "place"}
    aria-current={isMarked ? "location" : undefined}
  >
    <Text size="xs" c="dimmed" className="figures">
      Block {number}
    </Text>
    {children}
  </div>
)

const intoView = (element: HTMLDivElement | null) => element?.scrollIntoView({ block: "start" })

const Message = ({ of: { content, role, ...rest } }: { readonly of: Readonly<Record<string, unknown>> }) => (
  <section>
    <Title order={3} size="h6">
      {String(role)}
    </Title>
    {content === null || content === undefined ? null : <Verbatim of={content} />}
    {Object.keys(rest).length === 0 ? null : <Verbatim of={rest} />}
  </section>
)

/** A text as it is, anything else as JSON. */
const Verbatim = ({ of }: { readonly of: unknown }) => (
  <Code block fz="xs" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
    {typeof of === "string" ? of : JSON.stringify(of, null, 2)}
  </Code>
)

interface RemoveProps {
  readonly id: string
  readonly projectId: string
  readonly mayWrite: boolean
  readonly onRemoved: () => void
}

const Remove = ({ id, mayWrite, onRemoved, projectId }: RemoveProps) => {
  const queries = useQueryClient()
  const isShown = useIsShown()
  const remove = useMutation({
    mutationFn: () => take(client.DELETE("/api/capture/samples/{id}", { params: { path: { id } } })),
    onSuccess: async () => {
      if (isShown()) onRemoved()
      queries.removeQueries({ queryKey: ["sample", id] })
      await samplesErased(queries, projectId)
    }
  })
  return (
    <AskInPlace
      label="Erase this sample"
      verb="Erase"
      warning="Its content cannot be read again."
      disabled={!mayWrite}
      doing={remove}
      onConfirm={() => remove.mutate()}
    />
  )
}

export default SampleDrawer
