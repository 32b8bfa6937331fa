import { Button, Group, Stack, Text, Textarea } from "@mantine/core"
import { type KeyboardEvent, memo, useContext, useRef, useState } from "react"
import { cost } from "../../parts/format.ts"
import { TextLink } from "../../parts/LinkButton.tsx"
import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"
import { SaveAsArtifact } from "./artifacts/saving.ts"
import { asksToSend, isEscape } from "./asked.ts"
import type { Attempt, Message } from "./conversation.ts"
import { Markdown } from "./Markdown.tsx"
import type { Chosen } from "./versions.ts"

// with the code of dialogs, which this page does not need before
const AskBeforeLeaving = loadedWhenShown(async () => {
  const { AskBeforeLeaving } = await import("../../parts/AskBeforeLeaving.tsx")
  return { default: AskBeforeLeaving }
})

export interface MessageActions {
  readonly retry: (message: Message) => void
  readonly edit: (message: Message, content: string) => Promise<void>
  readonly fork: (message: Message) => void
}

interface MessageViewProps {
  readonly message: Message
  /** The version that is shown, by its index. */
  readonly shown: number
  readonly onShow: (version: Chosen) => void
  /** The last of its role, and to the current question: only that can be written anew. */
  readonly isLast: boolean
  readonly isRunning: boolean
  readonly actions: MessageActions
}

interface AnswerProps extends MessageViewProps {
  readonly attempts: ReadonlyArray<Attempt>
  /** `undefined` where there is no room for artifacts. */
  readonly onOpenArtifact: ((id: string) => void) | undefined
}

/** What is pressed goes while an answer is written: the focus stays with the messages, which can be scrolled then. */
const focusMessages = (from: HTMLElement) => from.closest<HTMLElement>(".chat-messages")?.focus({ preventScroll: true })

/** Rendered anew only when it has changed. */
export const Question = memo(({ actions, isLast, isRunning, message, onShow, shown }: MessageViewProps) => {
  const [text, setText] = useState<string>()
  const [isCancelled, setCancelled] = useState(false)
  const cancel = () => {
    setCancelled(true)
    setText(undefined)
  }
  const [isSending, setSending] = useState(false)
  const form = useRef<HTMLDivElement>(null)
  const sendEdited = async (edited: string) => {
    setSending(true)
    try {
      await actions.edit(message, edited)
      const at = document.activeElement
      // whoever works elsewhere meanwhile stays there; a button that is disabled has lost the focus
      if (form.current !== null && (at === document.body || form.current.contains(at))) focusMessages(form.current)
      setText(undefined)
    } catch {
      // shown below; the text stays
    } finally {
      setSending(false)
    }
  }
  if (text !== undefined) {
    const pressed = (event: KeyboardEvent) => {
      if (isSending) return
      if (isEscape(event)) cancel()
      if (!asksToSend(event) || event.shiftKey || text.trim() === "") return
      event.preventDefault()
      void sendEdited(text)
    }
    return (
      // with a key: "Edit" takes the focus where it is a new button, and no other one that is used again
      <Stack key="edited" ref={form} gap="xs" ml="auto" w="85%">
        <AskBeforeLeaving isUnsaved={text !== message.content} staysOver="artifact" />
        <Textarea
          aria-label="Edited message"
          autosize
          maxRows={10}
          value={text}
          readOnly={isSending}
          onKeyDown={pressed}
          autoFocus
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <Group gap="xs" justify="flex-end">
          <Button size="compact-xs" variant="default" disabled={isSending} onClick={cancel}>
            Cancel
          </Button>
          <Button
            size="compact-xs"
            loading={isSending}
            disabled={text.trim() === ""}
            onClick={() => void sendEdited(text)}
          >
            Save and send
          </Button>
        </Group>
      </Stack>
    )
  }
  return (
    <Stack gap={4} data-testid="question">
      {message.images.length === 0 ? null : (
        <Group gap="xs" justify="flex-end" role="list" aria-label="Images">
          {message.images.map(({ filename, id, url }) => (
            <div key={id} role="listitem">
              <a href={url} target="_blank" rel="noopener noreferrer" className="chat-image">
                <img src={url} alt={filename} loading="lazy" />
              </a>
            </div>
          ))}
        </Group>
      )}
      <Text className="chat-question" dir="auto">
        {(message.versions[shown] ?? message).content}
      </Text>
      <Group gap="xs" justify="flex-end" className="figures">
        <Versions of={message} shown={shown} onShow={onShow} name="version of the question" />
        {isLast && !isRunning ? (
          <Button
            size="compact-xs"
            variant="subtle"
            autoFocus={isCancelled}
            // it is a new button again after each answer, which a person does not wait for at it
            onBlur={() => setCancelled(false)}
            onClick={() => {
              setCancelled(false)
              setText(message.content)
            }}
          >
            Edit
          </Button>
        ) : null}
      </Group>
    </Stack>
  )
})

