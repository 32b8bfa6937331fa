import { Button, Group, SegmentedControl, Select, Stack, Text, Title } from "@mantine/core"
import { useState } from "react"
import type { Artifact, Draft } from "../conversation.ts"
import { ArtifactCode } from "./ArtifactCode.tsx"
import { ArtifactHistory } from "./ArtifactHistory.tsx"
import { ArtifactPreview } from "./ArtifactPreview.tsx"
import { useCovering } from "./useCovering.ts"

const views = ["preview", "code", "history"] as const
const labels = { preview: "Preview", code: "Code", history: "History" } as const

interface ArtifactPanelProps {
  readonly conversationId: string
  readonly artifacts: ReadonlyArray<Artifact>
  /** In its last version. */
  readonly shown: Artifact | undefined
  readonly draft: Draft | undefined
  readonly isRunning: boolean
  readonly onOpen: (id: string | undefined) => void
  /** The conversation is read anew. */
  readonly onChanged: () => void
}

/** Beside a conversation: a document that a model has made, as it looks, as text, and in its versions. */
const ArtifactPanel = (props: ArtifactPanelProps) => {
  const { artifacts, conversationId, draft, isRunning, onChanged, onOpen, shown } = props
  const [view, setView] = useState<(typeof views)[number]>("preview")
  const [earlier, setEarlier] = useState<Artifact>()
  const [isLarge, setLarge] = useState(false)
  const { hasRoom, panel } = useCovering(isLarge)
  // what is written is seen as it comes
  if (draft !== undefined && (shown === undefined || shown.name === draft.name)) {
    return (
      <aside className="chat-panel" aria-label="Artifact">
        <Title order={2} size="h5">
          {draft.name}
        </Title>
        <Text size="sm" role="status">
          Generating …
        </Text>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
        <pre className="chat-code" tabIndex={0} role="region" aria-label={draft.name}>
          {draft.text}
        </pre>
      </aside>
    )
  }
  if (shown === undefined) return null
  const version = earlier?.id === shown.id ? earlier : shown
  return (
    <aside
      ref={panel}
      className="chat-panel"
      aria-label="Artifact"
      data-large={isLarge}
      tabIndex={-1}
      onKeyDown={({ key }) => key === "Escape" && onOpen(undefined)}
    >
      <Group justify="space-between" gap="xs">
        {artifacts.length < 2 ? (
          <Title order={2} size="h5">
            {shown.name}
          </Title>
        ) : (
          <Select
            aria-label="Artifact"
            size="xs"
            allowDeselect={false}
            data={artifacts.map(({ id, name }) => ({ value: id, label: name }))}
            value={shown.id}
            onChange={(value) => onOpen(value ?? undefined)}
          />
        )}
        <Text size="sm" className="figures" data-testid="artifact-version">
          v{version.version}
          {version.version === shown.version ? "" : ` of ${shown.version}`}
        </Text>
        <Group gap="xs">
          {hasRoom ? (
            <Button size="compact-xs" variant="default" onClick={() => setLarge(!isLarge)}>
              {isLarge ? "Smaller" : "Larger"}
            </Button>
          ) : null}
          <Button size="compact-xs" variant="default" onClick={() => onOpen(undefined)}>
            Close
          </Button>
        </Group>
      </Group>
      <Group justify="space-between" gap="xs">
        <SegmentedControl
          size="xs"
          aria-label="View"
          value={view}
          onChange={(value) => setView(views.find((each) => each === value) ?? "preview")}
          data={views.map((value) => ({ value, label: labels[value] }))}
        />
        <Button component="a" size="compact-sm" variant="default" href={version.download_url} download={version.name}>
          Download
        </Button>
      </Group>
      <Stack className="chat-panel-content" gap="xs">
        {view === "preview" ? <ArtifactPreview of={version} /> : null}
        {view === "code" ? <ArtifactCode of={version} /> : null}
        {view === "history" ? (
          <ArtifactHistory
            key={shown.id}
            conversationId={conversationId}
            of={shown}
            isRunning={isRunning}
            onShow={(chosen) => {
              setEarlier(chosen)
              setView("preview")
            }}
            onChanged={() => {
              setEarlier(undefined)
              onChanged()
            }}
            onDeleted={() => {
              onOpen(undefined)
              onChanged()
            }}
          />
        ) : null}
      </Stack>
    </aside>
  )
}

export default ArtifactPanel
