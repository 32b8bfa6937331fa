import { Group, Kbd, Stack, Switch, Text } from "@mantine/core"
import { useState } from "react"
import { Modal } from "../parts/Dialog.tsx"
import { setSingleKeys, singleKeysAreOn } from "./keys.ts"
import { personPages, projectPages } from "./pages.ts"

const others: ReadonlyArray<readonly [keys: string, does: string]> = [
  ["Ctrl K", "Go to a page, model or key"],
  ["/", "Filter"],
  ["j  k", "Next, previous row"],
  ["Enter", "Open the row"],
  ["c", "Create"],
  ["Ctrl Enter", "Send"],
  ["Ctrl Shift Enter", "Preview which model would answer"],
  ["Esc", "Close, stop"],
  ["?", "This list"]
]

const KeyList = ({ onClose }: { readonly onClose: () => void }) => {
  const [isOn, setOn] = useState(singleKeysAreOn)
  const rows = [...[...projectPages, ...personPages].map(({ key, label }) => [`g ${key}`, label] as const), ...others]
  return (
    <Modal opened onClose={onClose} title="Keyboard">
      <Stack gap={6}>
        {rows.map(([keys, does]) => (
          <Group key={keys} justify="space-between" wrap="nowrap">
            <Text size="sm">{does}</Text>
            <Kbd flex="none">{keys}</Kbd>
          </Group>
        ))}
        <Switch
          mt="sm"
          label="Keys without Ctrl"
          checked={isOn}
          onChange={({ currentTarget }) => {
            setSingleKeys(currentTarget.checked)
            setOn(currentTarget.checked)
          }}
        />
      </Stack>
    </Modal>
  )
}

export default KeyList
