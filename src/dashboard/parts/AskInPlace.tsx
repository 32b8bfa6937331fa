import { Button, type ButtonProps, Group, Stack, Text } from "@mantine/core"
import { useState } from "react"
import { Failure } from "./Failure.tsx"

interface AskInPlaceProps extends Pick<ButtonProps, "disabled" | "size"> {
  readonly label: string
  readonly verb?: "Delete" | "Erase"
  /** What follows from it. */
  readonly warning: string
  readonly doing: { readonly error: unknown; readonly isPending: boolean }
  readonly onConfirm: () => void
}

/**
 * A button whose place is taken by a question before it deletes something; the focus stays there, with the way back. What went wrong
 * is said above it.
 */
export const AskInPlace = ({
  disabled = false,
  doing,
  label,
  onConfirm,
  size,
  verb = "Delete",
  warning
}: AskInPlaceProps) => {
  const [isAsked, ask] = useState(false)
  const [isKept, keep] = useState(false)
  const of = size === undefined ? {} : { size }
  const button = isAsked ? (
    <Group gap="xs" key="asked">
      <Text size="sm">{warning}</Text>
      <Button {...of} color="red" disabled={disabled} loading={doing.isPending} onClick={onConfirm}>
        {verb} permanently
      </Button>
      <Button
        {...of}
        variant="default"
        autoFocus
        onClick={() => {
          keep(true)
          ask(false)
        }}
      >
        Keep
      </Button>
    </Group>
  ) : (
    <Group>
      <Button {...of} variant="outline" color="red" disabled={disabled} autoFocus={isKept} onClick={() => ask(true)}>
        {label}
      </Button>
    </Group>
  )
  return (
    <Stack gap="xs">
      {doing.error === null ? null : <Failure error={doing.error} />}
      {button}
    </Stack>
  )
}
