import { useMediaQuery } from "@mantine/hooks"
import { useLocation, useNavigate } from "@tanstack/react-router"
import { useEffect, useMemo, useRef, useState } from "react"
import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"
import { type Part, SaveAsArtifact } from "./artifacts/saving.ts"
import { Composer } from "./Composer.tsx"
import { ThreadView } from "./ThreadView.tsx"
import { useThread } from "./useThread.ts"

const ArtifactPanel = loadedWhenShown(() => import("./artifacts/ArtifactPanel.tsx"))
const SaveArtifact = loadedWhenShown(() => import("./artifacts/SaveArtifact.tsx"))

interface ThreadProps {
  readonly id: string
  /** The artifact that is shown beside it. */
  readonly artifactId: string | undefined
}

/** One conversation, with what is asked next and the artifact that is looked at. */
export const Thread = ({ artifactId, id }: ThreadProps) => {
  const thread = useThread(id)
  const { conversation, drafts } = thread.state
  const isBegun = useLocation({ select: ({ state }) => state.isBegun === true })
  const navigate = useNavigate({ from: "/chat/$conversationId" })
  const open = useMemo(
    () => (artifact: string | undefined) =>
      void navigate({ search: artifact === undefined ? {} : { artifact }, replace: true }),
    [navigate]
  )
  const [saving, save] = useState<Part>()
  // where there is room, what is written is shown at once
  const hasRoom = useMediaQuery("(min-width: 75em)", false)
  const draft = drafts.at(-1)
  const seen = useRef<number>(undefined)
  const versions = conversation?.artifacts.reduce((sum, { version }) => sum + version, 0)
  useEffect(() => {
    const before = seen.current
    seen.current = versions
    if (!hasRoom || versions === undefined || before === undefined || versions <= before) return
    const newest = conversation?.artifacts.toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1))[0]
    if (newest !== undefined) open(newest.id)
  }, [versions, conversation, hasRoom, open])
  const artifacts = conversation?.artifacts ?? []
  const shown = artifacts.find((each) => each.id === artifactId)
  const isPanel = shown !== undefined || (hasRoom && draft !== undefined)
  return (
    <>
      <section className="chat-thread" aria-label="Conversation">
        <SaveAsArtifact value={conversation?.running === false ? save : undefined}>
          <ThreadView of={thread} onOpenArtifact={open} />
        </SaveAsArtifact>
        {conversation === undefined ? null : (
          <Composer
            name={id}
            projectId={conversation.project_id}
            histories={[conversation.messages]}
            isRunning={conversation.running}
            takesFocus={isBegun}
            sending={thread.ask}
            onSend={(asked) => thread.ask.mutateAsync({ kind: "send", asked })}
            onStop={() => thread.stop.mutate()}
          />
        )}
      </section>
      {saving === undefined ? null : (
        <SaveArtifact
          conversationId={id}
          part={saving}
          artifacts={artifacts}
          onSaved={(artifact) => {
            save(undefined)
            open(artifact.id)
            thread.again()
          }}
          onClose={() => save(undefined)}
        />
      )}
      {isPanel ? (
        <ArtifactPanel
          conversationId={id}
          artifacts={artifacts}
          shown={shown}
          draft={draft}
          isRunning={conversation?.running ?? false}
          onOpen={open}
          onChanged={thread.again}
        />
      ) : null}
    </>
  )
}
