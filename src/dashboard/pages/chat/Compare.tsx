import { Button, Group } from "@mantine/core"
import { useLocation, useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { type Asked, withModel } from "./asked.ts"
import { Composer } from "./Composer.tsx"
import { ThreadView } from "./ThreadView.tsx"
import { modelOf, useThread } from "./useThread.ts"

/** Two conversations side by side, which are asked the same, each with its own model. */
const Compare = ({ ids: [firstId, secondId] }: { readonly ids: readonly [string, string] }) => {
  const [first, second] = [useThread(firstId), useThread(secondId)]
  const threads = [first, second]
  const isBegun = useLocation({ select: ({ state }) => state.isBegun === true })
  const navigate = useNavigate()
  const [sending, setSending] = useState<{ readonly error: unknown; readonly isPending: boolean }>(idle)
  const projectId = (first.state.conversation ?? second.state.conversation)?.project_id
  // the model of one that is not read is not known
  const known = threads.filter(({ state }) => state.conversation !== undefined)
  const areRead = threads.every(({ error, state }) => state.conversation !== undefined || error !== null)
  const send = async (asked: Asked) => {
    setSending({ error: null, isPending: true })
    // one may be refused, because of insufficient balance for example, and the other not
    const sent = await Promise.allSettled(
      known.map((thread) => thread.ask.mutateAsync({ kind: "send", asked: withModel(asked, modelOf(thread)) }))
    )
    const refused = sent.find((each) => each.status === "rejected")
    setSending({ error: refused?.reason ?? null, isPending: false })
    if (sent.every(({ status }) => status === "rejected")) throw refused?.reason
  }
  return (
    <section className="chat-thread" aria-label="Comparison">
      <div className="chat-compare">
        {threads.map((thread) => (
          <section key={thread.id} className="chat-thread" aria-label={`Conversation with ${modelOf(thread)}`}>
            <Group justify="flex-end">
              <Button
                size="compact-xs"
                variant="default"
                onClick={() =>
                  void navigate({ to: "/chat/$conversationId", params: { conversationId: thread.id }, search: {} })
                }
              >
                Continue with {modelOf(thread)} alone
              </Button>
            </Group>
            <ThreadView of={thread} onOpenArtifact={undefined} />
          </section>
        ))}
      </div>
      {projectId === undefined || !areRead ? null : (
        <Composer
          name={`${firstId}.${secondId}`}
          projectId={projectId}
          models={threads.map(modelOf)}
          histories={threads.map(({ state }) => state.conversation?.messages ?? [])}
          isRunning={threads.some(({ state }) => state.conversation?.running === true)}
          takesFocus={isBegun}
          sending={sending}
          onSend={send}
          onStop={() => {
            for (const { state, stop } of threads) if (state.conversation?.running === true) stop.mutate()
          }}
        />
      )}
    </section>
  )
}

const idle = { error: null, isPending: false }

export default Compare
