import { Button, Checkbox, FileButton, Group, Select, Stack, Text, Textarea } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { type ClipboardEvent, type DragEvent, type KeyboardEvent, useRef, useState } from "react"
import { Failure } from "../../parts/Failure.tsx"
import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"
import { isDialogOpen, mayTakeFocus } from "../../parts/mayTakeFocus.ts"
import { keep, kept } from "../../parts/personStorage.ts"
import { useDraft } from "../../parts/useDraft.ts"
import { AlphaField } from "./AlphaField.tsx"
import { type Asked, asksToSend, isEscape, isRouted } from "./asked.ts"
import type { Message } from "./conversation.ts"
import { chatModels } from "./queries.ts"
import { maxImages, useAttachments } from "./useAttachments.ts"

const AttachmentList = loadedWhenShown(() => import("./AttachmentList.tsx"))
const RoutePreview = loadedWhenShown(() => import("./RoutePreview.tsx"))

const modelName = "chat-model"

/** Of the tab: the next question is asked of the same. */
const useModel = (): readonly [string, (model: string) => void] => {
  const [model, setModel] = useState<string>()
  const choose = (next: string) => {
    keep(modelName, next)
    setModel(next)
  }
  return [model ?? kept(modelName) ?? "auto", choose]
}

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const
const imageTypes = "image/png,image/jpeg,image/gif,image/webp"

interface ComposerProps {
  /** Of the draft, which outlives a reload. */
  readonly name: string
  readonly projectId: string
  readonly isRunning: boolean
  readonly sending: { readonly error: unknown; readonly isPending: boolean }
  /** Answers once the question was taken. */
  readonly onSend: (asked: Asked) => Promise<unknown>
  readonly onStop: () => void
  /** Of a conversation that was begun a moment ago, in a field that has gone. */
  readonly takesFocus?: boolean
  /** Where the models are chosen already. */
  readonly models?: ReadonlyArray<string>
  /** What was asked and answered before, by each of the models. */
  readonly histories: ReadonlyArray<ReadonlyArray<Message>>
}

/** Images among what is pasted or dropped. */
const imagesIn = (data: DataTransfer): ReadonlyArray<File> =>
  [...data.files].filter(({ type }) => type.startsWith("image/"))

