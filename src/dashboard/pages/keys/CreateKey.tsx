import { NumberInput, TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client, newIdempotencyKey, take } from "../../api/client.ts"
import { AskBeforeLeaving } from "../../parts/AskBeforeLeaving.tsx"
import { FormDialog } from "../../parts/FormDialog.tsx"
import { fieldErrors } from "../../parts/fieldErrors.ts"
import { microUsdOf } from "../../parts/format.ts"
import { checkAmount } from "../../parts/LimitFields.tsx"
import { Secret } from "./Secret.tsx"

const CreateKey = ({ onClose, projectId }: { readonly projectId: string; readonly onClose: () => void }) => {
  const queries = useQueryClient()
  const [idempotencyKey] = useState(newIdempotencyKey)
  const form = useForm<{ name: string; limit: string | number }>({
    initialValues: { name: "", limit: "" },
    validate: { limit: checkAmount }
  })
  const create = useMutation({
    mutationFn: ({ limit, name }: { name: string; limit: string | number }) =>
      take(
        client.POST("/api/projects/{id}/keys", {
          params: { path: { id: projectId }, header: { "idempotency-key": idempotencyKey } },
          body: { name, spend_limit_microusd: microUsdOf(limit) ?? null }
        })
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["keys", projectId] }),
    onError: (error) => form.setErrors(fieldErrors(error, { name: "name", spend_limit_microusd: "limit" }))
  })
  if (create.data !== undefined) return <Secret made={create.data} onSaved={onClose} />
  return (
    <FormDialog
      title="Create key"
      submit="Create key"
      isChanged={form.isDirty()}
      sending={create}
      onSubmit={form.onSubmit((values) => create.mutate(values))}
      onClose={onClose}
    >
      {/* its answer has the secret, which is shown once */}
      <AskBeforeLeaving isUnsaved={create.isPending} />
      <TextInput
        label="Name"
        required
        maxLength={200}
        data-autofocus
        placeholder="ci"
        {...form.getInputProps("name")}
      />
      <NumberInput
        label="Spend limit"
        description="Leave empty for none. The project's limit and the balance apply as well."
        prefix="$"
        min={0}
        thousandSeparator=","
        {...form.getInputProps("limit")}
      />
    </FormDialog>
  )
}

export default CreateKey
