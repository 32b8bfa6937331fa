import { Button, Group, Stack, Text, TextInput } from "@mantine/core"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { client, type Records, type Tagged, take, takeWithTag } from "../../api/client.ts"
import { project } from "../../api/queries.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { ConfirmByName } from "../../parts/ConfirmByName.tsx"
import { CopyText } from "../../parts/CopyText.tsx"
import { money } from "../../parts/format.ts"
import { checkAmount, LimitFields, type LimitValues, limitOf, limitValuesOf } from "../../parts/LimitFields.tsx"
import { checkRates, emptyRates, RateFields, type RateValues, ratesOf, valuesOf } from "../../parts/RateFields.tsx"
import { SettingsForm } from "../../parts/SettingsForm.tsx"
import { useIsShown } from "../../parts/useIsShown.ts"
import { useSettings } from "../../parts/useSettings.ts"
import { ViewerNote } from "../../parts/ViewerNote.tsx"
import { useRole } from "../../shell/project.ts"

type Project = Records["ProjectOut"]

interface ProjectForm extends RateValues, LimitValues {
  name: string
}

export const ProjectSettings = ({ projectId }: { readonly projectId: string }) => {
  const query = useQuery(project(projectId))
  const { isOwner, mayWrite } = useRole(projectId)
  return (
    <Stack>
      <ViewerNote projectId={projectId} />
      <Block title="Project">
        <Loaded query={query} height={360}>
          {(found) => <Editor latest={found} mayWrite={mayWrite} />}
        </Loaded>
      </Block>
      {isOwner && query.data !== undefined ? <Remove of={query.data.data} /> : null}
    </Stack>
  )
}

const formOf = (of: Project): ProjectForm => ({
  name: of.name,
  ...limitValuesOf(of),
  ...(of.rate_limits === null ? emptyRates : valuesOf(of.rate_limits))
})

const Editor = ({ latest, mayWrite }: { readonly latest: Tagged<Project>; readonly mayWrite: boolean }) => {
  const queries = useQueryClient()
  const { id } = latest.data
  const {
    edited: of,
    form,
    saving
  } = useSettings({
    latest,
    query: project(id),
    valuesOf: formOf,
    validate: { limit: checkAmount, ...checkRates },
    send: (values: ProjectForm, header) =>
      takeWithTag(
        client.PATCH("/api/projects/{id}", {
          params: { path: { id }, header },
          body: {
            name: values.name,
            ...limitOf(values),
            rate_limits: ratesOf(values)
          }
        })
      ),
    fields: { name: "name", spend_limit_microusd: "limit" },
    onSaved: () => queries.invalidateQueries({ queryKey: ["projects"] })
  })
  return (
    <>
      <Group gap="xs">
        <CopyText label="Project id" text={of.id} />
        <Text size="sm" c="dimmed">
          your role: {of.role} · spent {money(of.total_spent_microusd)} in all
        </Text>
      </Group>
      <SettingsForm saving={saving} mayWrite={mayWrite}>
        <TextInput label="Name" required maxLength={200} {...form.getInputProps("name")} />
        <LimitFields form={form} description="Of all keys together" />
        <RateFields form={form} />
      </SettingsForm>
    </>
  )
}

const Remove = ({ of }: { readonly of: Project }) => {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const isShown = useIsShown()
  const [isAsked, ask] = useState(false)
  const remove = useMutation({
    mutationFn: () => take(client.DELETE("/api/projects/{id}", { params: { path: { id: of.id } } })),
    onSuccess: async () => {
      // with the project this goes by itself
      const isHere = isShown()
      await queries.invalidateQueries({ queryKey: ["projects"] })
      if (isHere) await navigate({ to: "/", ignoreBlocker: true })
    }
  })
  return (
    <Block title="Delete this project">
      <Group justify="space-between">
        <Text size="sm">Revoke its keys first. Its calls stay in the ledger.</Text>
        <Button variant="outline" color="red" onClick={() => ask(true)}>
          Delete
        </Button>
      </Group>
      {isAsked ? (
        <ConfirmByName
          verb="Delete"
          name={of.name}
          doing={remove}
          onConfirm={() => remove.mutate()}
          onClose={() => ask(false)}
        />
      ) : null}
    </Block>
  )
}
