import { Alert, Button, Group, NumberInput, SimpleGrid, Stack, Text } from "@mantine/core"
import { useForm } from "@mantine/form"
import { useDebouncedValue } from "@mantine/hooks"
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { client, type Records, type Tagged, take, takeWithTag } from "../../api/client.ts"
import { ApiFailure } from "../../api/failure.ts"
import { policy } from "../../api/queries.ts"
import { keepAnswer, rulesChanged } from "../../api/queryClient.ts"
import { AskBeforeLeaving } from "../../parts/AskBeforeLeaving.tsx"
import { Block, Loaded } from "../../parts/Block.tsx"
import { Failure } from "../../parts/Failure.tsx"
import { fieldErrors } from "../../parts/fieldErrors.ts"
import { count, percentOf, shareOf } from "../../parts/format.ts"
import { useEdited } from "../../parts/useEdited.ts"
import {
  alphaOf,
  OnlySome,
  Patterns,
  RuleFields,
  type RuleValues,
  rulesOf,
  valuesOfRules
} from "../rules/RuleFields.tsx"

type Policy = Records["PolicyOut"]
type Input = Records["PolicyInput"]

interface PolicyForm extends RuleValues {
  limitsModels: boolean
  allowedModels: Array<string>
  excludedModels: Array<string>
  limitsProviders: boolean
  allowedProviders: Array<string>
  excludedProviders: Array<string>
  /** Percent, as a form has it. */
  exploration: string | number
}

const formOf = (of: Policy): PolicyForm => ({
  ...valuesOfRules(of, of.default_alpha),
  limitsModels: Array.isArray(of.allowed_models),
  allowedModels: of.allowed_models ?? [],
  excludedModels: of.excluded_models ?? [],
  limitsProviders: Array.isArray(of.allowed_providers),
  allowedProviders: of.allowed_providers ?? [],
  excludedProviders: of.excluded_providers ?? [],
  exploration: percentOf(of.exploration_share ?? 0)
})

const inputOf = (values: PolicyForm): Input => ({
  ...rulesOf(values),
  allowed_models: values.limitsModels ? values.allowedModels : null,
  excluded_models: values.excludedModels,
  allowed_providers: values.limitsProviders ? values.allowedProviders : null,
  excluded_providers: values.excludedProviders,
  default_alpha: alphaOf(values),
  exploration_share: shareOf(values.exploration)
})

const simulationMillis = 300

interface PolicyEditorProps {
  readonly projectId: string
  readonly latest: Tagged<Policy>
  readonly mayWrite: boolean
}

