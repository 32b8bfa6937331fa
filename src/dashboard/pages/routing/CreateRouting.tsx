import { TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { client, newIdempotencyKey, take } from "../../api/client.ts"
import { FormDialog } from "../../parts/FormDialog.tsx"
import { fieldErrors } from "../../parts/fieldErrors.ts"
import { useIsShown } from "../../parts/useIsShown.ts"
import { checkCaps } from "../rules/RuleFields.tsx"
import { formOf, type RoutingForm, settingsOf } from "./form.ts"
import { RoutingFields } from "./RoutingFields.tsx"
import type { Starter } from "./starters.ts"

interface CreateRoutingProps {
  readonly projectId: string
  readonly starter: Starter | undefined
  readonly onClose: () => void
}

const CreateRouting = ({ onClose, projectId, starter }: CreateRoutingProps) => {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const isShown = useIsShown()
  const [idempotencyKey] = useState(newIdempotencyKey)
  const form = useForm<RoutingForm>({
    initialValues: formOf(
      starter?.slug ?? "",
      starter === undefined ? {} : { alpha: starter.alpha, name: starter.name }
    ),
    validate: {
      ...checkCaps,
      slug: (slug) => (/^[a-z0-9-]{1,120}$/.test(slug) ? null : "a-z, 0-9 and '-', at most 120 characters")
    }
  })
  const create = useMutation({
    mutationFn: (values: RoutingForm) =>
      take(
        client.POST("/api/projects/{id}/routing-configurations", {
          params: { path: { id: projectId }, header: { "idempotency-key": idempotencyKey } },
          body: { slug: values.slug, ...settingsOf(values) }
        })
      ),
    onSuccess: async ({ slug }) => {
      await Promise.all(
        ["routings", "chat-models"].map((name) => queries.invalidateQueries({ queryKey: [name, projectId] }))
      )
      if (isShown()) await navigate({ to: "/p/$projectId/routing/$slug", params: { projectId, slug } })
    },
    onError: (error) => form.setErrors(fieldErrors(error, { slug: "slug", models: "models", providers: "providers" }))
  })
  return (
    <FormDialog
      title="Create routing configuration"
      submit="Create configuration"
      isChanged={form.isDirty()}
      sending={create}
      onSubmit={form.onSubmit((values) => create.mutate(values))}
      onClose={onClose}
      size="lg"
    >
      <TextInput
        label="Slug"
        description={`Programs send auto:${form.getValues().slug || "<slug>"} as model`}
        required
        data-autofocus
        {...form.getInputProps("slug")}
      />
      <RoutingFields form={form} />
    </FormDialog>
  )
}

export default CreateRouting
