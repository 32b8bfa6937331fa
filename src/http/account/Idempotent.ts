import * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { AccountIdempotencyShape, AccountRequest } from "../../account/idempotency/AccountIdempotency.ts"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import { matching } from "../../wire/validation/SchemaParts.ts"

const IdempotencyKey = matching(
  /^[\x21-\x7e][\x20-\x7e]{0,254}$/,
  "1 to 255 printable ASCII characters, of which the first is no space"
)
const description =
  "1 to 255 printable ASCII characters, preferably a random UUID. A retry of the same request within 24 hours receives the first response; a different request with the same key is an error."

/** The header of every POST that creates something or moves money. */
export const IdempotencyHeaders = Schema.Struct({
  "idempotency-key": Schema.optional(IdempotencyKey).annotations({ description })
})

/** The same where a request without it is an error. */
export const RequiredIdempotencyHeaders = Schema.Struct({
  "idempotency-key": IdempotencyKey.annotations({ description })
})

/** What identifies a request beside its path, and what its replay needs. */
interface Repeatable<A, I, E, R> extends Pick<AccountRequest<A, I, E, R>, "mayReplay" | "schema"> {
  readonly body: unknown
}

/** Runs the request, or replays what it was answered at first, with `idempotent-replayed: true`. */
export const idempotent = <A, I, E, R, E2, R2>(
  idempotency: AccountIdempotencyShape,
  idempotencyKey: string | undefined,
  { body, mayReplay, schema }: Repeatable<A, I, E2, R2>,
  run: Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    if (idempotencyKey === undefined) return yield* run
    const user = yield* CurrentUser
    const { originalUrl } = yield* HttpServerRequest.HttpServerRequest
    const request = { path: originalUrl.replace(/\?.*$/s, ""), body }
    const { answer, isReplayed } = yield* idempotency.run({ user, idempotencyKey, request, mayReplay, schema }, run)
    if (isReplayed) yield* withHeader("idempotent-replayed", "true")
    return answer
  })

/** A header of the response that the handler is about to give. */
export const withHeader = (name: string, value: string): Effect.Effect<void> =>
  HttpApp.appendPreResponseHandler((_, response) => Effect.succeed(HttpServerResponse.setHeader(response, name, value)))
