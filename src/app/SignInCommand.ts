import { randomFillSync } from "node:crypto"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Settings from "../config/Settings.ts"
import * as MasterKey from "../credentials/MasterKey.ts"
import * as AccountClient from "../http/account/AccountClient.ts"
import { listenUrl } from "../identity/sessions/PublicUrl.ts"
import * as SignInProof from "../identity/sessions/SignInProof.ts"
import { withinAnswerTime } from "./command/AnswerTime.ts"

/** There is no link; the message says why. */
export class NoSignInLink extends Data.TaggedError("NoSignInLink")<{ readonly message: string }> {}

/**
 * Prints a fresh sign-in link of the service that runs with the same settings. The request carries a proof that its sender has
 * the master key.
 */
export const run = (settings: Settings.Settings) =>
  Effect.gen(function* () {
    const baseUrl = listenUrl(settings.host, settings.port)
    if (settings.oidc !== null) {
      return yield* new NoSignInLink({
        message: `people sign in at the identity provider of OIDC_ISSUER, at ${settings.publicUrl ?? baseUrl}/dashboard/sign-in.`
      })
    }
    const isEmbedded = settings.databaseUrl === null
    const [key] = yield* MasterKey.existing({
      ...settings.masterKey,
      directory: isEmbedded ? settings.dataDirectory : null
    })
    if (key === undefined) {
      const where = isEmbedded ? `, and ${settings.dataDirectory} has no master.key yet` : ""
      return yield* new NoSignInLink({ message: `GATEWAY_MASTER_KEY is not set${where}; set the one of the service.` })
    }
    const proof = SignInProof.make(
      MasterKey.derive(key, SignInProof.proofPurpose),
      yield* Clock.currentTimeMillis,
      randomFillSync
    )
    const client = yield* AccountClient.make({ baseUrl })
    const { url } = yield* client.session.createSessionLink({ headers: { "x-sign-in-proof": proof } }).pipe(
      Effect.catchTags({
        Unauthenticated: () =>
          new NoSignInLink({
            message: `the service at ${baseUrl} has another master key, a clock more than a minute apart, or lets people sign in at an identity provider (OIDC_ISSUER) only; set HOST, PORT, GATEWAY_MASTER_KEY, DATA_DIR and OIDC_ISSUER as it has them.`
          }),
        RequestError: () =>
          new NoSignInLink({ message: `no service answers at ${baseUrl}; set HOST and PORT as it has them.` })
      }),
      withinAnswerTime(baseUrl, (problem) => new NoSignInLink(problem))
    )
    yield* Console.log(url)
  }).pipe(Effect.provide(FetchHttpClient.layer))
