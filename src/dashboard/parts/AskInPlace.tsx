import { Button, type ButtonProps, Group, Text } from "@mantine/core"
import { useState } from "react"

interface AskInPlaceProps extends Pick<ButtonProps, "disabled" | "size"> {
  readonly label: string
  readonly verb?: "Delete" | "Erase"
  /** What follows from it. */
  readonly warning: string
  readonly isPending: boolean
  readonly onConfirm: () => void
}

/** A button whose place is taken by a question before it deletes something; the focus stays there, with the way back. */
export const AskInPlace = ({
  disabled = false,
  isPending,
  label,
  onConfirm,
  size,
  verb = "Delete",
  warning
}: AskInPlaceProps) => {
  const [isAsked, ask] = useState(false)
  const [isKept, keep] = useState(false)
  const of = size === undefined ? {} : { size }
  return isAsked ? (
    <Group gap="xs" key="asked">
      <Text size="sm">{warning}</Text>
      <Button {...of} color="red" disabled={disabled} loading={isPending} onClick={onConfirm}>
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
}
