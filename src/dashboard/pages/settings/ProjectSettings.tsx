import { Button, Group, Modal, NumberInput, Select, Stack, Text, TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { client, type Records, type Tagged, take, takeWithTag } from "../../api/client.ts"
import { ApiFailure } from "../../api/failure.ts"
import { project } from "../../api/queries.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { CopyText } from "../../parts/CopyText.tsx"
import { Failure } from "../../parts/Failure.tsx"
import { fieldErrors } from "../../parts/fieldErrors.ts"
import { microUsdOf, money, usdOf } from "../../parts/format.ts"
import { emptyRates, RateFields, type RateValues, ratesOf, valuesOf } from "../../parts/RateFields.tsx"
import { useRole } from "../../shell/project.ts"

type Project = Records["ProjectOut"]

interface ProjectForm extends RateValues {
  name: string
  limit: string | number
  reset: string
}

export const ProjectSettings = ({ projectId }: { readonly projectId: string }) => {
  const query = useQuery(project(projectId))
  const { isOwner, mayWrite } = useRole(projectId)
  return (
    <Stack>
      <Block title="Project">
        <Loaded query={query} height={360}>
          {(found) => <Editor key={found.tag} found={found} mayWrite={mayWrite} />}
        </Loaded>
      </Block>
      {isOwner && query.data !== undefined ? <Remove of={query.data.data} /> : null}
    </Stack>
  )
}

const Editor = ({ found, mayWrite }: { readonly found: Tagged<Project>; readonly mayWrite: boolean }) => {
  const queries = useQueryClient()
  const { data: of, tag } = found
  const form = useForm<ProjectForm>({
    initialValues: {
      name: of.name,
      limit: usdOf(of.spend_limit_microusd),
      reset: of.limit_reset ?? "never",
      ...(of.rate_limits === null ? emptyRates : valuesOf(of.rate_limits))
    },
    validate: { limit: (value) => (microUsdOf(value) === undefined ? "An amount in dollars" : null) }
  })
  const save = useMutation({
    mutationFn: (values: ProjectForm) =>
      takeWithTag(
        client.PATCH("/api/projects/{id}", {
          params: { path: { id: of.id }, header: tag === null ? {} : { "if-match": tag } },
          body: {
            name: values.name,
            spend_limit_microusd: microUsdOf(values.limit) ?? null,
            limit_reset: values.reset === "never" ? null : (values.reset as "day" | "week" | "month"),
            rate_limits: ratesOf(values)
          }
        })
      ),
    onSuccess: async (saved) => {
      queries.setQueryData(project(of.id).queryKey, saved)
      await queries.invalidateQueries({ queryKey: ["projects"] })
    },
    onError: (error) => form.setErrors(fieldErrors(error, { name: "name", spend_limit_microusd: "limit" }))
  })
  const isElsewhere = save.error instanceof ApiFailure && save.error.status === 412
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <fieldset disabled={!mayWrite} style={{ border: 0, padding: 0, margin: 0, minWidth: 0 }}>
        <Stack maw={560}>
          <Group gap="xs">
            <CopyText label="Project id" text={of.id} />
            <Text size="sm" c="dimmed">
              your role: {of.role} · spent {money(of.total_spent_microusd)} in all
            </Text>
          </Group>
          <TextInput label="Name" required maxLength={200} {...form.getInputProps("name")} />
          <Group grow align="flex-start">
            <NumberInput
              label="Spend limit"
              description="Of all keys together"
              prefix="$"
              min={0}
              decimalScale={6}
              placeholder="no limit"
              {...form.getInputProps("limit")}
            />
            <Select
              label="Begins anew"
              description="At 00:00 UTC"
              data={[
                { value: "never", label: "never" },
                { value: "day", label: "each day" },
                { value: "week", label: "each week" },
                { value: "month", label: "each month" }
              ]}
              allowDeselect={false}
              {...form.getInputProps("reset")}
            />
          </Group>
          <RateFields form={form} />
          {save.error === null ? null : (
            <Failure
              error={save.error}
              retry={isElsewhere ? () => queries.invalidateQueries({ queryKey: ["project", of.id] }) : undefined}
            />
          )}
          <Group>
            <Button type="submit" loading={save.isPending} disabled={!form.isDirty()}>
              Save
            </Button>
          </Group>
        </Stack>
      </fieldset>
    </form>
  )
}

const Remove = ({ of }: { readonly of: Project }) => {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [isAsked, ask] = useState(false)
  const [typed, setTyped] = useState("")
  const remove = useMutation({
    mutationFn: () => take(client.DELETE("/api/projects/{id}", { params: { path: { id: of.id } } })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["projects"] })
      await navigate({ to: "/" })
    }
  })
  return (
    <Block title="Delete this project">
      <Group justify="space-between">
        <Text size="sm">Its keys have to be revoked first; its calls stay in the ledger.</Text>
        <Button variant="outline" color="red" onClick={() => ask(true)}>
          Delete
        </Button>
      </Group>
      {isAsked ? (
        <Modal opened onClose={() => ask(false)} title={`Delete ${of.name}`}>
          <Stack>
            <TextInput
              label={`Type the name: ${of.name}`}
              value={typed}
              onChange={({ currentTarget }) => setTyped(currentTarget.value)}
              data-autofocus
            />
            {remove.error === null ? null : <Failure error={remove.error} />}
            <Button color="red" disabled={typed !== of.name} loading={remove.isPending} onClick={() => remove.mutate()}>
              Delete for good
            </Button>
          </Stack>
        </Modal>
      ) : null}
    </Block>
  )
}
