import { Stack, TextInput } from "@mantine/core"
import type { UseFormReturnType } from "@mantine/form"
import { OnlySome, RuleFields } from "../rules/RuleFields.tsx"
import type { RoutingForm } from "./form.ts"

export const RoutingFields = ({ form }: { readonly form: UseFormReturnType<RoutingForm> }) => (
  <Stack>
    <TextInput label="Name" placeholder="as the slug" maxLength={200} {...form.getInputProps("name")} />
    <OnlySome
      form={form}
      label="Choose among some models only"
      limits="limitsModels"
      list={{ name: "models", of: "models", label: "Models", description: "Never more than the project allows" }}
    />
    <OnlySome
      form={form}
      label="Choose among some providers only"
      limits="limitsProviders"
      list={{
        name: "providers",
        of: "providers",
        label: "Providers",
        description: "Never more than the project allows"
      }}
    />
    <RuleFields form={form} />
  </Stack>
)
