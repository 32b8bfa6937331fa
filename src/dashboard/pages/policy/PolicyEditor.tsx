import { Alert, Button, NumberInput, SimpleGrid, Stack, Text } from "@mantine/core"
import { useDebouncedValue } from "@mantine/hooks"
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query"
import { client, type Records, type Tagged, take, takeWithTag } from "../../api/client.ts"
import { policy } from "../../api/queries.ts"
import { rulesChanged } from "../../api/queryClient.ts"
import { Block, Loaded } from "../../parts/Block.tsx"
import { count, percentOf, shareOf } from "../../parts/format.ts"
import { SaveRow, SavingForm } from "../../parts/SettingsForm.tsx"
import { useSettings } from "../../parts/useSettings.ts"
import {
  alphaOf,
  checkCaps,
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
  const { edited, form, saving } = useSettings({
    latest,
    query: policy(projectId),
    valuesOf: formOf,
    validate: {
      ...checkCaps,
      exploration: (value) => (Number.isFinite(Number(value)) ? null : "A percentage")
    },
    send: (values: PolicyForm, header) =>
      takeWithTag(
        client.PUT("/api/projects/{id}/policy", {
          params: { path: { id: projectId }, header },
          body: inputOf(values)
        })
      ),
    fields: {
      allowed_models: "allowedModels",
      excluded_models: "excludedModels",
      allowed_providers: "allowedProviders",
      excluded_providers: "excludedProviders",
      max_input_price_microusd_per_million: "inputCap",
      max_output_price_microusd_per_million: "outputCap",
      exploration_share: "exploration"
    },
    onSaved: () => rulesChanged(queries, projectId)
  })
  const input = inputOf(form.getValues())
  const isManaged = edited.managed_by_configuration
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

  return (
    <SavingForm saving={saving} isReady={isSimulated}>
      {isManaged ? (
        <Alert color="blue" variant="outline" mb="md" title="Managed by the configuration">
          GATEWAY_CONFIG has this policy: it is changed there, and read here.
        </Alert>
      ) : null}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Block title={`Rules (version ${edited.policy_version})`}>
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
          <SaveRow
            of={saving}
            isReady={isSimulated}
            mayWrite={mayWrite && !isManaged}
            label={`Save version ${edited.policy_version + 1}`}
          >
            <Button variant="default" disabled={!form.isDirty()} onClick={() => form.reset()}>
              Undo
            </Button>
          </SaveRow>
        </Block>
      </SimpleGrid>
    </SavingForm>
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
