import { Button, Group, Stack, Text } from "@mantine/core"
import { useDisclosure } from "@mantine/hooks"
import { useQuery } from "@tanstack/react-query"
import { Loaded } from "../../parts/Block.tsx"
import { count, percent } from "../../parts/format.ts"
import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"
import { Status } from "../../parts/Status.tsx"
import { capture } from "./queries.ts"

const CollectionForm = loadedWhenShown(() => import("./CollectionForm.tsx"))
const EraseSamples = loadedWhenShown(() => import("./EraseSamples.tsx"))

interface CollectionProps {
  readonly projectId: string
  readonly mayWrite: boolean
}

/** Whether calls are collected, how many, and for how long. */
export const Collection = ({ mayWrite, projectId }: CollectionProps) => {
  const query = useQuery(capture(projectId))
  const [isForm, form] = useDisclosure()
  const [isErase, erase] = useDisclosure()
  return (
    <Loaded query={query} height={70}>
      {(of) => (
        <Stack gap="xs">
          <Group justify="space-between" gap="xs">
            <Group gap="sm" className="figures" data-testid="collection">
              <Status state={of.enabled ? "active" : "inactive"} label={of.enabled ? "on" : "off"} />
              <Text size="sm">
                {percent(of.sampling_rate)} of the conversations that opt in · kept {of.retention_days} days · at most{" "}
                {count(of.max_samples)} · {of.content === "full" ? "with their text" : "without their text"}
              </Text>
              <Text size="sm" fw={600}>
                {count(of.samples_stored)} stored
              </Text>
            </Group>
            <Group gap="xs">
              <Button size="xs" variant="default" disabled={!mayWrite} onClick={form.open}>
                {of.enabled ? "Change" : "Switch on"}
              </Button>
              <Button
                size="xs"
                variant="outline"
                color="red"
                disabled={!mayWrite || of.samples_stored === 0}
                onClick={erase.open}
              >
                Erase
              </Button>
            </Group>
          </Group>
          <Text size="sm" c="dimmed">
            Only requests with <span className="mono">"token_doctor": true</span> are collected: the application has to
            send it.
          </Text>
          {isForm ? <CollectionForm projectId={projectId} of={of} onClose={form.close} /> : null}
          {isErase ? <EraseSamples projectId={projectId} onClose={erase.close} /> : null}
        </Stack>
      )}
    </Loaded>
  )
}