export const Composer = (props: ComposerProps) => {
  const { histories, isRunning, models: given, name, onSend, onStop, projectId, sending, takesFocus = false } = props
  const models = useQuery({ ...chatModels(projectId), enabled: given === undefined }).data ?? []
  const { set: setText, taken, text } = useDraft(`chat.${name}`, "")
  const [model, setModel] = useModel()
  const [alpha, setAlpha] = useState<number>()
  const [effort, setEffort] = useState<(typeof efforts)[number]>()
  const [withArtifacts, setArtifacts] = useState(true)
  const attachments = useAttachments(name)
  const [isPreviewing, setPreviewing] = useState(false)
  const [isFocused] = useState(() => (takesFocus ? !isDialogOpen() : mayTakeFocus()))
  const forgetFiles = useRef<() => void>(null)
  const takesAlpha = (given ?? [model]).some(isRouted)
  const mayNotSend = isRunning || text.trim() === "" || !attachments.isReady
  const imageIds = attachments.list.flatMap(({ image }) => (image === undefined ? [] : [image.id]))
  const asked = (): Asked => {
    const settings = {
      ...(takesAlpha && alpha !== undefined ? { alpha } : {}),
      ...(effort === undefined ? {} : { effort }),
      ...(withArtifacts ? {} : { artifacts: false })
    }
    return { content: text, model, image_ids: imageIds, ...settings }
  }
  const isSending = useRef(false)
  const send = async () => {
    // known before the page shows it: a second click may come earlier
    if (mayNotSend || isSending.current) return
    isSending.current = true
    const sent = asked()
    try {
      await onSend(sent)
    } catch {
      // shown below; the text stays
      return
    } finally {
      isSending.current = false
    }
    taken(sent.content)
    attachments.taken(imageIds)
    setPreviewing(false)
  }
  const pressed = (event: KeyboardEvent) => {
    if (isEscape(event) && isRunning) onStop()
    if (!asksToSend(event)) return
    event.preventDefault()
    if (event.shiftKey) setPreviewing(true)
    else void send()
  }
  const pasted = (event: ClipboardEvent) => {
    const images = imagesIn(event.clipboardData)
    if (images.length === 0) return
    event.preventDefault()
    attachments.add(images)
  }
  const dropped = (event: DragEvent) => {
    event.preventDefault()
    attachments.add(imagesIn(event.dataTransfer))
  }
  return (
    <Stack
      gap="xs"
      pt="xs"
      onDragOver={(event) => event.preventDefault()}
      onDrop={dropped}
      role="group"
      aria-label="Question"
    >
      {sending.error === null ? null : <Failure error={sending.error} />}
      {attachments.list.length === 0 ? null : <AttachmentList of={attachments} />}
      {isPreviewing && !mayNotSend ? (
        <RoutePreview
          projectId={projectId}
          models={given ?? [model]}
          of={{ asked: asked(), histories }}
          onChoose={given === undefined ? setModel : undefined}
          onClose={() => setPreviewing(false)}
        />
      ) : null}
      <Textarea
        aria-label="Message"
        dir="auto"
        placeholder="Message…  (Ctrl Enter sends, Ctrl Shift Enter previews)"
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value)
          // it was of another question
          setPreviewing(false)
        }}
        onKeyDown={pressed}
        onPaste={pasted}
        autoFocus={isFocused}
        autosize
        minRows={2}
        maxRows={10}
      />
      <Group gap="xs" align="center">
        {given === undefined ? (
          <Select
            aria-label="Model"
            size="xs"
            w={190}
            searchable
            allowDeselect={false}
            data={[...new Set([model, ...models.map(({ id }) => id)])]}
            value={model}
            onChange={(value) => setModel(value ?? "auto")}
          />
        ) : (
          <Text size="sm">{given.join(" and ")}</Text>
        )}
        {takesAlpha ? <AlphaField value={alpha} onChange={setAlpha} /> : null}
        <Select
          aria-label="Effort"
          placeholder="effort"
          size="xs"
          w={110}
          clearable
          data={[...efforts]}
          value={effort ?? null}
          onChange={(value) => setEffort(efforts.find((each) => each === value))}
        />
        <Checkbox
          label="Artifacts"
          size="xs"
          checked={withArtifacts}
          onChange={({ currentTarget }) => setArtifacts(currentTarget.checked)}
        />
        <FileButton
          multiple
          accept={imageTypes}
          resetRef={forgetFiles}
          onChange={(files) => {
            attachments.add(files)
            // the same file can be chosen again
            forgetFiles.current?.()
          }}
        >
          {(props) => (
            <Button {...props} size="xs" variant="default" disabled={attachments.list.length >= maxImages}>
              Add images
            </Button>
          )}
        </FileButton>
        <Group gap="xs" ml="auto">
          {isRunning ? (
            <Button
              size="xs"
              variant="default"
              onClick={({ currentTarget }) => {
                // it goes
                const thread = currentTarget.closest(".chat-thread")
                thread?.querySelector<HTMLElement>(".chat-messages")?.focus({ preventScroll: true })
                onStop()
              }}
            >
              Stop
            </Button>
          ) : null}
          <Button
            size="xs"
            variant="default"
            onClick={() => setPreviewing(true)}
            disabled={mayNotSend}
            title="Which model would answer, and what it would cost"
          >
            Preview
          </Button>
          <Button size="xs" onClick={() => void send()} loading={sending.isPending} disabled={mayNotSend}>
            Send
          </Button>
        </Group>
      </Group>
    </Stack>
  )
}
