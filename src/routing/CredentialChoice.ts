import type { Model } from "../domain/Model.ts"
import type { ProviderCredential } from "../domain/ProviderCredential.ts"
import { patternsMatch } from "../policy/EffectivePolicy.ts"
import type { HealthShape } from "./Health.ts"

/** The credentials that allow the model, in their order. */
export const credentialsFor = <Credential extends Pick<ProviderCredential, "allowedModels" | "providerId">>(
  credentials: ReadonlyArray<Credential>,
  model: Model
): ReadonlyArray<Credential> =>
  credentials.filter(
    ({ allowedModels, providerId }) => providerId === model.providerId && patternsMatch(allowedModels, model)
  )

/** Of several the first that works at present; the first where none does. */
export const choose = (
  credentials: ReadonlyArray<ProviderCredential>,
  health: HealthShape
): ((model: Model) => ProviderCredential | undefined) => {
  health.uses(credentials)
  return (model) => {
    const allowed = credentialsFor(credentials, model)
    return allowed.length < 2
      ? allowed[0]
      : (allowed.find(({ id }) => health.of(model, id).openUntilMillis === 0) ?? allowed[0])
  }
}
