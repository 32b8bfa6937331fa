import { ActionIcon, Button } from "@mantine/core"
import { CheckIcon, CopyIcon } from "@primer/octicons-react"
import { useCopy } from "./useCopy.ts"

interface CopyProps {
  readonly label: string
  readonly text: string
}

/** A small button that copies a text which is too long to show. */
export const CopyText = ({ label, text }: CopyProps) => {
  const copying = useCopy(label, text)
  return (
    <Button size="compact-xs" variant="default" onClick={copying.copy} title={text}>
      {copying.label}
    </Button>
  )
}

export const CopyIconButton = ({ label, text }: CopyProps) => {
  const copying = useCopy(label, text)
  return (
    <ActionIcon variant="default" aria-label={label} title={copying.label} onClick={copying.copy}>
      {copying.isCopied ? <CheckIcon /> : <CopyIcon />}
    </ActionIcon>
  )
}
