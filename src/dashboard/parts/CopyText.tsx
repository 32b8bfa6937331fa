import { ActionIcon, Button } from "@mantine/core"
import { useClipboard } from "@mantine/hooks"
import { CheckIcon, CopyIcon } from "@primer/octicons-react"

/** A small button that copies a text which is too long to show. */
export const CopyText = ({ label, text }: { readonly label: string; readonly text: string }) => {
  const { copied, copy } = useClipboard()
  return (
    <Button size="compact-xs" variant="default" onClick={() => copy(text)} title={text}>
      {copied ? "Copied" : label}
    </Button>
  )
}

export const CopyIconButton = ({ label, text }: { readonly label: string; readonly text: string }) => {
  const { copied, copy } = useClipboard()
  return (
    <ActionIcon variant="default" aria-label={label} title={copied ? "Copied" : label} onClick={() => copy(text)}>
      {copied ? <CheckIcon /> : <CopyIcon />}
    </ActionIcon>
  )
}
