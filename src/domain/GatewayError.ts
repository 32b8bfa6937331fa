import * as Data from "effect/Data"
import type { Attempt, CallError } from "./Call.ts"
import { describe, type FundsShortage } from "./FundsShortage.ts"
import type { RateLimitStatus } from "./RateLimitStatus.ts"
import type { SkippedCandidate } from "./RouterMetadata.ts"

/**
 * A key, session, identity token or sign-in code that is missing, malformed, unknown, inactive, used or expired: one error for
 * all, so that it reveals nothing about any of them.
 */
export class Unauthenticated extends Data.TaggedError("Unauthenticated") {
  override get message(): string {
    return "A valid credential is required: for calls a project API key as a bearer token (for Anthropic's Messages also as `x-api-key`), for the account API a session or an identity token, to sign in a code that has not been used or expired."
  }
}

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
/** The codes of invalid requests. */
export type InvalidCode = (typeof invalidCodes)[number]

/** The request itself is invalid; `param` is a path such as `messages[2].content[0].type`. */
export class InvalidRequest extends Data.TaggedError("InvalidRequest")<{
  /** Stable, machine-readable. */
  readonly code: InvalidCode
  readonly message: string
  /** Path of the field; `null` where the error is about no single one. */
  readonly param: string | null
  /** Set when a provider rejected the request. */
  readonly attempts?: ReadonlyArray<Attempt>
}> {}

/** A limit on requests, tokens or concurrency, or a repetition of a request that still runs. */
export class RateLimited extends Data.TaggedError("RateLimited")<{
  /** `rate_limit_exceeded` for a limit, `idempotent_request_in_progress` for a repetition. */
  readonly code: "rate_limit_exceeded" | "idempotent_request_in_progress"
  readonly message: string
  /** When it is worth another try. */
  readonly retryAfterMillis: number
  /** Whose limit rejected the request; absent where no limit of key or project did. */
  readonly scope?: "project" | "key"
  /** Of the limits per minute, where one of them rejected the request. */
  readonly status?: RateLimitStatus
}> {}

/** Unknown, or excluded by the project; the error does not reveal which. */
export class ModelNotFound extends Data.TaggedError("ModelNotFound")<{
  /** As it was requested. */
  readonly model: string
  /** A name that the key may use and that the given one may have meant. */
  readonly near?: string | undefined
  /** For a model of a built-in vendor whose credential is not set: what is missing, as `UnavailableModel` has it. */
  readonly needs?: ReadonlyArray<string> | undefined
}> {
  override get message(): string {
    return this.needs === undefined
      ? `The model ${quoted(this.model)} does not exist or is not available to this key.${meant(this.near)}`
      : `The model ${quoted(this.model)} requires ${this.needs.join(" or ")}, which this gateway does not have.`
  }
}

/** The request's own restrictions, caps or routing configuration leave no model. */
export class NoEligibleModel extends Data.TaggedError("NoEligibleModel")<{
  /** How many models were left out, by reason. */
  readonly excluded: Readonly<Record<string, number>>
  /** The request field that has excluded most; `model` where it was none. */
  readonly param: string
}> {
  override get message(): string {
    const reasons = Object.entries(this.excluded).map(([reason, count]) => `${count} by ${reason}`)
    const excluded = reasons.length === 0 ? "" : ` (excluded: ${reasons.join(", ")})`
    return `The project and this request together allow no model${excluded}.`
  }
}

/** The project has no active routing configuration of this id or slug. */
export class RoutingConfigNotFound extends Data.TaggedError("RoutingConfigNotFound")<{
  /** As it was requested. */
  readonly routingConfig: string
  /** A slug of the project that the given one may have meant. */
  readonly near?: string | undefined
}> {
  override get message(): string {
    return `The project has no active routing configuration ${quoted(this.routingConfig)}.${meant(this.near)}`
  }
}

/** What is left of a balance or a limit does not pay for the call. */
export class InsufficientFunds extends Data.TaggedError("InsufficientFunds")<FundsShortage> {
  override get message(): string {
    return describe(this)
  }
}

/** Every candidate that was tried failed before any content was sent. */
export class ProvidersFailed extends Data.TaggedError("ProvidersFailed")<{
  /** Every attempt, in order. */
  readonly attempts: ReadonlyArray<Attempt>
  /** Candidates that were passed over without an attempt; absent if there are none. */
  readonly skipped?: ReadonlyArray<SkippedCandidate>
  /** Set only when all attempts ended in a rate limit or cool-down with a known end. */
  readonly retryAfterMillis: number | null
  /** Set where no provider has ended the call: a user of its project has stopped it, maybe between two attempts. */
  readonly endedBy?: CallError
}> {
  /** Whether more than one model was tried. */
  get isOfSeveral(): boolean {
    return new Set(this.attempts.map(({ model }) => model)).size > 1
  }

  override get message(): string {
    const failures = this.attempts.map(({ error, model }) => `${model}: ${error?.message ?? "The provider failed."}`)
    if (typeof this.endedBy?.message === "string") return this.endedBy.message
    if (failures.length === 0) return "No provider could be tried."
    return this.isOfSeveral ? `Every provider that was tried failed: ${failures.join(" ")}` : (failures.at(-1) ?? "")
  }
}

/** The database did not do what was asked, without which nothing is dispatched; or the store of images, without which they are not shown. */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<{
  readonly cause: unknown
  /** By default the database. */
  readonly store?: "images"
  /** Nothing can have been written; unset where a statement may have been, whose answer is lost. */
  readonly isUnwritten?: true | undefined
}> {
  override get message(): string {
    // it may be away, full, read-only, locked or slow: the operator's log says which
    return `The gateway cannot use its ${this.store === "images" ? "store of images" : "database"} now.`
  }
}

/** The process takes no call now; another one, or the same later, will. */
export class ServiceRefused extends Data.TaggedError("ServiceRefused")<{
  /** Why not. */
  readonly reason: "shutting_down" | "overloaded"
}> {
  override get message(): string {
    return this.reason === "shutting_down" ? "This node is shutting down." : "This node is overloaded."
  }
}

/** No route has this path. */
export class UnknownPath extends Data.TaggedError("UnknownPath")<{
  /** As it was requested. */
  readonly path: string
  /** A path of the gateway that the given one may have meant. */
  readonly near?: string | undefined
  /** Where models are called, for a client that has looked for another way. */
  readonly offered?: ReadonlyArray<string> | undefined
}> {
  override get message(): string {
    return `Unknown path ${quoted(this.path)}.${meant(this.near)}${calledAt(this.offered)}`
  }
}

const maxQuotedCharacters = 120

/** What a client has sent, as it may stand in a message. */
const quoted = (text: string): string =>
  `'${text.length > maxQuotedCharacters ? `${text.slice(0, maxQuotedCharacters)}…` : text}'`

const meant = (near: string | undefined): string => (near === undefined ? "" : ` Did you mean ${quoted(near)}?`)

const calledAt = (paths: ReadonlyArray<string> | undefined): string =>
  paths === undefined ? "" : ` Models are called at ${paths.map(quoted).join(", ")}.`

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

/** Every error that a client of the inference endpoints can see. */
export type GatewayError = CallFailure | Unauthenticated | UnknownPath