/** The rules on the left, and what they would change on the right. */
export const PolicyEditor = ({ latest, mayWrite, projectId }: PolicyEditorProps) => {
  const queries = useQueryClient()
  const form = useForm<PolicyForm>({ initialValues: formOf(latest.data) })
  const found = useEdited(latest, form, formOf)
  const input = inputOf(form.getValues())
  const isManaged = found.data.managed_by_configuration
  const [simulated] = useDebouncedValue(JSON.stringify(input), simulationMillis)
  const simulation = useQuery({
    // another version has another effect
    queryKey: ["policy-simulation", projectId, latest.data.policy_version, simulated],
    queryFn: ({ signal }) =>
      take(
        client.POST("/api/projects/{id}/policy/simulate", {
          params: { path: { id: projectId } },
          body: JSON.parse(simulated) as Input,
          signal
        })
      ),
    placeholderData: keepPreviousData
  })
  const isSimulated = simulated === JSON.stringify(input) && simulation.isSuccess && !simulation.isPlaceholderData
  const save = useMutation({
    mutationKey: ["save-policy", projectId],
    mutationFn: (values: PolicyForm) =>
      takeWithTag(
        client.PUT("/api/projects/{id}/policy", {
          params: { path: { id: projectId }, header: found.tag === null ? {} : { "if-match": found.tag } },
          body: inputOf(values)
        })
      ),
    onSuccess: async (saved, values) => {
      await keepAnswer(queries, policy(projectId), saved)
      found.saved(saved, values)
      await rulesChanged(queries, projectId)
    },
    onError: (error) =>
      form.setErrors(
        fieldErrors(error, {
          allowed_models: "allowedModels",
          excluded_models: "excludedModels",
          allowed_providers: "allowedProviders",
          excluded_providers: "excludedProviders",
          max_input_price_microusd_per_million: "inputCap",
          max_output_price_microusd_per_million: "outputCap",
          exploration_share: "exploration"
        })
      )
  })
  const isElsewhere = save.error instanceof ApiFailure && save.error.status === 412
  const reload = () => {
    form.reset()
    save.reset()
    return queries.invalidateQueries({ queryKey: ["policy", projectId] })
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        // known before the page shows it: a second click may come earlier
        if (queries.isMutating({ mutationKey: ["save-policy", projectId] }) === 0) save.mutate(form.getValues())
      }}
    >
      <AskBeforeLeaving isUnsaved={form.isDirty()} />
      {isManaged ? (
        <Alert color="blue" variant="outline" mb="md" title="Managed by the configuration">
          GATEWAY_CONFIG has this policy: it is changed there, and read here.
        </Alert>
      ) : null}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Block title={`Rules (version ${found.data.policy_version})`}>
          <fieldset disabled={!mayWrite || isManaged} className="plain-fieldset">
            <Stack>
              <OnlySome
                form={form}
                label="Allow only some models"
                limits="limitsModels"
                list={{
                  name: "allowedModels",
                  of: "models",
                  label: "Allowed models",
                  description: "An empty list allows none"
                }}
              />
              <Patterns
                of="models"
                label="Excluded models"
                description="An exclusion always wins"
                {...form.getInputProps("excludedModels")}
              />
              <OnlySome
                form={form}
                label="Allow only some providers"
                limits="limitsProviders"
                list={{
                  name: "allowedProviders",
                  of: "providers",
                  label: "Allowed providers",
                  description: "An empty list allows none"
                }}
              />
              <Patterns
                of="providers"
                label="Excluded providers"
                description="An exclusion always wins"
                {...form.getInputProps("excludedProviders")}
              />
              <RuleFields form={form} />
              <NumberInput
                label="Exploration"
                description="Calls that try a model near the best, at most 2 %"
                suffix=" %"
                min={0}
                max={2}
                decimalScale={2}
                {...form.getInputProps("exploration")}
              />
            </Stack>
          </fieldset>
        </Block>
        <Block title="Effect">
          <Loaded query={simulation} height={240}>
            {(effect) => <Effect effect={effect} />}
          </Loaded>
          {save.error === null ? null : <Failure error={save.error} retry={isElsewhere ? reload : undefined} />}
          {isElsewhere ? (
            <Text size="sm">
              Someone else has saved a new version in the meantime. Retry loads it and discards your changes.
            </Text>
          ) : null}
          <Group>
            <Button
              type="submit"
              disabled={!mayWrite || isManaged || !form.isDirty() || !isSimulated}
              loading={save.isPending}
            >
              Save version {found.data.policy_version + 1}
            </Button>
            <Button variant="default" disabled={!form.isDirty()} onClick={() => form.reset()}>
              Undo
            </Button>
          </Group>
        </Block>
      </SimpleGrid>
    </form>
  )
}

const Effect = ({ effect }: { readonly effect: Records["PolicySimulationOut"] }) => {
  const [before, after] = [new Set(effect.before.models), new Set(effect.after.models)]
  const left = effect.before.models.filter((id) => !after.has(id))
  const come = effect.after.models.filter((id) => !before.has(id))
  return (
    <Stack gap="xs" data-testid="policy-effect">
      <Text className="figures" role="status">
        Eligible models: {count(before.size)} → {count(after.size)}
      </Text>
      {left.length === 0 ? null : <Ids title={`${left.length} leave`} ids={left} kind="failed" />}
      {come.length === 0 ? null : <Ids title={`${come.length} come`} ids={come} kind="ok" />}
      {effect.becomes_empty.length === 0 ? null : (
        <Alert color="red" variant="outline" title="No eligible model would remain" role="alert">
          Calls of {effect.becomes_empty.join(", ")} would get 404 no_eligible_model.
        </Alert>
      )}
      {left.length === 0 && come.length === 0 ? (
        <Text size="sm" c="dimmed">
          The same models stay eligible.
        </Text>
      ) : null}
    </Stack>
  )
}

const maxShown = 30

const Ids = ({
  ids,
  kind,
  title
}: {
  readonly title: string
  readonly ids: ReadonlyArray<string>
  readonly kind: string
}) => (
  <div>
    <Text size="sm" fw={600}>
      {title}
    </Text>
    {ids.slice(0, maxShown).map((id) => (
      <span key={id} className="chip" data-kind={kind}>
        {id}
      </span>
    ))}
    {ids.length > maxShown ? <Text size="xs">and {count(ids.length - maxShown)} more</Text> : null}
  </div>
)
