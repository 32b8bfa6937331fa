import { NumberInput, SimpleGrid, Slider, Stack, Switch, TagsInput, Text } from "@mantine/core"
import type { UseFormReturnType } from "@mantine/form"
import { useQuery } from "@tanstack/react-query"
import { catalog } from "../../api/queries.ts"
import { microUsdOf, usdOf } from "../../parts/format.ts"
import { checkAmount } from "../../parts/LimitFields.tsx"
import { useProjectId } from "../../shell/project.ts"

/** The restrictions that policies and routing configurations share, as a form has them: an empty list is no restriction. */
export interface RuleValues {
  inputCap: string | number
  outputCap: string | number
  hasAlpha: boolean
  alpha: number
  fallback: boolean
}

/** As the API has them: what is left out has its default. */
interface Rules {
  readonly max_input_price_microusd_per_million?: number | null
  readonly max_output_price_microusd_per_million?: number | null
  readonly enable_fallback?: boolean | null
}

/** Of calls for which nobody chooses another. */
export const defaultAlpha = 0.65

export const valuesOfRules = (rules: Rules, alpha: number | null | undefined): RuleValues => ({
  inputCap: usdOf(rules.max_input_price_microusd_per_million ?? null),
  outputCap: usdOf(rules.max_output_price_microusd_per_million ?? null),
  hasAlpha: typeof alpha === "number",
  alpha: alpha ?? defaultAlpha,
  fallback: rules.enable_fallback ?? true
})

export const rulesOf = (values: RuleValues) => ({
  max_input_price_microusd_per_million: microUsdOf(values.inputCap) ?? null,
  max_output_price_microusd_per_million: microUsdOf(values.outputCap) ?? null,
  enable_fallback: values.fallback
})

/** For `validate` of a form. */
export const checkCaps = { inputCap: checkAmount, outputCap: checkAmount }

export const alphaOf = ({ alpha, hasAlpha }: RuleValues): number | null => (hasAlpha ? alpha : null)

interface PatternsProps {
  readonly label: string
  readonly description: string
  readonly of: "models" | "providers"
  readonly value?: Array<string>
  readonly onChange?: (value: Array<string>) => void
  readonly error?: React.ReactNode
}

/** Ids, `<prefix>/*` or `*`, with those of the catalog suggested. */
export const Patterns = ({ of, ...props }: PatternsProps) => {
  const models = useQuery(catalog(useProjectId())).data ?? []
  const providers = [...new Set(models.map(({ provider }) => provider))]
  const data = of === "providers" ? providers : [...providers.map((each) => `${each}/*`), ...models.map(({ id }) => id)]
  return <TagsInput data={data} clearable splitChars={[",", " "]} limit={20} {...props} />
}

interface OnlySomeProps<Values> {
  readonly form: UseFormReturnType<Values>
  readonly label: string
  /** The field that says whether there is a list. */
  readonly limits: string
  readonly list: PatternsProps & { readonly name: string }
}

/** All, or only those of a list: an empty list allows none. */
export const OnlySome = <Values,>({ form, label, limits, list: { name, ...list } }: OnlySomeProps<Values>) => {
  const limited = form.getInputProps(limits, { type: "checkbox" })
  return (
    <>
      <Switch label={label} {...limited} />
      {limited.checked ? <Patterns {...list} {...form.getInputProps(name)} /> : null}
    </>
  )
}

export const RuleFields = <Values extends RuleValues>({ form }: { readonly form: UseFormReturnType<Values> }) => {
  const { alpha, hasAlpha } = form.getValues()
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NumberInput
          label="Highest input price"
          description="Per million tokens"
          prefix="$"
          min={0}
          placeholder="any"
          {...form.getInputProps("inputCap")}
        />
        <NumberInput
          label="Highest output price"
          description="Per million tokens"
          prefix="$"
          min={0}
          placeholder="any"
          {...form.getInputProps("outputCap")}
        />
      </SimpleGrid>
      <Switch
        label="Own balance of quality and cost"
        description={hasAlpha ? undefined : "Inherited when off; the default is 0.65"}
        {...form.getInputProps("hasAlpha", { type: "checkbox" })}
      />
      {hasAlpha ? (
        <div>
          <Text size="sm" fw={500}>
            Alpha {alpha.toFixed(2)}
          </Text>
          <Slider
            min={0}
            max={1}
            step={0.01}
            label={(value) => value.toFixed(2)}
            thumbLabel="Alpha: 0 is cheapest, 1 is best"
            marks={[
              { value: 0, label: "cheapest" },
              { value: 1, label: "best" }
            ]}
            mx="md"
            mb="lg"
            {...form.getInputProps("alpha")}
          />
        </div>
      ) : null}
      <Switch
        label="Fall back to the next model when one fails"
        {...form.getInputProps("fallback", { type: "checkbox" })}
      />
    </Stack>
  )
}
