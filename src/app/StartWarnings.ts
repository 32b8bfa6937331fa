import * as Effect from "effect/Effect"
import { Catalog, type Snapshot } from "../catalog/Catalog.ts"
import type { Variables } from "../config/DotEnv.ts"
import { isLoopbackAddress } from "../config/Environment.ts"
import * as Settings from "../config/Settings.ts"
import { similarNames } from "../config/SimilarNames.ts"
import type { ConfigIssue } from "../domain/InvalidConfiguration.ts"
import { listenUrl } from "../identity/sessions/PublicUrl.ts"
import { spendableIssues } from "./TestPayments.ts"
import { unmatchedNames } from "./UnmatchedNames.ts"

/** What is allowed and most likely not meant. */
export const warningsOf = (
  settings: Settings.Settings,
  variables: Variables,
  snapshot: Snapshot
): ReadonlyArray<ConfigIssue> => [
  ...similarNames(Object.keys(variables), settings.knownVariables),
  ...unmatchedNames(settings, snapshot),
  ...(Settings.hasProvider(settings)
    ? []
    : [
        {
          path: "SIMULATED_PROVIDERS",
          message: "is off, and the service has no provider of its own: only projects with own credentials can call"
        }
      ]),
  ...(isLoopbackAddress(settings.host) || settings.metricsToken !== null
    ? []
    : [{ path: "METRICS_TOKEN", message: "is not set: on an address that is not loopback /metrics answers 401" }]),
  ...(isLoopbackAddress(settings.host) || settings.publicUrl !== null
    ? []
    : [
        {
          path: "PUBLIC_URL",
          message: `is not set: links, redirects and cookies are those of ${listenUrl(settings.host, settings.port)}`
        }
      ]),
  ...(settings.trustedProxies.some(({ bits }) => bits === 0)
    ? [
        {
          path: "TRUSTED_PROXIES",
          message: "has every address: each client can say by which one it is counted and recorded"
        }
      ]
    : []),
  // the embedded database's directory has a key of its own
  ...((settings.databaseUrl === null && settings.dataDirectory !== ":memory:") || settings.masterKey.current !== null
    ? []
    : [
        {
          path: "GATEWAY_MASTER_KEY",
          message: "is not set: what needs sealing, such as credentials, is unavailable"
        }
      ]),
  ...(settings.stripe === null || settings.stripe.webhookSecret !== null
    ? []
    : [
        {
          path: "STRIPE_WEBHOOK_SECRET",
          message:
            "is not set: refunds and disputes take nothing from balances, and a payment whose buyer does not come back is not credited"
        }
      ])
]

/** Logs each in a line. */
export const logWarnings = (settings: Settings.Settings, variables: Variables) =>
  Effect.gen(function* () {
    const catalog = yield* Catalog
    // a database that does not answer this keeps no service from starting
    const spendable = yield* Effect.catchTag(spendableIssues(settings), "StoreUnavailable", () => Effect.succeed([]))
    for (const { message, path } of [...warningsOf(settings, variables, catalog.snapshot()), ...spendable]) {
      yield* Effect.logWarning(`${path} ${message}`)
    }
  })
