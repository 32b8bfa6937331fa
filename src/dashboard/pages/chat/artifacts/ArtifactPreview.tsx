import { Table, Text } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { Loaded } from "../../../parts/Block.tsx"
import { WideTable } from "../../../parts/WideTable.tsx"
import type { Artifact } from "../conversation.ts"
import { Markdown } from "../Markdown.tsx"
import { ArtifactCode } from "./ArtifactCode.tsx"
import { content, isPage } from "./content.ts"
import { rowsOf } from "./csv.ts"

/** A version as it looks. */
export const ArtifactPreview = ({ of }: { readonly of: Artifact }) => {
  if (isPage(of)) return <Frame of={of} />
  if (of.media_type === "text/markdown") return <Written of={of} />
  if (of.media_type === "text/csv") return <Csv of={of} />
  return <ArtifactCode of={of} />
}

/** Its scripts run without an origin: the response says so itself, and the frame says it once more. */
const Frame = ({ of }: { readonly of: Artifact }) => (
  <>
    <iframe
      key={of.content_url}
      className="chat-frame"
      title={`${of.name}, version ${of.version}`}
      src={of.content_url}
      sandbox="allow-scripts"
      referrerPolicy="no-referrer"
    />
    <Text size="xs" c="dimmed">
      Made by a model. It reaches neither this page nor the network.
    </Text>
  </>
)

const Written = ({ of }: { readonly of: Artifact }) => (
  <Loaded query={useQuery(content(of))} height={300}>
    {(text) => <Markdown text={text} isGrowing={false} />}
  </Loaded>
)

const Csv = ({ of }: { readonly of: Artifact }) => (
  <Loaded query={useQuery(content(of))} height={300}>
    {(text) => {
      const [head = [], ...rows] = rowsOf(text)
      return (
        <WideTable label={of.name} minWidth={head.length * 90}>
          <Table striped fz="sm" className="figures">
            <Table.Thead>
              <Table.Tr>
                {head.map((cell, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the columns of a version do not change
                  <Table.Th key={index}>{cell}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((row, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a version do not change
                <Table.Tr key={index}>
                  {row.map((cell, column) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the cells of a row do not change
                    <Table.Td key={column}>{cell}</Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </WideTable>
      )
    }}
  </Loaded>
)