/** Rendered anew only when it has changed. */
export const Answer = memo((props: AnswerProps) => {
  const { actions, attempts, isLast, isRunning, message, onOpenArtifact, onShow, shown } = props
  const save = useContext(SaveAsArtifact)
  const version = message.versions[shown] ?? message
  const isWriting = version.status === "streaming"
  return (
    <Stack gap={6} data-testid="answer">
      {version === message && (isWriting || attempts.some(({ status }) => status !== "success")) ? (
        <Trail attempts={attempts} />
      ) : null}
      {version.reasoning === "" ? null : (
        <details>
          <summary>Reasoning</summary>
          <Text size="sm" c="dimmed" className="answer">
            {version.reasoning}
          </Text>
        </details>
      )}
      <div aria-live={isWriting ? "polite" : undefined} aria-busy={isWriting} data-testid="answer-text">
        <Markdown text={version.content} isGrowing={isWriting} />
      </div>
      <ArtifactChips of={message} onOpen={onOpenArtifact} />
      <Ending of={version} />
      <Group gap="xs" className="figures">
        <Text size="xs" c="dimmed" data-testid="answer-summary">
          {[
            ...(version.model_used === null ? [] : [version.model_used]),
            ...(isWriting || version.cost === null ? [] : [cost(version.cost)])
          ].join(" · ")}
        </Text>
        {isWriting || version.request_ids.length === 0 ? null : (
          <TextLink to="/requests/$requestId" params={{ requestId: version.request_ids.at(-1) ?? "" }}>
            Why?
          </TextLink>
        )}
        <Versions of={message} shown={shown} onShow={onShow} name="version" />
        {isRunning ? null : (
          <>
            {isLast ? (
              <Button
                size="compact-xs"
                variant="subtle"
                onClick={({ currentTarget }) => {
                  focusMessages(currentTarget)
                  actions.retry(message)
                }}
              >
                Retry
              </Button>
            ) : null}
            <Button size="compact-xs" variant="subtle" onClick={() => actions.fork(message)}>
              Fork
            </Button>
            {save === undefined || version.content === "" ? null : (
              <Button
                size="compact-xs"
                variant="subtle"
                onClick={() => save({ content: version.content, language: "markdown" })}
              >
                Save text
              </Button>
            )}
          </>
        )}
      </Group>
    </Stack>
  )
})

interface VersionsProps {
  readonly of: Message
  readonly shown: number
  readonly onShow: (version: Chosen) => void
  readonly name: string
}

const Versions = ({ name, of: { role, versions }, onShow, shown }: VersionsProps) =>
  versions.length === 0 ? null : (
    <Group gap={4} wrap="nowrap">
      <Button
        size="compact-xs"
        variant="subtle"
        aria-label={`Previous ${name}`}
        disabled={shown === 0}
        onClick={() => onShow({ role, index: shown - 1 })}
      >
        ‹
      </Button>
      <Text size="xs">
        {shown + 1}/{versions.length + 1}
      </Text>
      <Button
        size="compact-xs"
        variant="subtle"
        aria-label={`Next ${name}`}
        disabled={shown === versions.length}
        onClick={() => onShow({ role, index: shown + 1 })}
      >
        ›
      </Button>
    </Group>
  )

const artifactActions = { created: "made", updated: "changed", restored: "restored", deleted: "deleted" } as const

/** What was done to artifacts meanwhile; each leads to the artifact. */
const ArtifactChips = ({ of, onOpen }: { readonly of: Message; readonly onOpen: AnswerProps["onOpenArtifact"] }) =>
  of.artifact_events.length === 0 ? null : (
    <Group gap="xs" role="list" aria-label="Artifacts of this answer">
      {of.artifact_events.map(({ action, artifact }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: events are only ever appended
        <div key={index} role="listitem">
          <Button
            size="compact-sm"
            variant="default"
            disabled={onOpen === undefined || action === "deleted"}
            onClick={() => onOpen?.(artifact.id)}
          >
            {artifact.name} v{artifact.version} {artifactActions[action]}
          </Button>
        </div>
      ))}
    </Group>
  )

/** What was tried before the model that answers; where something failed it stays beside the answer. */
const Trail = ({ attempts }: { readonly attempts: ReadonlyArray<Attempt> }) =>
  attempts.length === 0 ? null : (
    <div>
      {attempts.map((attempt) => (
        <span
          key={`${attempt.request_id}.${attempt.index}`}
          className="chip"
          data-kind={attempt.status === "success" ? "ok" : attempt.status === "running" ? undefined : "failed"}
        >
          {attempt.model} {attempt.error?.code ?? attempt.status}
        </span>
      ))}
    </div>
  )

const endings = {
  stopped: "Stopped. The text generated so far is charged.",
  interrupted: "The gateway stopped while generating this answer; nothing was charged. Retry asks again."
} as const

const Ending = ({ of }: { readonly of: Pick<Message, "status" | "error"> }) => {
  if (of.status === "stopped" || of.status === "interrupted") return <Text size="sm">{endings[of.status]}</Text>
  return of.error === null ? null : (
    <Text size="sm" role="alert">
      <span className="mono">{of.error.code}</span>: {of.error.message}
    </Text>
  )
}
