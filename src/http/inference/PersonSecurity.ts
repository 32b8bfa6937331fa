import type { IncomingMessage } from "node:http"
import * as Cookies from "@effect/platform/Cookies"
import * as Headers from "@effect/platform/Headers"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { PersonKeys } from "../../account/keys/PersonKeys.ts"
import type { OidcSignIn } from "../../account/oidc/OidcSignIn.ts"
import { NotFound } from "../../domain/AccountError.ts"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import { Unauthenticated } from "../../domain/GatewayError.ts"
import { ProjectId } from "../../domain/Ids.ts"
import type { CommandAccess } from "../../identity/sessions/CommandAccess.ts"
import type { PublicUrl } from "../../identity/sessions/PublicUrl.ts"
import type { Sessions } from "../../identity/sessions/Sessions.ts"
import { identifies } from "../account/Identity.ts"
import { ClientAddress } from "../ClientAddress.ts"
import { projectOf } from "../Paths.ts"
import type { CallSecurity } from "./InferenceHandler.ts"

/** Who calls in the project of the path: a person, by their session, whose calls count by a key of their own. */
export class PersonSecurity extends Context.Tag("gateway/http/PersonSecurity")<PersonSecurity, CallSecurity>() {
  static readonly layer: Layer.Layer<
    PersonSecurity,
    never,
    ClientAddress | CommandAccess | OidcSignIn | PersonKeys | PublicUrl | Sessions
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )

  /** For a server without the account API. */
  static readonly layerNone: Layer.Layer<PersonSecurity> = Layer.succeed(this, {
    authenticate: () => Effect.fail(new Unauthenticated())
  })
}

const make = Effect.gen(function* () {
  const identify = yield* identifies
  const keys = yield* PersonKeys
  const address = yield* ClientAddress
  return PersonSecurity.of({
    authenticate: (request, _format, requestId) =>
      Effect.gen(function* () {
        const user = yield* identify(credentialsOf(request), {
          address: address.of(request),
          port: request.socket.localPort ?? 0,
          requestId
        })
        const project = projectOf(request.url ?? "")?.toLowerCase()
        if (!Schema.is(ProjectId)(project)) return yield* noProject
        return yield* Effect.provideService(keys.callerIn(project), CurrentUser, user)
      })
  })
})

const credentialsOf = ({ headers }: IncomingMessage) => ({
  headers: Headers.fromInput(headers),
  cookies: Cookies.parseHeader(headers.cookie ?? "")
})

const noProject = new NotFound({ message: "Project not found." })
