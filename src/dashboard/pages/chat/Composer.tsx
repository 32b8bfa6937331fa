import { Button, Group, Select, Slider, Stack, Text, Textarea } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { type KeyboardEvent, useState } from "react"
import type { Records } from "../../api/client.ts"
import { Failure } from "../../parts/Failure.tsx"
import { useDraft } from "../../parts/useDraft.ts"
import { chatModels } from "./queries.ts"

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const
const defaultAlpha = 0.65

export type Asked = Pick<Records["SendMessageRequest"], "content" | "model" | "alpha" | "effort">

interface ComposerProps {
  /** Of the draft, which outlives a reload. */
  readonly name: string
  readonly projectId: string
  readonly isRunning: boolean
  readonly sending: { readonly error: unknown; readonly isPending: boolean }
  /** Answers once the question was taken. */
  readonly onSend: (asked: Asked) => Promise<unknown>
  readonly onStop: () => void
}

export const Composer = ({ isRunning, name, onSend, onStop, projectId, sending }: ComposerProps) => {
  const models = useQuery(chatModels(projectId)).data?.items ?? []
  const [text, setText, forget] = useDraft(`chat.${name}`, "")
  const [model, setModel] = useDraft("chat-model", "auto")
  const [alpha, setAlpha] = useState<number>()
  const [effort, setEffort] = useState<(typeof efforts)[number]>()
  const isRouted = model === "auto" || model.startsWith("auto:")
  const send = async () => {
    if (text.trim() === "" || isRunning || sending.isPending) return
    const settings = {
      ...(isRouted && alpha !== undefined ? { alpha } : {}),
      ...(effort === undefined ? {} : { effort })
    }
    try {
      await onSend({ content: text, model, ...settings })
    } catch {
      // shown below; the text stays
      return
    }
    setText("")
    forget()
  }
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "Escape" && isRunning) onStop()
    if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey) || event.nativeEvent.isComposing) return
    event.preventDefault()
    void send()
  }
  return (
    <Stack gap="xs" pt="xs">
      {sending.error === null ? null : <Failure error={sending.error} />}
      <Textarea
        aria-label="Message"
        placeholder="Message…  (Ctrl Enter sends)"
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={pressed}
        autosize
        minRows={2}
        maxRows={10}
      />
      <Group gap="xs" align="center">
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
        {isRouted ? (
          <Group gap={6} wrap="nowrap">
            <Text size="xs" c="dimmed" className="figures">
              alpha {(alpha ?? defaultAlpha).toFixed(2)}
            </Text>
            <Slider
              w={110}
              min={0}
              max={1}
              step={0.05}
              label={null}
              thumbLabel="Alpha: 0 is cheapest, 1 is best"
              value={alpha ?? defaultAlpha}
              onChange={setAlpha}
            />
          </Group>
        ) : null}
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
        <Group gap="xs" ml="auto">
          {isRunning ? (
            <Button size="xs" variant="default" onClick={onStop}>
              Stop
            </Button>
          ) : null}
          <Button
            size="xs"
            onClick={() => void send()}
            loading={sending.isPending}
            disabled={isRunning || text.trim() === ""}
          >
            Send
          </Button>
        </Group>
      </Group>
    </Stack>
  )
}
