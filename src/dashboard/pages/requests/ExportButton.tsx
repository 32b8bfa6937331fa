import { Button, Menu, Text } from "@mantine/core"
import { TriangleDownIcon } from "@primer/octicons-react"
import { useMutation } from "@tanstack/react-query"
import { asFailure } from "../../api/failure.ts"
import type { RequestFilter } from "../../api/queries.ts"
import { saveFile } from "../../parts/saveFile.ts"

const formats = { csv: "text/csv", ndjson: "application/x-ndjson" } as const
type Format = keyof typeof formats

/** Every call of the filter in a file, not only those that are listed. */
export const ExportButton = ({ filter, projectId }: { readonly projectId: string; readonly filter: RequestFilter }) => {
  const save = useMutation({
    mutationFn: (format: Format) =>
      saveFile(
        `/api/projects/${projectId}/requests?${new URLSearchParams(filter)}`,
        formats[format],
        `requests.${format}`
      )
  })
  return (
    <Menu>
      <Menu.Target>
        <Button variant="default" size="xs" rightSection={<TriangleDownIcon />} loading={save.isPending}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => save.mutate("csv")}>CSV</Menu.Item>
        <Menu.Item onClick={() => save.mutate("ndjson")}>NDJSON</Menu.Item>
        {save.error === null ? null : (
          <Text size="xs" c="red" p="xs" role="alert">
            {asFailure(save.error).message}
          </Text>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
