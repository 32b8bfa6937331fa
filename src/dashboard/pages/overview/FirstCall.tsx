import { Button, Code, Group, Stack, Text, Textarea } from "@mantine/core"
import { type QueryClient, useQueryClient } from "@tanstack/react-query"
import { type KeyboardEvent, useRef, useState } from "react"
import { ask, type CallMetadata } from "../../api/chat.ts"
import { inFlight } from "../../api/queries.ts"
import { Block } from "../../parts/Block.tsx"
import { Failure } from "../../parts/Failure.tsx"
import { cost, seconds } from "../../parts/format.ts"
import { LinkButton } from "../../parts/LinkButton.tsx"
import { mayTakeFocus } from "../../parts/mayTakeFocus.ts"
import { reasonText } from "../../parts/reasons.ts"
import { useDraft } from "../../parts/useDraft.ts"
import type { Payer } from "../../shell/project.ts"
import { Snippets } from "../keys/Snippets.tsx"

const greeting = "Say hello in three languages"

type State =
  | { readonly kind: "idle" }
  | { readonly kind: "running" }
  | { readonly kind: "done"; readonly metadata: CallMetadata | undefined }
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly error: unknown }

const payers: Readonly<Record<Payer, string>> = {
  own: "from your balance",
  other: "from the balance of the project's owner",
  none: "by the project's own credentials"
}

interface FirstCallProps {
  readonly projectId: string
  readonly payer: Payer
}

/** The first message of a project, sent as the signed-in person: no key is needed for it. */
const FirstCall = ({ payer, projectId }: FirstCallProps) => {
  const queries = useQueryClient()
  const { forget, set: setText, text } = useDraft(`first-call.${projectId}`, greeting)
  const [answer, setAnswer] = useState("")
  const [state, setState] = useState<State>({ kind: "idle" })
  const [isCodeOpen, openCode] = useState(false)
  const [isFocused] = useState(mayTakeFocus)
  const running = useRef<AbortController | null>(null)

  const send = async () => {
    if (text.trim() === "" || state.kind === "running") return
    const controller = new AbortController()
    running.current = controller
    setAnswer("")
    setState({ kind: "running" })
    let received = ""
    let settled: string | undefined
    let frame = 0
    // at most one commit a frame, however fast the content comes
    const show = () => {
      frame = 0
      setAnswer(received)
    }
    try {
      const metadata = await ask({
        project: projectId,
        model: "auto",
        text,
        signal: controller.signal,
        onText: (more) => {
          received += more
          if (frame === 0) frame = requestAnimationFrame(show)
        }
      })
      settled = metadata?.request_id
      setState({ kind: "done", metadata })
      forget()
    } catch (error) {
      setState(controller.signal.aborted ? { kind: "stopped" } : { kind: "failed", error })
    }
    setAnswer(received)
    await follow(queries, projectId, settled)
  }
  const pressed = (event: KeyboardEvent) => {
    // of an input method, whose choice it ends
    if (event.nativeEvent.isComposing) return
    if (event.key === "Escape") running.current?.abort()
    if (event.key !== "Enter" || event.shiftKey) return
    event.preventDefault()
    void send()
  }

  return (
    <Block title="Your first call">
      <Text size="sm" c="dimmed">
        Send a message: <Code>auto</Code> chooses the model. It is paid {payers[payer]}, and no key is needed.
      </Text>
      <Group align="flex-end" wrap="nowrap" gap="xs">
        <Textarea
          aria-label="Message"
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={pressed}
          autosize
          maxRows={6}
          style={{ flex: 1 }}
          autoFocus={isFocused}
        />
        {state.kind === "running" ? (
          // it stands where a double click has sent the message
          <Button variant="default" onClick={({ detail: clicks }) => clicks < 2 && running.current?.abort()}>
            Stop
          </Button>
        ) : (
          <Button onClick={() => void send()}>Send</Button>
        )}
      </Group>
      {answer === "" ? null : (
        <Text className="answer" aria-live="polite" data-testid="answer">
          {answer}
        </Text>
      )}
      {state.kind === "failed" ? <Failure error={state.error} retry={send} /> : null}
      {state.kind === "stopped" ? <Text size="sm">Stopped. The text generated so far is charged.</Text> : null}
      {state.kind === "done" ? (
        <Stack gap="sm">
          <Text size="sm" c="dimmed" data-testid="call-summary">
            {summary(state.metadata)}
          </Text>
          <Group gap="xs">
            <LinkButton
              to="/p/$projectId/keys"
              params={{ projectId }}
              search={{ new: "1" }}
              variant="default"
              size="xs"
            >
              Create a key
            </LinkButton>
            <Button variant="default" size="xs" onClick={() => openCode(!isCodeOpen)} aria-expanded={isCodeOpen}>
              Use it from my code
            </Button>
            {state.metadata === undefined ? null : (
              <LinkButton
                to="/requests/$requestId"
                params={{ requestId: state.metadata.request_id }}
                variant="default"
                size="xs"
              >
                Why this model?
              </LinkButton>
            )}
          </Group>
          {isCodeOpen ? <Snippets secret="$GATEWAY_API_KEY" /> : null}
        </Stack>
      ) : null}
    </Block>
  )
}

/** Everything that a call changes is read again once its settlement is written, which is a moment after its answer. */
const follow = async (queries: QueryClient, projectId: string, requestId: string | undefined): Promise<void> => {
  for (let lookup = 0; requestId !== undefined && lookup < maxLookups; lookup += 1) {
    const running = await queries.fetchQuery({ ...inFlight(projectId), staleTime: 0 }).catch(() => undefined)
    if (running?.items.every(({ id }) => id !== requestId)) break
    await new Promise((resolve) => setTimeout(resolve, lookupMillis))
  }
  await Promise.all(changed.map((name) => queries.invalidateQueries({ queryKey: [name] })))
}
const changed = ["balance", "keys", "requests", "activity", "savings"]
const maxLookups = 10
const lookupMillis = 150

const summary = (metadata: CallMetadata | undefined): string =>
  metadata === undefined
    ? ""
    : [
        metadata.model ?? "",
        reasonText(metadata.reason),
        cost(metadata.cost),
        `first content after ${seconds(metadata.first_content_ms)}`,
        seconds(metadata.latency_ms)
      ].join(" · ")

export default FirstCall
