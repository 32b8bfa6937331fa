import { useCallback, useState } from "react"
import type { Attempt } from "./conversation.ts"
import { Answer, type MessageActions, Question } from "./MessageView.tsx"
import { type Chosen, type Exchange, shownOf } from "./versions.ts"

interface ExchangeViewProps extends Exchange {
  readonly isLast: boolean
  readonly isRunning: boolean
  readonly attempts: ReadonlyArray<Attempt>
  readonly actions: MessageActions
  readonly onOpenArtifact: ((id: string) => void) | undefined
}

/** A question and the answer to it, each in the version that belongs to the other one's. */
export const ExchangeView = (props: ExchangeViewProps) => {
  const { actions, answer, attempts, isLast, isRunning, onOpenArtifact, question } = props
  const [choice, choose] = useState<Chosen & { readonly before: string | undefined }>()
  const before = answer?.id
  const show = useCallback((version: Chosen) => choose({ ...version, before }), [before])
  // an answer that is written anew is shown
  const shown = shownOf(question, answer, choice?.before === before ? choice : undefined)
  const ofBoth = { onShow: show, isLast: isLast && shown.question === question.versions.length, isRunning, actions }
  return (
    <>
      <Question {...ofBoth} message={question} shown={shown.question} />
      {answer === undefined || shown.answer === undefined ? null : (
        <Answer
          key={answer.id}
          {...ofBoth}
          message={answer}
          shown={shown.answer}
          attempts={attempts}
          onOpenArtifact={onOpenArtifact}
        />
      )}
    </>
  )
}
