import type { Model } from "../domain/Model.ts"
import type { ProviderCredential } from "../domain/ProviderCredential.ts"
import { patternsMatch } from "../policy/EffectivePolicy.ts"
import type { HealthShape } from "./Health.ts"
import type { RouteHealth } from "./RouteHealth.ts"

/** The credentials that allow the model, in their order. */
export const credentialsFor = <Credential extends Pick<ProviderCredential, "allowedModels" | "providerId">>(
  credentials: ReadonlyArray<Credential>,
  model: Model
): ReadonlyArray<Credential> =>
  credentials.filter(
    ({ allowedModels, providerId }) => providerId === model.providerId && patternsMatch(allowedModels, model)
  )

/** Of several the first that works at present; where none does, the one that will be tried first again. */
export const choose = (
  credentials: ReadonlyArray<ProviderCredential>,
  health: HealthShape
): ((model: Model) => ProviderCredential | undefined) => {
  health.uses(credentials)
  return (model) => {
    const allowed = credentialsFor(credentials, model)
    if (allowed.length < 2) return allowed[0]
    let best: Chosen | undefined
    for (const credential of allowed) {
      const { failure, openUntilMillis } = health.of(model, credential.id)
      if (openUntilMillis === 0) return credential
      if (best === undefined || isBetter({ failure, openUntilMillis }, best))
        best = { credential, failure, openUntilMillis }
    }
    return best?.credential
  }
}

interface Chosen extends Pick<RouteHealth, "failure" | "openUntilMillis"> {
  readonly credential: ProviderCredential
}

/** Of two that are out as long, for what concerns both, one that was rejected is certain to fail. */
const isBetter = (one: Omit<Chosen, "credential">, other: Omit<Chosen, "credential">): boolean =>
  one.openUntilMillis < other.openUntilMillis ||
  (one.openUntilMillis === other.openUntilMillis && one.failure < other.failure)
