import { Alert, Button, Group, SimpleGrid, Stack, Text } from "@mantine/core"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { useState } from "react"
import { client, type Records, type Tagged, take, takeWithTag } from "../../api/client.ts"
import { routing } from "../../api/queries.ts"
import { rulesChanged } from "../../api/queryClient.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { Modal } from "../../parts/Dialog.tsx"
import { Failure } from "../../parts/Failure.tsx"
import { Page } from "../../parts/Page.tsx"
import { SaveRow, SavingForm } from "../../parts/SettingsForm.tsx"
import { useIsShown } from "../../parts/useIsShown.ts"
import { useSettings } from "../../parts/useSettings.ts"
import { ViewerNote } from "../../parts/ViewerNote.tsx"
import { useRole } from "../../shell/project.ts"
import { checkCaps } from "../rules/RuleFields.tsx"
import { formOf, type RoutingForm, settingsOf } from "./form.ts"
import { RoutePreview } from "./RoutePreview.tsx"
import { RoutingFields } from "./RoutingFields.tsx"
import { Versions } from "./Versions.tsx"

type Configuration = Records["RoutingConfigurationOut"]

/** One routing configuration: its settings, its versions, and what it would choose now. */
const RoutingConfiguration = () => {
  const { projectId, slug } = useParams({ from: "/shell/p/$projectId/routing/$slug" })
  const query = useQuery(routing(projectId, slug))
  const { mayWrite } = useRole(projectId)
  const isManaged = query.data?.data.managed_by_configuration ?? false
  return (
    <Page
      title={`auto:${slug}`}
      {...(query.data === undefined || isManaged
        ? {}
        : { lead: `Version ${query.data.data.active_version} is active.` })}
      actions={mayWrite && !isManaged ? <Remove projectId={projectId} slug={slug} /> : null}
    >
      {isManaged ? (
        <Alert color="blue" variant="outline" title="Managed by the configuration">
          GATEWAY_CONFIG has it under <span className="mono">routingConfigurations</span>: it is changed there, and read
          here.
        </Alert>
      ) : null}
      <ViewerNote projectId={projectId} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Block title="Settings">
          <Loaded query={query} height={420}>
            {(found) => <Editor key={slug} projectId={projectId} latest={found} mayWrite={mayWrite} />}
          </Loaded>
        </Block>
        <Stack>
          <RoutePreview
            projectId={projectId}
            model={`auto:${slug}`}
            version={query.data?.data.active_version ?? null}
          />
          {isManaged ? null : <Versions projectId={projectId} slug={slug} mayWrite={mayWrite} />}
        </Stack>
      </SimpleGrid>
    </Page>
  )
}

interface EditorProps {
  readonly projectId: string
  readonly latest: Tagged<Configuration>
  readonly mayWrite: boolean
}

const valuesOf = (of: Configuration): RoutingForm => formOf(of.slug, of)

const Editor = ({ latest, mayWrite, projectId }: EditorProps) => {
  const queries = useQueryClient()
  const { slug } = latest.data
  const {
    edited: of,
    form,
    saving
  } = useSettings({
    latest,
    query: routing(projectId, slug),
    valuesOf,
    validate: checkCaps,
    send: (values: RoutingForm, header) =>
      takeWithTag(
        client.PUT("/api/projects/{id}/routing-configurations/{slug}", {
          params: { path: { id: projectId, slug }, header },
          body: settingsOf(values)
        })
      ),
    fields: { models: "models", providers: "providers", name: "name" },
    onSaved: () => rulesChanged(queries, projectId, "routings", "routing-versions")
  })
  return (
    <SavingForm saving={saving}>
      <fieldset disabled={!mayWrite || of.managed_by_configuration} className="plain-fieldset">
        <Stack>
          <RoutingFields form={form} />
          <SaveRow of={saving} label="Save as a new version" />
        </Stack>
      </fieldset>
    </SavingForm>
  )
}

const Remove = ({ projectId, slug }: { readonly projectId: string; readonly slug: string }) => {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const isShown = useIsShown()
  const [isAsked, ask] = useState(false)
  const remove = useMutation({
    mutationFn: () =>
      take(
        client.DELETE("/api/projects/{id}/routing-configurations/{slug}", { params: { path: { id: projectId, slug } } })
      ),
    onSuccess: async () => {
      await Promise.all(
        ["routings", "chat-models"].map((name) => queries.invalidateQueries({ queryKey: [name, projectId] }))
      )
      if (isShown()) await navigate({ to: "/p/$projectId/routing", params: { projectId }, ignoreBlocker: true })
    }
  })
  return (
    <>
      <Button variant="outline" color="red" onClick={() => ask(true)}>
        Delete
      </Button>
      {isAsked ? (
        <Modal opened isBusy={remove.isPending} onClose={() => ask(false)} title={`Delete auto:${slug}`}>
          <Stack>
            <Text size="sm">Calls of auto:{slug} then get 404. Its versions are deleted with it.</Text>
            {remove.error === null ? null : <Failure error={remove.error} />}
            <Group>
              <Button color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
                Delete permanently
              </Button>
            </Group>
          </Stack>
        </Modal>
      ) : null}
    </>
  )
}

export default RoutingConfiguration
