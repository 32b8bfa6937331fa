import * as Data from "effect/Data"
import type { CallError, CallStatus } from "./Call.ts"

/** All failures of a provider, as one closed union; `facts` below has the consequences of each. */
export type ProviderFailure =
  /**
   * The connection was refused, the host is unknown, or the proxy of this service let nothing through: nothing can have been
   * processed.
   */
  | {
      readonly _tag: "Unreachable"
      readonly detail:
        | "refused"
        | "dns"
        | "reset-before-response"
        | "proxy-unreachable"
        | "proxy-authentication"
        | "proxy-refused"
    }
  /** Not a failure of the provider: this machine has no open file, local port or memory left for a socket. Nothing was sent. */
  | { readonly _tag: "NoSocket"; readonly detail: SocketShortage }
  /** The connection broke before any byte of a response, on a new socket: the request may have been read. */
  | { readonly _tag: "Reset" }
  /** The certificate or the handshake: `detail` is the code of Node.js or OpenSSL, such as `CERT_HAS_EXPIRED`. */
  | { readonly _tag: "Insecure"; readonly detail: string }
  | { readonly _tag: "ConnectTimeout" }
  | { readonly _tag: "FirstContentTimeout" }
  | { readonly _tag: "AnswerTimeout" }
  | { readonly _tag: "Stalled" }
  | { readonly _tag: "RequestTimeout" }
  /** The stream ended, or the socket broke, before the response was complete. */
  | { readonly _tag: "Disconnected" }
  | { readonly _tag: "BadResponse"; readonly detail: string }
  /** More bytes than the output cap explains. */
  | { readonly _tag: "ResponseTooLarge" }
  | { readonly _tag: "RateLimited"; readonly retryAfterMillis: number | null }
  | { readonly _tag: "QuotaExhausted" }
  | { readonly _tag: "Overloaded"; readonly retryAfterMillis: number | null }
  | { readonly _tag: "ServerError"; readonly status: number }
  | { readonly _tag: "CredentialRejected" }
  | { readonly _tag: "ModelGone" }
  | { readonly _tag: "Redirected" }
  | { readonly _tag: "RequestRejected"; readonly message: string; readonly param: string | null }
  | { readonly _tag: "ContextLengthExceeded"; readonly message: string }
  | { readonly _tag: "ContentPolicy"; readonly message: string }
  | { readonly _tag: "EmptyCompletion" }
  /** A provider that the application has written has failed with `cause`, which is kept for it and never sent to a client. */
  | { readonly _tag: "Failed"; readonly cause: unknown }
  /** Not a failure of the provider: this node is shutting down and the drain deadline has passed. */
  | { readonly _tag: "Shutdown" }
  /** Not a failure of the provider: a user of the project has stopped the call. */
  | { readonly _tag: "Stopped" }

/** What a new socket needs and this machine has used up. */
export type SocketShortage = "open-files" | "local-ports" | "memory"

/** What a failure says about the health of a route. */
export type HealthEffect =
  /** Counts against the origin: none of its models can be reached. */
  | "origin"
  /** Counts against provider and model. */
  | "route"
  /** Capacity: the circuit of the route is open for a time; not counted as a failure. */
  | "cool-down"
  /** The provider rejects the credential: the circuit is open for all of its models at once. */
  | "credential"
  /** This provider no longer has the model. */
  | "candidate"
  | "none"

/** What was at fault, for whoever operates the gateway. */
export type Fault =
  /** The provider rejects the credential. */
  | "credential"
  /** The credit or the quota of the credential is used up. */
  | "quota"
  /** A rate limit, or an overloaded provider: it passes by itself. */
  | "capacity"
  /** No connection, or one that broke. */
  | "network"
  /** The provider was too slow. */
  | "timeout"
  /** The provider reported an error of its own. */
  | "provider"
  /** The response could not be used. */
  | "answer"
  /** The provider does not serve the model. */
  | "model"
  /** The client's request. */
  | "request"
  /** A limit, the machine or the shutdown of the gateway itself. */
  | "gateway"

/** What follows from a failure. */
export interface FailureFacts {
  /** Stable, machine-readable. */
  readonly code: string
  readonly message: string
  /** As the attempt is recorded. */
  readonly status: Exclude<CallStatus, "success">
  /** Another candidate may be tried (until first content has been sent). */
  readonly mayFallBack: boolean
  /** Nothing can have been processed: the same route may be retried. */
  readonly notProcessed: boolean
  /** What the circuit breakers make of it. */
  readonly health: HealthEffect
  /** For whoever operates the gateway. */
  readonly fault: Fault
  /** A limit of the gateway's own, or a person, has ended the attempt: it is charged like a cancelled one. */
  readonly isOwnLimit: boolean
  /** The provider had taken the request on: it charges for the prompt, whatever came of it. */
  readonly isBilled: boolean
}

const facts = (
  code: string,
  message: string,
  health: HealthEffect,
  fault: Fault,
  more: Partial<Pick<FailureFacts, "status" | "mayFallBack" | "notProcessed" | "isOwnLimit" | "isBilled">> = {}
): FailureFacts => ({
  code,
  message,
  status: "error",
  mayFallBack: true,
  notProcessed: false,
  isOwnLimit: false,
  isBilled: false,
  health,
  fault,
  ...more
})

/** Of a call that the shutdown of its node has ended: it can be run again. */
export const shutdownCode = "server_shutdown"

