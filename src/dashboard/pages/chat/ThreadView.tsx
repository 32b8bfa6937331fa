import { Stack } from "@mantine/core"
import { useEffect, useRef } from "react"
import { Loaded } from "../../parts/Block.tsx"
import { Failure } from "../../parts/Failure.tsx"
import type { Attempt } from "./conversation.ts"
import { ExchangeView } from "./ExchangeView.tsx"
import { Heading } from "./Heading.tsx"
import type { ThreadState } from "./useThread.ts"
import { exchangesOf } from "./versions.ts"

const noAttempts: ReadonlyArray<Attempt> = []
/** Who reads further up is not moved. */
const nearEnd = 60

interface ThreadViewProps {
  readonly of: ThreadState
  readonly onOpenArtifact: ((id: string) => void) | undefined
}

/** The messages of a conversation, the last in view while it is written. */
export const ThreadView = ({ of: thread, onOpenArtifact }: ThreadViewProps) => {
  const { conversation } = thread.state
  const end = useRef<HTMLDivElement>(null)
  const follows = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what has come moves the end
  useEffect(() => {
    if (follows.current) end.current?.scrollIntoView({ block: "end" })
  }, [conversation])
  return (
    <>
      {thread.error === null || conversation === undefined ? null : (
        <Failure error={thread.error} retry={thread.again} />
      )}
      <Loaded query={{ data: conversation, error: thread.error, refetch: thread.again }} height={400}>
        {(found) => (
          <>
            <Heading of={found} onChanged={thread.changed} />
            <div
              className="chat-messages"
              // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
              tabIndex={0}
              role="region"
              aria-label="Messages"
              onScroll={({ currentTarget: { clientHeight, scrollHeight, scrollTop } }) => {
                follows.current = scrollHeight - scrollTop - clientHeight < nearEnd
              }}
            >
              <Stack gap="lg">
                {exchangesOf(found.messages).map(({ answer, question }, index, { length }) => (
                  <ExchangeView
                    // a question that is edited meanwhile stays so where it was replaced elsewhere
                    key={question.position}
                    question={question}
                    answer={answer}
                    isLast={index === length - 1}
                    isRunning={found.running}
                    attempts={index === length - 1 ? thread.state.attempts : noAttempts}
                    actions={thread.actions}
                    onOpenArtifact={onOpenArtifact}
                  />
                ))}
              </Stack>
              <div ref={end} />
            </div>
          </>
        )}
      </Loaded>
      {thread.failed === null ? null : <Failure error={thread.failed} />}
    </>
  )
}
