import * as Effect from "effect/Effect"
import { Catalog } from "../catalog/Catalog.ts"
import type { Variables } from "../config/DotEnv.ts"
import type * as Settings from "../config/Settings.ts"
import { similarNames } from "../config/SimilarNames.ts"
import { isLoopback } from "./Loopback.ts"
import { unmatchedNames } from "./UnmatchedNames.ts"

/** Logs what is allowed and most likely not meant, one line each. */
export const logWarnings = (settings: Settings.Settings, variables: Variables) =>
  Effect.flatMap(Catalog, (catalog) =>
    Effect.forEach(
      [
        ...similarNames(Object.keys(variables), settings.knownVariables),
        ...unmatchedNames(settings, catalog.snapshot()),
        ...(isLoopback(settings.host) || settings.metricsToken !== null
          ? []
          : [{ path: "METRICS_TOKEN", message: "is not set: on an address that is not loopback /metrics answers 401" }])
      ],
      ({ message, path }) => Effect.logWarning(`${path} ${message}`),
      { discard: true }
    )
  )