const factsByReason: { readonly [Tag in ProviderFailure["_tag"]]: FailureFacts } = {
  Unreachable: facts("provider_unreachable", "The provider could not be reached.", "origin", "network", {
    notProcessed: true
  }),
  NoSocket: facts("gateway_out_of_sockets", "The gateway could not open another connection.", "none", "gateway", {
    notProcessed: true
  }),
  Reset: facts("provider_unreachable", "The provider closed the connection before it responded.", "route", "network"),
  Insecure: facts(
    "provider_unreachable",
    "A secure connection to the provider could not be established.",
    "origin",
    "network"
  ),
  ConnectTimeout: facts("provider_timeout", "The provider did not accept a connection in time.", "origin", "network", {
    status: "timeout",
    notProcessed: true
  }),
  FirstContentTimeout: facts("provider_timeout", "The provider sent no content in time.", "route", "timeout", {
    status: "timeout",
    isBilled: true
  }),
  AnswerTimeout: facts("provider_timeout", "The provider did not respond in time.", "route", "timeout", {
    status: "timeout",
    isBilled: true
  }),
  Stalled: facts("stream_stalled", "The provider stopped sending.", "route", "timeout", {
    status: "timeout",
    isBilled: true
  }),
  RequestTimeout: facts("request_timeout", "The request took longer than the gateway allows.", "none", "gateway", {
    status: "timeout",
    mayFallBack: false,
    isOwnLimit: true,
    isBilled: true
  }),
  Disconnected: facts("provider_disconnected", "The provider's response was truncated.", "route", "network", {
    isBilled: true
  }),
  BadResponse: facts("provider_bad_response", "The provider's response could not be parsed.", "route", "answer"),
  ResponseTooLarge: facts(
    "provider_bad_response",
    "The provider's response is larger than the gateway allows.",
    "none",
    "answer",
    {
      isOwnLimit: true,
      isBilled: true
    }
  ),
  RateLimited: facts("provider_rate_limited", "The provider's rate limit was exceeded.", "cool-down", "capacity"),
  QuotaExhausted: facts("provider_unavailable", "The provider is not available.", "credential", "quota"),
  Overloaded: facts("provider_error", "The provider is overloaded.", "route", "capacity"),
  ServerError: facts("provider_error", "The provider reported an error.", "route", "provider"),
  Failed: facts("provider_error", "The provider failed.", "route", "provider"),
  CredentialRejected: facts("provider_unavailable", "The provider is not available.", "credential", "credential"),
  ModelGone: facts("provider_error", "The provider does not serve this model.", "candidate", "model"),
  Redirected: facts(
    "provider_error",
    "The provider responded with a redirect, which is never followed.",
    "route",
    "answer"
  ),
  RequestRejected: facts("provider_rejected_request", "The provider rejected the request.", "none", "request"),
  ContextLengthExceeded: facts("context_length_exceeded", "The prompt is too long for the model.", "none", "request"),
  ContentPolicy: facts(
    "content_policy_violation",
    "The provider refused the request by its content policy.",
    "none",
    "request",
    {
      mayFallBack: false
    }
  ),
  EmptyCompletion: facts("empty_completion", "The provider's response has no content.", "route", "answer", {
    isBilled: true
  }),
  Shutdown: facts(shutdownCode, "The gateway is shutting down.", "none", "gateway", {
    mayFallBack: false,
    isBilled: true
  }),
  Stopped: facts("call_stopped", "The call was stopped by a user of its project.", "none", "request", {
    status: "cancelled",
    mayFallBack: false,
    isOwnLimit: true,
    isBilled: true
  })
}

/** Of attempts that say nothing of the provider or its model: the request, or the gateway itself, was at fault. */
export const codesOfOtherFaults: ReadonlyArray<string> = Object.values(factsByReason).flatMap(({ code, fault }) =>
  fault === "request" || fault === "gateway" ? [code] : []
)

/** An attempt has failed. What follows from it is in `facts`; `message` tells it to the application, `callError` to a client. */
export class ProviderError extends Data.TaggedError("ProviderError")<{
  /** Of the provider that has failed. */
  readonly providerId: string
  /** What happened. */
  readonly reason: ProviderFailure
  /** The status of the provider's response; absent where none was received, or none is known. */
  readonly httpStatus?: number | undefined
  /** The project's own credential was sent: what is wrong with it, its members can put right. */
  readonly isOwnCredential?: boolean | undefined
}> {
  override get message(): string {
    const { code, message } = this.callError
    return `The provider ${this.providerId} has failed: ${message} (${code}, ${this.reason._tag}${detailOf(this.reason)})`
  }

  /** What a provider of the application has failed with. */
  override get cause(): unknown {
    return this.reason._tag === "Failed" ? this.reason.cause : undefined
  }

  /** What follows from the failure: its code, whether another candidate may be tried, whether it is charged. */
  get facts(): FailureFacts {
    return factsByReason[this.reason._tag]
  }

  /** The provider's Retry-After, if it sent one. */
  get retryAfterMillis(): number | null {
    return "retryAfterMillis" in this.reason ? this.reason.retryAfterMillis : null
  }

  /** The error in responses, call log and metadata. */
  get callError(): CallError {
    const { code, message } = this.facts
    const { isOwnCredential, reason } = this
    if (isOwnCredential && reason._tag === "CredentialRejected")
      return { code, message: "The provider has rejected the project's own credential." }
    if (isOwnCredential && reason._tag === "QuotaExhausted")
      return { code, message: "The quota of the project's own credential at the provider is exhausted." }
    return { code, message: "message" in reason ? reason.message : message }
  }
}

const detailOf = (reason: ProviderFailure): string => {
  switch (reason._tag) {
    case "ServerError":
      return ` ${reason.status}`
    case "Unreachable":
    case "NoSocket":
    case "BadResponse":
      return `: ${reason.detail}`
    default:
      return ""
  }
}
