import type { Records } from "../../api/client.ts"
import { alphaOf, type RuleValues, rulesOf, valuesOfRules } from "../rules/RuleFields.tsx"

/** The settings of a routing configuration as its form has them. */
export interface RoutingForm extends RuleValues {
  slug: string
  name: string
  limitsModels: boolean
  models: Array<string>
  limitsProviders: boolean
  providers: Array<string>
}

type Settings = Records["RoutingConfigurationInput"]

export const formOf = (slug: string, of: Settings): RoutingForm => ({
  ...valuesOfRules(of, of.alpha),
  slug,
  name: of.name ?? "",
  limitsModels: Array.isArray(of.models),
  models: of.models ?? [],
  limitsProviders: Array.isArray(of.providers),
  providers: of.providers ?? []
})

export const settingsOf = (values: RoutingForm): Settings => ({
  ...rulesOf(values),
  name: values.name === "" ? null : values.name,
  models: values.limitsModels ? values.models : null,
  providers: values.limitsProviders ? values.providers : null,
  alpha: alphaOf(values)
})
