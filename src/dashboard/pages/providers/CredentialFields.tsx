import { PasswordInput, TextInput } from "@mantine/core"
import type { UseFormReturnType } from "@mantine/form"
import { Patterns } from "../rules/RuleFields.tsx"

/** What a credential has besides its provider. */
export interface CredentialValues {
  label: string
  secret: string
  models: Array<string>
}

/** As the API has them: without models it is for all of its provider. */
export const allowedModelsOf = ({ models }: CredentialValues): Array<string> | null =>
  models.length === 0 ? null : models

interface CredentialFieldsProps<Values extends CredentialValues> {
  readonly form: UseFormReturnType<Values>
  readonly secret: { readonly label: string; readonly description: string; readonly required: boolean }
}

export const CredentialFields = <Values extends CredentialValues>({ form, secret }: CredentialFieldsProps<Values>) => (
  <>
    <TextInput label="Label" required maxLength={200} {...form.getInputProps("label")} />
    <PasswordInput {...secret} autoComplete="off" {...form.getInputProps("secret")} />
    <Patterns
      of="models"
      label="Only for these models"
      description="Leave empty for all models of the provider"
      {...form.getInputProps("models")}
    />
  </>
)
