import * as Match from "effect/Match"
import type { AccountError, AccountOnlyError } from "../domain/AccountError.ts"
import type { Attempt } from "../domain/Call.ts"
import type { GatewayError } from "../domain/GatewayError.ts"
import { shutdownCode } from "../domain/ProviderError.ts"
import type { WireError } from "../wire/ErrorBody.ts"
import { rateLimitHeaders } from "./RateLimitHeaders.ts"

/** An error as a client sees it: a status, headers, and the error object of the body. */
export interface HttpError {
  /** Of the response. */
  readonly status: number
  /** Such as `retry-after`. */
  readonly headers: Readonly<Record<string, string>>
  /** The object of the body. */
  readonly error: WireError
}

/** Running calls return all that they hold within about this time. */
const heldReturnMillis = 30_000
const unavailableRetrySeconds = 2
const drainRetrySeconds = 5
/** When a client that was rejected by an overloaded node may come back. */
export const overloadRetryMillis = 1_000

/** Status, type and code of what only the account API has; the error brings the message. */
export const accountErrors = {
  OperatorRequired: [403, "permission_error", "operator_required"],
  RoleRequired: [403, "permission_error", "role_required"],
  NotFound: [404, "invalid_request_error", "not_found"],
  AlreadyExists: [409, "conflict_error", "already_exists"],
  ManagedByConfiguration: [409, "conflict_error", "managed_by_configuration"],
  CredentialRequired: [409, "conflict_error", "credential_required"],
  PaymentsNotConfigured: [409, "conflict_error", "payments_not_configured"],
  PaymentProviderFailed: [502, "provider_error", "payment_provider_failed"],
  ConversationRunning: [409, "conflict_error", "conversation_running"],
  IdempotencyKeyInProgress: [409, "conflict_error", "idempotency_key_in_progress"],
  ProjectNotEmpty: [409, "conflict_error", "project_not_empty"],
  VersionMismatch: [412, "conflict_error", "version_mismatch"],
  ConfigVersionMismatch: [409, "conflict_error", "config_version_mismatch"],
  SealingUnavailable: [503, "server_error", "sealing_unavailable"],
  IssuerUnavailable: [503, "server_error", "issuer_unavailable"]
} as const satisfies Record<AccountOnlyError["_tag"], readonly [status: number, type: string, code: string]>

const accountTags = [
  "OperatorRequired",
  "RoleRequired",
  "NotFound",
  "AlreadyExists",
  "ManagedByConfiguration",
  "CredentialRequired",
  "PaymentsNotConfigured",
  "PaymentProviderFailed",
  "ConversationRunning",
  "IdempotencyKeyInProgress",
  "ProjectNotEmpty",
  "VersionMismatch",
  "ConfigVersionMismatch",
  "SealingUnavailable",
  "IssuerUnavailable"
] as const

const ofAccount = ({ _tag, message }: AccountOnlyError): HttpError => {
  const [status, type, code] = accountErrors[_tag]
  return http(status, type, code, message)
}

