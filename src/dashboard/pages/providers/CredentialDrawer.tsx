import { Button, Group, Stack, Text } from "@mantine/core"
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { client, type Records, type Tagged, take, takeWithTag } from "../../api/client.ts"
import { AskInPlace } from "../../parts/AskInPlace.tsx"
import { Loaded } from "../../parts/Block.tsx"
import { Drawer } from "../../parts/Dialog.tsx"
import { Empty } from "../../parts/Empty.tsx"
import { Failure } from "../../parts/Failure.tsx"
import { seconds } from "../../parts/format.ts"
import { SettingsForm } from "../../parts/SettingsForm.tsx"
import { Status } from "../../parts/Status.tsx"
import { useIsShown } from "../../parts/useIsShown.ts"
import { useSettings } from "../../parts/useSettings.ts"
import { allowedModelsOf, CredentialFields, type CredentialValues } from "./CredentialFields.tsx"

type Credential = Records["CredentialOut"]

/** With the tag of its version, which the list does not have. */
const credential = (id: string) =>
  queryOptions({
    queryKey: ["credential", id],
    queryFn: ({ signal }) => takeWithTag(client.GET("/api/credentials/{id}", { params: { path: { id } }, signal }))
  })

interface CredentialDrawerProps {
  readonly of: Credential | undefined
  readonly mayWrite: boolean
  readonly onClose: () => void
}

const CredentialDrawer = ({ mayWrite, of, onClose }: CredentialDrawerProps) => (
  <Drawer opened onClose={onClose} title={of === undefined ? "Credential" : `${of.provider}: ${of.label}`}>
    {of === undefined ? (
      <Empty title="There is no such credential" />
    ) : (
      <Stack>
        <Check of={of} mayWrite={mayWrite} />
        <Settings of={of} mayWrite={mayWrite} />
        <Remove of={of} mayWrite={mayWrite} onClose={onClose} />
      </Stack>
    )}
  </Drawer>
)

interface PartProps {
  readonly of: Credential
  readonly mayWrite: boolean
}

/** Asks the provider whether it accepts the credential. */
const Check = ({ mayWrite, of }: PartProps) => {
  const check = useMutation({
    mutationFn: () => take(client.POST("/api/credentials/{id}/verify", { params: { path: { id: of.id } } }))
  })
  return (
    <Stack gap="xs">
      <Group>
        <Button variant="default" disabled={!mayWrite} loading={check.isPending} onClick={() => check.mutate()}>
          Verify
        </Button>
        {check.data === undefined ? null : <Status state={check.data.status} />}
      </Group>
      {check.data === undefined ? null : (
        <Text size="sm" role="status">
          {check.data.model === null ? "" : `${check.data.model} was asked for one token. `}
          {check.data.error === null ? "" : `${check.data.error.code}: ${check.data.error.message} `}
          {seconds(check.data.latency_ms)}
        </Text>
      )}
      {check.error === null ? null : <Failure error={check.error} />}
    </Stack>
  )
}

const Settings = ({ mayWrite, of }: PartProps) => (
  <Loaded query={useQuery(credential(of.id))} height={280}>
    {(found) => <Editor latest={found} mayWrite={mayWrite} />}
  </Loaded>
)

const formOf = (of: Credential): CredentialValues => ({ label: of.label, secret: "", models: of.allowed_models ?? [] })

const Editor = ({ latest, mayWrite }: { readonly latest: Tagged<Credential>; readonly mayWrite: boolean }) => {
  const queries = useQueryClient()
  const { id, project_id } = latest.data
  const { edited, form, saving } = useSettings({
    latest,
    query: credential(id),
    valuesOf: formOf,
    send: (values: CredentialValues, header) =>
      takeWithTag(
        client.PATCH("/api/credentials/{id}", {
          params: { path: { id }, header },
          body: {
            label: values.label,
            allowed_models: allowedModelsOf(values),
            ...(values.secret === "" ? {} : { secret: values.secret })
          }
        })
      ),
    fields: { label: "label", secret: "secret", allowed_models: "models" },
    onSaved: () =>
      Promise.all(
        ["credentials", "catalog", "chat-models"].map((name) =>
          queries.invalidateQueries({ queryKey: [name, project_id] })
        )
      )
  })
  return (
    <SettingsForm saving={saving} mayWrite={mayWrite}>
      <CredentialFields
        form={form}
        secret={{ label: "New secret", description: `Leave empty to keep ${edited.masked_secret}`, required: false }}
      />
    </SettingsForm>
  )
}

const Remove = ({ mayWrite, of, onClose }: PartProps & { readonly onClose: () => void }) => {
  const queries = useQueryClient()
  const isShown = useIsShown()
  const remove = useMutation({
    mutationFn: () => take(client.DELETE("/api/credentials/{id}", { params: { path: { id: of.id } } })),
    onSuccess: async () => {
      await Promise.all(
        ["credentials", "catalog", "chat-models"].map((name) =>
          queries.invalidateQueries({ queryKey: [name, of.project_id] })
        )
      )
      if (isShown()) onClose()
    }
  })
  return (
    <AskInPlace
      label="Delete"
      warning="Calls stop using it at once."
      disabled={!mayWrite}
      doing={remove}
      onConfirm={() => remove.mutate()}
    />
  )
}

export default CredentialDrawer
