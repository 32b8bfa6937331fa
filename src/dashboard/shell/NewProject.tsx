import { Text, TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client, newIdempotencyKey, take } from "../api/client.ts"
import { FormDialog } from "../parts/FormDialog.tsx"
import { useIsShown } from "../parts/useIsShown.ts"

const NewProject = ({
  onClose,
  onCreated
}: {
  readonly onClose: () => void
  readonly onCreated: (id: string) => void
}) => {
  const queries = useQueryClient()
  const isShown = useIsShown()
  const [idempotencyKey] = useState(newIdempotencyKey)
  const form = useForm({ initialValues: { name: "" } })
  const create = useMutation({
    mutationFn: (name: string) =>
      take(
        client.POST("/api/me/projects", { params: { header: { "idempotency-key": idempotencyKey } }, body: { name } })
      ),
    onSuccess: async ({ id }) => {
      // with the first project its page comes by itself
      const isHere = isShown()
      await queries.invalidateQueries({ queryKey: ["projects"] })
      if (isHere) onCreated(id)
      onClose()
    }
  })
  return (
    <FormDialog
      title="New project"
      submit="Create project"
      isChanged={form.isDirty()}
      sending={create}
      onSubmit={form.onSubmit(({ name }) => create.mutate(name))}
      onClose={onClose}
    >
      <TextInput label="Name" required maxLength={200} data-autofocus {...form.getInputProps("name")} />
      <Text size="sm" c="dimmed">
        It starts without limits of its own and is paid from your balance.
      </Text>
    </FormDialog>
  )
}

export default NewProject
