import { Autocomplete } from "@mantine/core"
import { useForm } from "@mantine/form"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client, newIdempotencyKey, take } from "../../api/client.ts"
import { catalog } from "../../api/queries.ts"
import { FormDialog } from "../../parts/FormDialog.tsx"
import { fieldErrors } from "../../parts/fieldErrors.ts"
import { useIsShown } from "../../parts/useIsShown.ts"
import { allowedModelsOf, CredentialFields, type CredentialValues } from "./CredentialFields.tsx"

interface CredentialForm extends CredentialValues {
  provider: string
}

const CreateCredential = ({ onClose, projectId }: { readonly projectId: string; readonly onClose: () => void }) => {
  const queries = useQueryClient()
  const isShown = useIsShown()
  const models = useQuery(catalog(projectId)).data ?? []
  const [idempotencyKey] = useState(newIdempotencyKey)
  const form = useForm<CredentialForm>({
    initialValues: { provider: "", label: "", secret: "", models: [] },
    validate: { provider: (value) => (value === "" ? "Choose a provider" : null) }
  })
  const create = useMutation({
    mutationFn: (values: CredentialForm) =>
      take(
        client.POST("/api/projects/{id}/credentials", {
          params: { path: { id: projectId }, header: { "idempotency-key": idempotencyKey } },
          body: {
            provider: values.provider,
            label: values.label,
            secret: values.secret,
            allowed_models: allowedModelsOf(values)
          }
        })
      ),
    onSuccess: async () => {
      await Promise.all(
        ["credentials", "catalog", "chat-models"].map((name) =>
          queries.invalidateQueries({ queryKey: [name, projectId] })
        )
      )
      if (isShown()) onClose()
    },
    onError: (error) =>
      form.setErrors(
        fieldErrors(error, { provider: "provider", label: "label", secret: "secret", allowed_models: "models" })
      )
  })
  return (
    <FormDialog
      title="Add credential"
      submit="Add credential"
      isChanged={form.isDirty()}
      sending={create}
      onSubmit={form.onSubmit((values) => create.mutate(values))}
      onClose={onClose}
    >
      <Autocomplete
        label="Provider"
        description="One of this gateway, or a vendor that it has no key for, such as openai or anthropic"
        required
        data={[...new Set(models.map(({ provider }) => provider))]}
        data-autofocus
        openOnFocus={false}
        {...form.getInputProps("provider")}
      />
      <CredentialFields
        form={form}
        secret={{ label: "Secret", description: "Stored sealed; it cannot be read again", required: true }}
      />
    </FormDialog>
  )
}

export default CreateCredential
