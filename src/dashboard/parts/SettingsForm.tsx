import { Button, Group, Stack, Text } from "@mantine/core"
import type { FormEvent, ReactNode } from "react"
import { ApiFailure } from "../api/failure.ts"
import { AskBeforeLeaving } from "./AskBeforeLeaving.tsx"
import { Failure } from "./Failure.tsx"
import { useFocusInvalid } from "./useFocusInvalid.ts"
import type { Saving } from "./useSettings.ts"

interface SavingFormProps {
  readonly saving: Saving
  /** Whether what is shown can be sent. */
  readonly isReady?: boolean
  readonly children: ReactNode
}

/** A form around its fields and its `SaveRow`. */
export const SavingForm = ({ children, isReady = true, saving }: SavingFormProps) => {
  const invalid = useFocusInvalid(saving.error)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    if (!isReady) return event.preventDefault()
    saving.submit(event)
    invalid.sent()
  }
  return (
    <form ref={invalid.ref} onSubmit={submit}>
      <AskBeforeLeaving isUnsaved={saving.isDirty} />
      {children}
    </form>
  )
}

interface SaveRowProps {
  readonly of: Saving
  readonly isReady?: boolean
  readonly mayWrite?: boolean
  /** Of the button. */
  readonly label?: string
  /** Beside the button. */
  readonly children?: ReactNode
}

/** What has become of saving, and the button. */
export const SaveRow = ({ children, isReady = true, label = "Save", mayWrite = true, of }: SaveRowProps) => {
  const { error, isDirty, isPending, isSaved, reload } = of
  const isElsewhere = error instanceof ApiFailure && error.status === 412
  const isOff = !isDirty || !isReady
  return (
    <>
      {error === null ? null : <Failure error={error} retry={isElsewhere ? reload : undefined} />}
      {isElsewhere ? (
        <Text size="sm">
          Someone else has saved a new version in the meantime. Retry loads it and discards your changes.
        </Text>
      ) : null}
      <Group>
        {/* without changes it only looks disabled: it keeps the focus when they are saved */}
        <Button type="submit" disabled={!mayWrite} loading={isPending} data-disabled={isOff} aria-disabled={isOff}>
          {label}
        </Button>
        {children}
        {/* what comes into a place that is there before is read aloud */}
        <Text size="sm" role="status">
          {isSaved ? "Saved." : ""}
        </Text>
      </Group>
    </>
  )
}

interface SettingsFormProps {
  readonly saving: Saving
  readonly mayWrite: boolean
  readonly children: ReactNode
}

/** The settings of something that exists: its fields, what has become of saving them, and the button. */
export const SettingsForm = ({ children, mayWrite, saving }: SettingsFormProps) => (
  <SavingForm saving={saving}>
    <fieldset disabled={!mayWrite} className="plain-fieldset">
      <Stack maw={560}>
        {children}
        <SaveRow of={saving} />
      </Stack>
    </fieldset>
  </SavingForm>
)
