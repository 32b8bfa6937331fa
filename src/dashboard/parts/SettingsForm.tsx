import { Button, Group, Stack, Text } from "@mantine/core"
import type { FormEvent, ReactNode } from "react"
import { ApiFailure } from "../api/failure.ts"
import { AskBeforeLeaving } from "./AskBeforeLeaving.tsx"
import { Failure } from "./Failure.tsx"

interface Saving {
  readonly error: unknown
  readonly isPending: boolean
  readonly isSuccess: boolean
}

interface SettingsFormProps {
  readonly save: Saving
  readonly isDirty: boolean
  readonly mayWrite: boolean
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void
  /** Loads what another user has saved meanwhile. */
  readonly reload?: () => unknown
  readonly children: ReactNode
}

/** The settings of something that exists: its fields, what has become of saving them, and the button. */
export const SettingsForm = ({ children, isDirty, mayWrite, onSubmit, reload, save }: SettingsFormProps) => (
  <form onSubmit={onSubmit}>
    <AskBeforeLeaving isUnsaved={isDirty} />
    <fieldset disabled={!mayWrite} className="plain-fieldset">
      <Stack maw={560}>
        {children}
        {save.error === null ? null : (
          <Failure
            error={save.error}
            retry={save.error instanceof ApiFailure && save.error.status === 412 ? reload : undefined}
          />
        )}
        {save.isSuccess && !isDirty ? (
          <Text size="sm" role="status">
            Saved.
          </Text>
        ) : null}
        <Group>
          <Button type="submit" loading={save.isPending} disabled={!isDirty}>
            Save
          </Button>
        </Group>
      </Stack>
    </fieldset>
  </form>
)
