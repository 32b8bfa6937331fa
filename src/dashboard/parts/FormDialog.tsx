import { Button, Stack } from "@mantine/core"
import type { FormEvent, ReactNode } from "react"
import { Modal } from "./Dialog.tsx"
import { Failure } from "./Failure.tsx"

interface FormDialogProps {
  readonly title: string
  /** Of the button that sends the form. */
  readonly submit: string
  readonly sending: { readonly error: unknown; readonly isPending: boolean }
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void
  readonly onClose: () => void
  readonly children: ReactNode
  /** Below the button that sends the form. */
  readonly footer?: ReactNode
}

/** A dialog with one form, which stays open while it is sent, since its answer may be shown once, and while it fails. */
export const FormDialog = ({ children, footer, onClose, onSubmit, sending, submit, title }: FormDialogProps) => (
  <Modal opened onClose={() => sending.isPending || onClose()} title={title}>
    <form onSubmit={onSubmit}>
      <Stack>
        {children}
        {sending.error === null ? null : <Failure error={sending.error} />}
        <Button type="submit" loading={sending.isPending}>
          {submit}
        </Button>
        {footer}
      </Stack>
    </form>
  </Modal>
)
