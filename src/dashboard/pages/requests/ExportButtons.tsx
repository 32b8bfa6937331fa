import { Button, Group, Text } from "@mantine/core"
import { useMutation } from "@tanstack/react-query"
import { asFailure } from "../../api/failure.ts"
import type { RequestFilter } from "../../api/queries.ts"
import { saveFile } from "../../parts/saveFile.ts"

const formats = [
  { id: "csv", label: "CSV", type: "text/csv" },
  { id: "ndjson", label: "NDJSON", type: "application/x-ndjson" }
] as const
type Format = (typeof formats)[number]

/** Every call of the filter in a file, not only those that are listed. */
export const ExportButtons = ({
  filter,
  projectId
}: {
  readonly projectId: string
  readonly filter: RequestFilter
}) => {
  const save = useMutation({
    mutationFn: ({ id, type }: Format) =>
      saveFile(`/api/projects/${projectId}/requests?${new URLSearchParams(filter)}`, type, `requests.${id}`)
  })
  return (
    <Group gap={4} role="group" aria-label="Export">
      {formats.map((format) => (
        <Button
          key={format.id}
          variant="default"
          size="xs"
          aria-label={`Export ${format.label}`}
          loading={save.isPending && save.variables === format}
          onClick={() => save.mutate(format)}
        >
          {format.label}
        </Button>
      ))}
      {save.error === null ? null : (
        <Text size="xs" c="red" p="xs" role="alert">
          {asFailure(save.error).message}
        </Text>
      )}
    </Group>
  )
}
