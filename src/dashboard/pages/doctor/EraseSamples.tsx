import { Checkbox, Select, TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { client, take } from "../../api/client.ts"
import { FormDialog } from "../../parts/FormDialog.tsx"
import { KeySelect } from "../../parts/KeySelect.tsx"
import { samplesErased } from "./queries.ts"

const targets = [
  { value: "project", label: "All samples of the project" },
  { value: "key", label: "Those of a key" },
  { value: "end_user", label: "Those of an end user" },
  { value: "conversation", label: "Those of a conversation" }
] as const

type Target = (typeof targets)[number]["value"]

interface Values {
  target: Target
  of: string
  isSure: boolean
}

const bodyOf = ({ of, target }: Values) => {
  switch (target) {
    case "project":
      return { target }
    case "key":
      return { target, key_id: of }
    case "end_user":
      return { target, end_user: of }
    case "conversation":
      return { target, conversation: of }
  }
}

/** Erases what is stored; that cannot be undone. */
const EraseSamples = ({ onClose, projectId }: { readonly projectId: string; readonly onClose: () => void }) => {
  const queries = useQueryClient()
  const form = useForm<Values>({
    initialValues: { target: "project", of: "", isSure: false },
    validate: {
      of: (of, { target }) => (target !== "project" && of === "" ? "Which?" : null),
      isSure: (isSure) => (isSure ? null : "Needed")
    }
  })
  const { target } = form.getValues()
  const erase = useMutation({
    mutationFn: (values: Values) =>
      take(
        client.POST("/api/projects/{id}/capture/erase", { params: { path: { id: projectId } }, body: bodyOf(values) })
      ),
    onSuccess: async () => {
      queries.removeQueries({ queryKey: ["sample"] })
      await samplesErased(queries, projectId)
      onClose()
    }
  })
  return (
    <FormDialog
      title="Erase samples"
      submit="Erase permanently"
      isChanged={form.isDirty()}
      sending={erase}
      onSubmit={form.onSubmit((values) => erase.mutate(values))}
      onClose={onClose}
    >
      <Select
        label="What"
        data={[...targets]}
        allowDeselect={false}
        data-autofocus
        {...form.getInputProps("target")}
        onChange={(value) =>
          form.setValues({ target: targets.find((each) => each.value === value)?.value ?? "project", of: "" })
        }
      />
      {target === "key" ? (
        <KeySelect projectId={projectId} {...form.getInputProps("of")} value={form.getValues().of} />
      ) : null}
      {target === "end_user" ? (
        <TextInput label="User" description={'As requests have it in "user"'} {...form.getInputProps("of")} />
      ) : null}
      {target === "conversation" ? (
        <TextInput
          label="Conversation"
          description="As its samples have it, 32 hex digits"
          {...form.getInputProps("of")}
        />
      ) : null}
      <Checkbox
        label="I understand that this cannot be undone"
        {...form.getInputProps("isSure", { type: "checkbox" })}
      />
    </FormDialog>
  )
}

export default EraseSamples
