import { Button, Modal, PasswordInput, Select, Stack, TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client, newIdempotencyKey, take } from "../../api/client.ts"
import { catalog } from "../../api/queries.ts"
import { Failure } from "../../parts/Failure.tsx"
import { fieldErrors } from "../../parts/fieldErrors.ts"
import { Patterns } from "../rules/RuleFields.tsx"

interface CredentialForm {
  provider: string
  label: string
  secret: string
  models: Array<string>
}

const CreateCredential = ({ onClose, projectId }: { readonly projectId: string; readonly onClose: () => void }) => {
  const queries = useQueryClient()
  const models = useQuery(catalog).data ?? []
  const [idempotencyKey] = useState(newIdempotencyKey)
  const form = useForm<CredentialForm>({
    initialValues: { provider: "", label: "", secret: "", models: [] },
    validate: { provider: (value) => (value === "" ? "Choose a provider" : null) }
  })
  const create = useMutation({
    mutationFn: ({ label, models, provider, secret }: CredentialForm) =>
      take(
        client.POST("/api/projects/{id}/credentials", {
          params: { path: { id: projectId }, header: { "idempotency-key": idempotencyKey } },
          body: { provider, label, secret, allowed_models: models.length === 0 ? null : models }
        })
      ),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["credentials", projectId] })
      onClose()
    },
    onError: (error) =>
      form.setErrors(
        fieldErrors(error, { provider: "provider", label: "label", secret: "secret", allowed_models: "models" })
      )
  })
  return (
    <Modal opened onClose={onClose} title="Add credential">
      <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
        <Stack>
          <Select
            label="Provider"
            required
            searchable
            data={[...new Set(models.map(({ provider }) => provider))]}
            {...form.getInputProps("provider")}
          />
          <TextInput label="Label" required maxLength={200} {...form.getInputProps("label")} />
          <PasswordInput
            label="Secret"
            description="Stored sealed; it cannot be read again"
            required
            autoComplete="off"
            {...form.getInputProps("secret")}
          />
          <Patterns
            of="models"
            label="Only for these models"
            description="Empty: for all of the provider"
            {...form.getInputProps("models")}
          />
          {create.error === null ? null : <Failure error={create.error} />}
          <Button type="submit" loading={create.isPending}>
            Add credential
          </Button>
        </Stack>
      </form>
    </Modal>
  )
}

export default CreateCredential
