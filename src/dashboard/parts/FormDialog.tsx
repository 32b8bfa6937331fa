import { Button, type ModalProps, Stack } from "@mantine/core"
import { type FormEvent, type ReactNode, useEffect, useState } from "react"
import { AskBeforeLeaving, LeavingQuestion } from "./AskBeforeLeaving.tsx"
import { Modal } from "./Dialog.tsx"
import { Failure } from "./Failure.tsx"
import { useFocusInvalid } from "./useFocusInvalid.ts"

interface FormDialogProps extends Pick<ModalProps, "size"> {
  readonly title: string
  /** Of the button that sends the form. */
  readonly submit: string
  /** Whether the form can be sent. */
  readonly isValid?: boolean
  /** Whether a field has another value than at first, so that a person is asked before it is lost. */
  readonly isChanged: boolean
  readonly sending: { readonly error: unknown; readonly isPending: boolean }
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void
  readonly onClose: () => void
  readonly children: ReactNode
  /** Below the button that sends the form. */
  readonly footer?: ReactNode
}

/** A dialog with one form, which stays open while it is sent, since its answer may be shown once, and while it fails. */
export const FormDialog = (props: FormDialogProps) => {
  const { children, footer, isChanged, isValid = true, onClose, onSubmit, sending, submit, title, ...modal } = props
  const [isAsked, ask] = useState(false)
  const [isLeft, leave] = useState(false)
  const invalid = useFocusInvalid(sending.error)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when nothing asks before leaving any more
  useEffect(() => {
    if (isLeft) onClose()
  }, [isLeft])
  return (
    <Modal
      {...modal}
      opened
      isBusy={sending.isPending}
      onClose={() => (isChanged ? ask(true) : onClose())}
      title={title}
    >
      <AskBeforeLeaving isUnsaved={isChanged && !isLeft} isSending={sending.isPending} />
      {isAsked ? <LeavingQuestion onStay={() => ask(false)} onLeave={() => leave(true)} /> : null}
      <form
        ref={invalid.ref}
        onSubmit={(event) => {
          onSubmit(event)
          invalid.sent()
        }}
      >
        <Stack>
          {children}
          {sending.error === null ? null : <Failure error={sending.error} />}
          <Button type="submit" loading={sending.isPending} disabled={!isValid}>
            {submit}
          </Button>
          {footer}
        </Stack>
      </form>
    </Modal>
  )
}
