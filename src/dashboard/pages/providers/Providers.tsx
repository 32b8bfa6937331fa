import { Button, Group, Stack, Text } from "@mantine/core"
import { PlusIcon } from "@primer/octicons-react"
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import type { Records } from "../../api/client.ts"
import { catalog, credentials, liveMillis } from "../../api/queries.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Empty } from "../../parts/Empty.tsx"
import { counted, relative } from "../../parts/format.ts"
import { loadedWhenShown } from "../../parts/loadedWhenShown.tsx"
import { Page } from "../../parts/Page.tsx"
import { ViewerNote } from "../../parts/ViewerNote.tsx"
import { useKeys } from "../../shell/keys.ts"
import { useRole } from "../../shell/project.ts"
import { BillingMode } from "./BillingMode.tsx"

const CreateCredential = loadedWhenShown(() => import("./CreateCredential.tsx"))
const CredentialDrawer = loadedWhenShown(() => import("./CredentialDrawer.tsx"))

/** Who pays the providers, and the project's own credentials for them. */
const Providers = () => {
  const { projectId } = useParams({ from: "/shell/p/$projectId/providers" })
  const { credential, new: isNew } = useSearch({ from: "/shell/p/$projectId/providers" })
  const navigate = useNavigate({ from: "/p/$projectId/providers" })
  const query = useQuery(credentials(projectId))
  const { mayWrite } = useRole(projectId)
  const create = () => void navigate({ search: { new: "1" } })
  const close = () => void navigate({ search: {} })
  useKeys(mayWrite ? { c: create } : {})
  return (
    <Page
      title="Providers"
      lead="Calls are paid from the balance of the account, or by credentials of this project."
      actions={
        <Button leftSection={<PlusIcon />} disabled={!mayWrite} onClick={create}>
          Add credential
        </Button>
      }
    >
      <ViewerNote projectId={projectId} />
      <BillingMode projectId={projectId} mayWrite={mayWrite} />
      <Block title="Credentials of this project">
        <Loaded query={query} height={160}>
          {(rows) =>
            rows.length === 0 ? (
              <Empty title="No credential yet">
                A credential is a provider's API key of your own. It is stored sealed and never shown again.
              </Empty>
            ) : (
              <DataTable
                label="Credentials"
                columns={columns}
                rows={rows}
                keyOf={({ id }) => id}
                activeKey={credential}
                onOpen={({ id }) => void navigate({ search: { credential: id } })}
              />
            )
          }
        </Loaded>
      </Block>
      <Block title="Providers of this gateway">
        <Reachable projectId={projectId} />
      </Block>
      {mayWrite && isNew === "1" ? <CreateCredential projectId={projectId} onClose={close} /> : null}
      {credential === undefined || query.data === undefined ? null : (
        <CredentialDrawer
          key={credential}
          of={query.data.find(({ id }) => id === credential)}
          mayWrite={mayWrite}
          onClose={close}
        />
      )}
    </Page>
  )
}

const columns: ReadonlyArray<Column<Records["CredentialOut"]>> = [
  { id: "provider", header: "Provider", cell: ({ provider }) => provider },
  { id: "label", header: "Label", cell: ({ label }) => label },
  {
    id: "secret",
    header: "Secret",
    width: "6rem",
    cell: ({ masked_secret }) => <span className="mono">{masked_secret}</span>
  },
  { id: "models", header: "For models", from: "md", cell: ({ allowed_models }) => allowed_models?.join(", ") ?? "all" },
  { id: "created", header: "Added", width: "7rem", from: "sm", cell: ({ created_at }) => relative(created_at) }
]

/** What is not listed can be called by its id, and is none of what a provider is known for. */
const listedOf = (models: ReadonlyArray<Records["CatalogModelOut"]>) => models.filter(({ listed }) => listed)

const Reachable = ({ projectId }: { readonly projectId: string }) => (
  <Loaded query={useQuery({ ...catalog(projectId), refetchInterval: liveMillis, select: listedOf })} height={80}>
    {(models) => (
      <Stack gap={4}>
        {[...new Set(models.map(({ provider }) => provider))].map((provider) => {
          const of = models.filter((each) => each.provider === provider)
          const resting = of.filter(({ health }) => health.open_for_ms > 0).length
          return (
            <Group key={provider} justify="space-between">
              <Text size="sm">{provider}</Text>
              <Text size="sm" c="dimmed">
                {counted(of.length, "model")}
                {resting === 0 ? "" : `, ${resting} not tried now`}
              </Text>
            </Group>
          )
        })}
      </Stack>
    )}
  </Loaded>
)

export default Providers
