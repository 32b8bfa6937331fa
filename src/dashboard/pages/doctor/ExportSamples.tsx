import { Button, Group } from "@mantine/core"
import { useMutation } from "@tanstack/react-query"
import { Failure } from "../../parts/Failure.tsx"
import { saveFile } from "../../parts/saveFile.ts"

/** All samples with their content, one a line. */
export const ExportSamples = ({ projectId }: { readonly projectId: string }) => {
  const save = useMutation({
    mutationFn: () => saveFile(`/api/projects/${projectId}/capture/export`, "application/x-ndjson", "samples.ndjson")
  })
  return (
    <Group gap="xs">
      {save.error === null ? null : <Failure error={save.error} />}
      <Button size="xs" variant="default" loading={save.isPending} onClick={() => save.mutate()}>
        Export NDJSON
      </Button>
    </Group>
  )
}
