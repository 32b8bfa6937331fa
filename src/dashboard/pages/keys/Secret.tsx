import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core"
import { useEffect, useState } from "react"
import type { Records } from "../../api/client.ts"
import { AskBeforeLeaving } from "../../parts/AskBeforeLeaving.tsx"
import { CopyIconButton } from "../../parts/CopyText.tsx"
import { Modal } from "../../parts/Dialog.tsx"
import { Snippets } from "./Snippets.tsx"

interface SecretProps {
  readonly made: Records["CreateApiKeyResponse"]
  readonly onSaved: () => void
}

/** The only time that the key is shown: the dialog closes when the person says that it is saved. */
export const Secret = ({ made, onSaved }: SecretProps) => {
  const [isSaved, setSaved] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when nothing asks before leaving any more
  useEffect(() => {
    if (isSaved) onSaved()
  }, [isSaved])
  return (
    <Modal
      opened
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={`Key ${made.name}`}
      size="lg"
    >
      <AskBeforeLeaving isUnsaved={!isSaved} />
      <Stack>
        <Alert color="yellow" variant="outline" title="Save it now">
          <Text size="sm">Only its hash is stored: nobody can show the key again.</Text>
        </Alert>
        <Group wrap="nowrap" gap="xs">
          <Code block className="secret" style={{ flex: 1 }} data-testid="secret">
            {made.api_key}
          </Code>
          <CopyIconButton label="Copy the key" text={made.api_key} />
        </Group>
        <Snippets secret={made.api_key} />
        <Button onClick={() => setSaved(true)}>I have saved it</Button>
      </Stack>
    </Modal>
  )
}
