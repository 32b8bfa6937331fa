import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as Domain from "../../domain/AccountError.ts"
import {
  InvalidRequest as InvalidRequestError,
  invalidCodes,
  RateLimited as RateLimitedError,
  ServiceRefused as ServiceRefusedError,
  StoreUnavailable as StoreUnavailableError,
  Unauthenticated as UnauthenticatedError
} from "../../domain/GatewayError.ts"
import { ErrorResponse, type WireError } from "../../wire/ErrorBody.ts"
import * as Errors from "../Errors.ts"

/**
 * The errors of the account API as its endpoints declare them: to a handler and to the typed client they are the errors of the
 * domain, on the wire the body of every error. Their statuses are those of the table in `Errors`.
 */
const declared = <A extends Domain.AccountError>(
  status: number,
  codes: ReadonlyArray<string>,
  error: Schema.Schema<A>,
  read: (body: WireError) => A | undefined
) =>
  Schema.transformOrFail(ErrorResponse, error, {
    strict: true,
    decode: (body, _, ast) => {
      const made = read(body.error)
      return made === undefined
        ? ParseResult.fail(new ParseResult.Type(ast, body.error.code))
        : ParseResult.succeed(made)
    },
    encode: (made) => ParseResult.succeed({ error: Errors.of(made).error })
  }).annotations({ ...HttpApiSchema.annotations({ status }), [codesAnnotation]: codes })

const codesAnnotation = Symbol.for("gateway/http/account/codes")

/** The codes of declared errors, for the document. */
export const codesOf = (errors: AST.AST): ReadonlyArray<string> =>
  AST.isUnion(errors)
    ? errors.types.flatMap(codesOf)
    : Option.getOrElse(AST.getAnnotation<ReadonlyArray<string>>(codesAnnotation)(errors), () => [])

interface OwnError<A> {
  readonly _tag: Domain.AccountOnlyError["_tag"]
  new (props: { readonly message: string }): A
}

const own = <A extends Domain.AccountOnlyError, I>(Class: OwnError<A> & Schema.Schema<A, I>) => {
  const [status, , code] = Errors.accountErrors[Class._tag]
  return declared(status, [code], Schema.typeSchema(Class), (body) =>
    body.code === code ? new Class({ message: body.message }) : undefined
  )
}

export const OperatorRequired = own(Domain.OperatorRequired)
export const RoleRequired = own(Domain.RoleRequired)
export const NotFound = own(Domain.NotFound)
export const AlreadyExists = own(Domain.AlreadyExists)
export const CredentialRequired = own(Domain.CredentialRequired)
export const ManagedByConfiguration = own(Domain.ManagedByConfiguration)
export const ConversationRunning = own(Domain.ConversationRunning)
export const IdempotencyKeyInProgress = own(Domain.IdempotencyKeyInProgress)
export const PaymentsNotConfigured = own(Domain.PaymentsNotConfigured)
export const PaymentProviderFailed = own(Domain.PaymentProviderFailed)
export const ProjectNotEmpty = own(Domain.ProjectNotEmpty)
export const VersionMismatch = own(Domain.VersionMismatch)
export const ConfigVersionMismatch = own(Domain.ConfigVersionMismatch)
export const SealingUnavailable = own(Domain.SealingUnavailable)

const IssuerUnavailable = own(Domain.IssuerUnavailable)

const Unauthenticated = declared(
  401,
  ["invalid_api_key"],
  Schema.instanceOf(UnauthenticatedError),
  () => new UnauthenticatedError()
)

const isInvalidCode = Schema.is(Schema.Literal(...invalidCodes))
const InvalidRequest = declared(400, [], Schema.instanceOf(InvalidRequestError), ({ code, message, param }) =>
  isInvalidCode(code) ? new InvalidRequestError({ code, message, param }) : undefined
)

/** The client reads when to come back from `Retry-After`, which is not a part of the body. */
const retryAfterMillis = 1_000
const RateLimited = declared(
  429,
  ["rate_limit_exceeded"],
  Schema.instanceOf(RateLimitedError),
  ({ message }) => new RateLimitedError({ code: "rate_limit_exceeded", message, retryAfterMillis })
)
const ServiceRefused = declared(
  503,
  ["overloaded", "shutting_down"],
  Schema.instanceOf(ServiceRefusedError),
  ({ code }) =>
    code === "overloaded" || code === "shutting_down" ? new ServiceRefusedError({ reason: code }) : undefined
)
const StoreUnavailable = declared(
  503,
  ["store_unavailable"],
  Schema.instanceOf(StoreUnavailableError),
  ({ code, message }) => (code === "store_unavailable" ? new StoreUnavailableError({ cause: message }) : undefined)
)

/** What every endpoint can answer. */
export const Common = Schema.Union(
  Unauthenticated,
  InvalidRequest,
  RateLimited,
  ServiceRefused,
  StoreUnavailable,
  IssuerUnavailable
)
