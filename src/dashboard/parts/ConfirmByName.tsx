import { Button, Stack, TextInput } from "@mantine/core"
import { type ReactNode, useState } from "react"
import { Modal } from "./Dialog.tsx"
import { Failure } from "./Failure.tsx"

interface ConfirmByNameProps {
  /** What is done, such as "Revoke". */
  readonly verb: string
  readonly name: string
  readonly doing: { readonly error: unknown; readonly isPending: boolean }
  readonly onConfirm: () => void
  readonly onClose: () => void
  readonly children?: ReactNode
}

/** A page shows any white space as one space, and the same letter may be written in several ways. */
const asShown = (name: string): string => name.normalize().trim().replace(/\s+/g, " ")

/** For what cannot be undone: the name has to be typed, as it is shown. */
export const ConfirmByName = ({ children, doing, name, onClose, onConfirm, verb }: ConfirmByNameProps) => {
  const [typed, setTyped] = useState("")
  return (
    <Modal opened isBusy={doing.isPending} onClose={onClose} title={`${verb} ${name}`}>
      <Stack>
        {children}
        <TextInput
          label={`Type the name: ${name}`}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          data-autofocus
        />
        {doing.error === null ? null : <Failure error={doing.error} />}
        <Button color="red" disabled={asShown(typed) !== asShown(name)} loading={doing.isPending} onClick={onConfirm}>
          {verb} permanently
        </Button>
      </Stack>
    </Modal>
  )
}