/** The single table of status, type and code. */
export const of: (error: GatewayError | AccountError) => HttpError = Match.type<GatewayError | AccountError>().pipe(
  Match.tag(...accountTags, ofAccount),
  Match.tagsExhaustive({
    Unauthenticated: ({ message }) =>
      http(401, "authentication_error", "invalid_api_key", message, { headers: { "www-authenticate": "Bearer" } }),
    InvalidRequest: (error) =>
      http(400, "invalid_request_error", error.code, error.message, {
        param: error.param,
        ...(error.attempts === undefined ? {} : { metadata: { attempts: error.attempts } })
      }),
    RateLimited: (error) =>
      http(429, "rate_limit_error", error.code, error.message, {
        headers: {
          ...retryAfter(error.retryAfterMillis),
          ...(error.status === undefined ? {} : rateLimitHeaders(error.status))
        }
      }),
    ModelNotFound: ({ message }) => http(404, "invalid_request_error", "model_not_found", message, { param: "model" }),
    NoEligibleModel: ({ excluded, message, param }) =>
      http(404, "invalid_request_error", "no_eligible_model", message, {
        param,
        metadata: { excluded }
      }),
    RoutingConfigNotFound: ({ message }) =>
      http(404, "invalid_request_error", "routing_config_not_found", message, { param: "routing_config" }),
    InsufficientFunds: (error) => {
      const { availableMicroUsd, fittingOutputTokens, heldMicroUsd, neededMicroUsd, reason, scope } = error
      const code = scope === "account" ? "insufficient_balance" : "spend_limit_exceeded"
      return http(402, "insufficient_quota", code, error.message, {
        metadata: {
          reason,
          scope,
          needed_microusd: neededMicroUsd,
          available_microusd: availableMicroUsd,
          held_microusd: heldMicroUsd,
          ...(fittingOutputTokens === undefined ? {} : { fitting_output_tokens: fittingOutputTokens })
        },
        headers:
          reason === "held"
            ? {
                ...retryAfter((heldReturnMillis * (neededMicroUsd - availableMicroUsd)) / heldMicroUsd),
                // official clients do not retry a 402 otherwise
                "x-should-retry": "true"
              }
            : {}
      })
    },
    ProvidersFailed: ({ attempts, endedBy, isOfSeveral, message, retryAfterMillis, skipped }) =>
      http(
        502,
        "provider_error",
        endedBy?.code ??
          (isOfSeveral || attempts.length === 0
            ? "all_providers_failed"
            : (attempts.at(-1)?.error?.code ?? "provider_error")),
        message,
        {
          metadata: { attempts, ...(skipped !== undefined && { skipped }) },
          headers: retryAfterMillis === null ? { "x-should-retry": "false" } : retryAfter(retryAfterMillis)
        }
      ),
    StoreUnavailable: ({ message }) =>
      http(503, "server_error", "store_unavailable", message, {
        headers: retryAfter(unavailableRetrySeconds * 1_000)
      }),
    ServiceRefused: ({ message, reason }) =>
      http(503, "server_error", reason, message, {
        headers: retryAfter(reason === "shutting_down" ? drainRetrySeconds * 1_000 : overloadRetryMillis)
      }),
    UnknownPath: ({ message }) => http(404, "invalid_request_error", "unknown_path", message)
  })
)

/** A defect of the gateway, reported without details. */
export const internal: HttpError = {
  status: 500,
  headers: {},
  error: { type: "server_error", code: "internal_error", message: "The gateway failed unexpectedly.", param: null }
}

/** `/metrics` without its token; project keys are not accepted there. */
export const metricsForbidden: HttpError = {
  status: 401,
  headers: { "www-authenticate": "Bearer" },
  error: {
    type: "authentication_error",
    code: "invalid_metrics_token",
    message: "The metrics of this node require METRICS_TOKEN as a bearer token.",
    param: null
  }
}

/** Errors of node's HTTP parser, before there is a request, by error code. */
export const ofConnection = (code: string | undefined): HttpError => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return http(431, "invalid_request_error", "request_too_large", "The request line and headers are too large.")
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return http(
        400,
        "invalid_request_error",
        "request_too_large",
        "The extensions of the body's chunks are too large."
      )
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return http(408, "invalid_request_error", "request_timeout", "The request was not received in time.")
    default:
      return http(400, "invalid_request_error", "invalid_value", "The request is not valid HTTP/1.1.")
  }
}

/** A failure reported inside a response whose head has been sent. */
export const inBand = (
  error: { readonly code: string; readonly message: string | null },
  model: string
): WireError => ({
  type: error.code === shutdownCode ? "server_error" : "provider_error",
  code: error.code,
  message:
    error.code === shutdownCode
      ? (error.message ?? "The gateway is shutting down.")
      : `${model}: ${error.message ?? "The provider failed."}`,
  param: null
})

interface ErrorDetails {
  readonly param?: string | null
  readonly metadata?: { readonly [key: string]: unknown; readonly attempts?: ReadonlyArray<Attempt> }
  readonly headers?: Readonly<Record<string, string>>
}

const http = (status: number, type: string, code: string, message: string, more: ErrorDetails = {}): HttpError => ({
  status,
  headers: more.headers ?? {},
  error: {
    message,
    type,
    param: more.param ?? null,
    code,
    ...(more.metadata === undefined ? {} : { metadata: more.metadata })
  }
})

/** Whole seconds, rounded up, at least one. */
const retryAfter = (millis: number): Readonly<Record<string, string>> => ({
  "retry-after": String(Math.max(1, Math.ceil(millis / 1_000)))
})
