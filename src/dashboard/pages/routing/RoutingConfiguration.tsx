import { Alert, Button, Group, SimpleGrid, Stack, Text } from "@mantine/core"
import { useForm } from "@mantine/form"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { useState } from "react"
import { client, type Records, type Tagged, take, takeWithTag } from "../../api/client.ts"
import { ApiFailure } from "../../api/failure.ts"
import { routing } from "../../api/queries.ts"
import { keepAnswer, rulesChanged } from "../../api/queryClient.ts"
import { AskBeforeLeaving } from "../../parts/AskBeforeLeaving.tsx"
import { Block, Loaded } from "../../parts/Block.tsx"
import { Modal } from "../../parts/Dialog.tsx"
import { Failure } from "../../parts/Failure.tsx"
import { fieldErrors } from "../../parts/fieldErrors.ts"
import { Page } from "../../parts/Page.tsx"
import { useEdited } from "../../parts/useEdited.ts"
import { useIsShown } from "../../parts/useIsShown.ts"
import { ViewerNote } from "../../parts/ViewerNote.tsx"
import { useRole } from "../../shell/project.ts"
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
          GATEWAY_CONFIG has it under `routingConfigurations`: it is changed there, and read here.
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
  const form = useForm<RoutingForm>({ initialValues: valuesOf(latest.data) })
  const { data: of, saved: taken, tag } = useEdited(latest, form, valuesOf)
  const save = useMutation({
    mutationFn: (values: RoutingForm) =>
      takeWithTag(
        client.PUT("/api/projects/{id}/routing-configurations/{slug}", {
          params: { path: { id: projectId, slug: of.slug }, header: tag === null ? {} : { "if-match": tag } },
          body: settingsOf(values)
        })
      ),
    onSuccess: async (saved, values) => {
      await keepAnswer(queries, routing(projectId, of.slug), saved)
      taken(saved, values)
      await rulesChanged(queries, projectId, "routings", "routing-versions")
    },
    onError: (error) => form.setErrors(fieldErrors(error, { models: "models", providers: "providers", name: "name" }))
  })
  const isElsewhere = save.error instanceof ApiFailure && save.error.status === 412
  const reload = () => {
    form.reset()
    save.reset()
    return queries.invalidateQueries({ queryKey: ["routing", projectId] })
  }
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <AskBeforeLeaving isUnsaved={form.isDirty()} />
      <fieldset
        disabled={!mayWrite || of.managed_by_configuration}
        style={{ border: 0, padding: 0, margin: 0, minWidth: 0 }}
      >
        <Stack>
          <RoutingFields form={form} />
          {save.error === null ? null : <Failure error={save.error} retry={isElsewhere ? reload : undefined} />}
          <Button type="submit" loading={save.isPending} disabled={!form.isDirty()}>
            Save as a new version
          </Button>
        </Stack>
      </fieldset>
    </form>
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
