import * as Data from "effect/Data"
import type { Attempt } from "./Call.ts"
import type { RateLimitStatus } from "./RateLimitStatus.ts"

/** A missing, malformed, unknown, inactive or expired key: one error for all, so that it reveals nothing about a key. */
export class Unauthenticated extends Data.TaggedError("Unauthenticated") {}

export const invalidCodes = [
  "missing_required_parameter",
  "invalid_type",
  "invalid_value",
  "unsupported_value",
  "unsupported_parameter",
  "unsupported_tool",
  "unsupported_for_provider",
  "provider_rejected_request",
  "content_policy_violation",
  "context_length_exceeded",
  "invalid_json",
  "invalid_utf8",
  "request_too_large",
  "unsupported_content_type",
  "method_not_allowed",
  "idempotency_key_reused"
] as const
export type InvalidCode = (typeof invalidCodes)[number]

/** The request itself is invalid; `param` is a path such as `messages[2].content[0].type`. */
export class InvalidRequest extends Data.TaggedError("InvalidRequest")<{
  readonly code: InvalidCode
  readonly message: string
  readonly param: string | null
  /** Set when a provider rejected the request. */
  readonly attempts?: ReadonlyArray<Attempt>
}> {}

export class RateLimited extends Data.TaggedError("RateLimited")<{
  readonly code: "rate_limit_exceeded" | "idempotent_request_in_progress"
  readonly message: string
  readonly retryAfterMillis: number
  /** Whose limit rejected the request; absent where no limit of key or project did. */
  readonly scope?: "project" | "key"
  /** Of the limits per minute, where one of them rejected the request. */
  readonly status?: RateLimitStatus
}> {}

/** Unknown, or excluded by the project; the error does not reveal which. */
export class ModelNotFound extends Data.TaggedError("ModelNotFound")<{
  readonly model: string
  /** A name that the key may use and that the given one may have meant. */
  readonly near?: string | undefined
  /** For a model of a built-in vendor whose credential is not set: the environment variables, any one of which would do. */
  readonly needs?: ReadonlyArray<string> | undefined
}> {}

/** The request's own restrictions, caps or routing configuration leave no model. */
export class NoEligibleModel extends Data.TaggedError("NoEligibleModel")<{
  readonly excluded: Readonly<Record<string, number>>
}> {}

export class RoutingConfigNotFound extends Data.TaggedError("RoutingConfigNotFound")<{
  readonly routingConfig: string
  /** A slug of the project that the given one may have meant. */
  readonly near?: string | undefined
}> {}

export class InsufficientFunds extends Data.TaggedError("InsufficientFunds")<{
  readonly scope: "account" | "project" | "key"
  /** exhausted: no balance is left. held: running calls hold it. too_large: this call alone needs more than is left. */
  readonly reason: "exhausted" | "held" | "too_large"
  /** What the smallest candidate needs. */
  readonly neededMicroUsd: number
  /** What the scope has left beside what running calls hold of it. */
  readonly availableMicroUsd: number
  readonly heldMicroUsd: number
  /** The largest output cap with which the call would have been let in; absent where there is none. */
  readonly fittingOutputTokens?: number | undefined
}> {}

/** Every candidate that was tried failed before any content was sent. */
export class ProvidersFailed extends Data.TaggedError("ProvidersFailed")<{
  readonly attempts: ReadonlyArray<Attempt>
  /** Set only when all attempts ended in a rate limit or cool-down with a known end. */
  readonly retryAfterMillis: number | null
}> {}

/** The database did not respond; without a hold nothing is dispatched. */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<{ readonly cause: unknown }> {}

export class ServiceRefused extends Data.TaggedError("ServiceRefused")<{
  readonly reason: "shutting_down" | "overloaded"
}> {}

export class UnknownPath extends Data.TaggedError("UnknownPath")<{
  readonly path: string
  /** A path of the gateway that the given one may have meant. */
  readonly near?: string | undefined
}> {}

/** The errors of a call before its first content; later failures are part of the response. */
export type CallFailure =
  | InvalidRequest
  | RateLimited
  | ModelNotFound
  | NoEligibleModel
  | RoutingConfigNotFound
  | InsufficientFunds
  | ProvidersFailed
  | ServiceRefused
  | StoreUnavailable

export type GatewayError = CallFailure | Unauthenticated | UnknownPath
