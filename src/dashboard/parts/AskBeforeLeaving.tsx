import { Button, Group, Stack, Text } from "@mantine/core"
import { useBlocker, useMatch } from "@tanstack/react-router"
import { useCallback, useEffect } from "react"
import { Modal } from "./Dialog.tsx"
import { addUnsavedForm } from "./unsaved.ts"

interface Place {
  readonly pathname: string
  readonly search: unknown
}

interface Step {
  readonly current: Place
  readonly next: Place
}

interface AskBeforeLeavingProps {
  readonly isUnsaved: boolean
  /** Once it is taken the page goes on by itself. */
  readonly isSending?: boolean
  /** A parameter of the address that may change: the form stays where it is. */
  readonly staysOver?: string
}

/**
 * Asks before what is not saved would be lost: by going to another page or tab, by closing a drawer that has an address, or, in the
 * browser's own words, with the browser's tab.
 */
export const AskBeforeLeaving = ({ isSending = false, isUnsaved, staysOver }: AskBeforeLeavingProps) => {
  const page = useMatch({ strict: false, select: ({ pathname }) => pathname })
  useEffect(() => (isUnsaved ? addUnsavedForm() : undefined), [isUnsaved])
  const isLeft = useCallback(
    ({ current, next }: Step) => {
      const searchOf = (place: Place) =>
        JSON.stringify(place.search, (name, value) => (name === staysOver ? undefined : value))
      return (
        // a redirect from the page that it was left for may come before this has gone
        current.pathname === page &&
        // a link to a part of the same page leaves its forms as they are
        (next.pathname !== page || searchOf(current) !== searchOf(next))
      )
    },
    [page, staysOver]
  )
  const leaving = useBlocker({ shouldBlockFn: isLeft, disabled: !isUnsaved || isSending, withResolver: true })
  return leaving.status === "idle" ? null : <LeavingQuestion onStay={leaving.reset} onLeave={leaving.proceed} />
}

interface LeavingQuestionProps {
  readonly onStay: () => void
  readonly onLeave: () => void
}

export const LeavingQuestion = ({ onLeave, onStay }: LeavingQuestionProps) => (
  <Modal opened onClose={onStay} title="Leave without saving?">
    <Stack>
      <Text size="sm">What is not saved yet will be lost.</Text>
      <Group>
        <Button variant="default" data-autofocus onClick={onStay}>
          Stay
        </Button>
        <Button color="red" onClick={onLeave}>
          Leave without saving
        </Button>
      </Group>
    </Stack>
  </Modal>
)
