import { Code, Group, Stack, Text } from "@mantine/core"
import { useSyncExternalStore } from "react"
import { curlOf, recordedCalls } from "../api/calls.ts"
import { CopyIconButton } from "../parts/CopyText.tsx"
import { Drawer } from "../parts/Dialog.tsx"
import { Empty } from "../parts/Empty.tsx"
import { seconds } from "../parts/format.ts"

/** What the page has asked the account API, to be repeated by hand. */
const ApiDrawer = ({ onClose }: { readonly onClose: () => void }) => {
  const calls = useSyncExternalStore(recordedCalls.subscribe, recordedCalls.current)
  return (
    <Drawer opened onClose={onClose} title="API calls of this page" size="lg">
      <Stack>
        <Text size="sm" c="dimmed">
          Every figure here comes from the account API, which scripts can call with a session token;{" "}
          <a href="/docs">/docs</a> describes it.
        </Text>
        {calls.length === 0 ? <Empty title="No call yet" /> : null}
        {calls.map((call) => (
          <Stack key={call.id} gap={4}>
            <Group justify="space-between" wrap="nowrap">
              <Text size="xs" c="dimmed">
                {call.status} · {seconds(call.millis)}
              </Text>
              <CopyIconButton label="Copy as curl" text={curlOf(call)} />
            </Group>
            <Code block fz="xs" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
              {curlOf(call)}
            </Code>
          </Stack>
        ))}
      </Stack>
    </Drawer>
  )
}

export default ApiDrawer
