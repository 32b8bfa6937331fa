import { Stack, Switch, TextInput } from "@mantine/core"
import type { UseFormReturnType } from "@mantine/form"
import { Patterns, RuleFields } from "../rules/RuleFields.tsx"
import type { RoutingForm } from "./form.ts"

export const RoutingFields = ({ form }: { readonly form: UseFormReturnType<RoutingForm> }) => (
  <Stack>
    <TextInput label="Name" placeholder="as the slug" maxLength={200} {...form.getInputProps("name")} />
    <Switch label="Choose among some models only" {...form.getInputProps("limitsModels", { type: "checkbox" })} />
    {form.getValues().limitsModels ? (
      <Patterns
        of="models"
        label="Models"
        description="Never more than the project allows"
        {...form.getInputProps("models")}
      />
    ) : null}
    <Switch label="Choose among some providers only" {...form.getInputProps("limitsProviders", { type: "checkbox" })} />
    {form.getValues().limitsProviders ? (
      <Patterns
        of="providers"
        label="Providers"
        description="Never more than the project allows"
        {...form.getInputProps("providers")}
      />
    ) : null}
    <RuleFields form={form} />
  </Stack>
)
