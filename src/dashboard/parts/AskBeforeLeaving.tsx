import { Button, Group, Stack, Text } from "@mantine/core"
import { useBlocker, useMatch } from "@tanstack/react-router"
import { useCallback } from "react"
import { Modal } from "./Dialog.tsx"

interface Place {
  readonly pathname: string
  readonly search: unknown
}

interface Step {
  readonly current: Place
  readonly next: Place
}

/**
 * Asks before what is not saved would be lost: by going to another page or tab, by closing a drawer that has an address, or, in the
 * browser's own words, with the browser's tab.
 */
export const AskBeforeLeaving = ({ isUnsaved }: { readonly isUnsaved: boolean }) => {
  const page = useMatch({ strict: false, select: ({ pathname }) => pathname })
  const isLeft = useCallback(
    ({ current, next }: Step) =>
      // a redirect from the page that it was left for may come before this has gone
      current.pathname === page &&
      // a link to a part of the same page leaves its forms as they are
      (next.pathname !== page || JSON.stringify(current.search) !== JSON.stringify(next.search)),
    [page]
  )
  const leaving = useBlocker({ shouldBlockFn: isLeft, disabled: !isUnsaved, withResolver: true })
  if (leaving.status === "idle") return null
  return (
    <Modal opened onClose={leaving.reset} title="Leave without saving?">
      <Stack>
        <Text size="sm">What is not saved yet will be lost.</Text>
        <Group>
          <Button variant="default" data-autofocus onClick={leaving.reset}>
            Stay
          </Button>
          <Button color="red" onClick={leaving.proceed}>
            Leave without saving
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
