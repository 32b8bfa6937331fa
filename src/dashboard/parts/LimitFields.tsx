import { Group, NumberInput, Select } from "@mantine/core"
import type { UseFormReturnType } from "@mantine/form"
import { microUsdOf, usdOf } from "./format.ts"

/** The fields of a spend limit in a form; an empty amount is no limit. */
export interface LimitValues {
  limit: string | number
  reset: string
}

type Reset = "day" | "week" | "month"

interface Limit {
  readonly spend_limit_microusd: number | null
  readonly limit_reset: Reset | null
}

export const limitValuesOf = (of: Limit): LimitValues => ({
  limit: usdOf(of.spend_limit_microusd),
  reset: of.limit_reset ?? "never"
})

export const limitOf = ({ limit, reset }: LimitValues): Limit => ({
  spend_limit_microusd: microUsdOf(limit) ?? null,
  limit_reset: reset === "never" ? null : (reset as Reset)
})

/** For `validate` of a form: what is no amount would be sent as no limit. */
export const checkAmount = (value: string | number): string | null =>
  microUsdOf(value) === undefined ? "An amount in dollars, of at most 6 decimals" : null

interface LimitFieldsProps<Values extends LimitValues> {
  readonly form: UseFormReturnType<Values>
  readonly description?: string
}

export const LimitFields = <Values extends LimitValues>({ description, form }: LimitFieldsProps<Values>) => (
  <Group grow align="flex-start">
    <NumberInput
      label="Spend limit"
      description={description}
      prefix="$"
      min={0}
      placeholder="no limit"
      {...form.getInputProps("limit")}
    />
    <Select
      label="Resets"
      description={description === undefined ? undefined : "At 00:00 UTC"}
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
)
