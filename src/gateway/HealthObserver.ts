import type { CallObserver } from "../domain/CallObserver.ts"
import type { HealthShape } from "../routing/Health.ts"
import type { Load } from "../routing/Load.ts"

/** Feeds the outcome of every attempt back into the health of its route. */
export const observer = (health: HealthShape, load: Load): CallObserver => ({
  attemptStarted: (_, model) => {
    load.started(model)
    health.attempted(model)
  },
  attemptEnded: ({ startedAtMillis }, { credentialId, error, firstContentMillis, model, record }) => {
    load.ended(model)
    if (error !== null) health.failed(model, error, credentialId, startedAtMillis)
    else if (record.status === "success") {
      health.succeeded(model, firstContentMillis ?? record.latency_ms, credentialId, startedAtMillis)
    }
  }
})
