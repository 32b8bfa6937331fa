import { Button, Menu, Text } from "@mantine/core"
import { TriangleDownIcon } from "@primer/octicons-react"
import { useMutation } from "@tanstack/react-query"
import { asFailure, failureOf } from "../../api/failure.ts"
import type { RequestFilter } from "../../api/queries.ts"
import { pageToken } from "../../api/session.ts"

const formats = { csv: "text/csv", ndjson: "application/x-ndjson" } as const
type Format = keyof typeof formats

/** Every call of the filter in a file, not only those that are listed. */
export const ExportButton = ({ filter, projectId }: { readonly projectId: string; readonly filter: RequestFilter }) => {
  const save = useMutation({
    mutationFn: async (format: Format) => {
      const response = await fetch(`/api/projects/${projectId}/requests?${new URLSearchParams(filter)}`, {
        headers: { accept: formats[format], "x-csrf-token": pageToken() ?? "" }
      })
      if (!response.ok) throw failureOf(response, await response.json().catch(() => undefined))
      const link = document.createElement("a")
      link.href = URL.createObjectURL(await response.blob())
      link.download = `requests.${format}`
      link.click()
      URL.revokeObjectURL(link.href)
    }
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
