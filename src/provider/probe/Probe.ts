import type { ProviderFailure, SocketShortage } from "../../domain/ProviderError.ts"
import type { Endpoint } from "../transport/Endpoint.ts"

/** A request that costs nothing and that a provider refuses without a valid credential, such as for its list of models. */
export interface ProbeRequest {
  /** Where the vendor answers it elsewhere than at the endpoint of its models. */
  readonly endpoint?: Endpoint
  /** Appended to the base URL's path; with the query. */
  readonly path: string
  /** Headers of the protocol itself. */
  readonly headers: Readonly<Record<string, string>>
}

/** What a provider says to a credential, asked without the cost of a call. */
export interface Probed {
  /** What the provider says. */
  readonly status: ProbeStatus
  /** Why, unless it was accepted; never text of the provider. */
  readonly detail: string | null
  /** Of the provider's answer; `null` where there was none. */
  readonly httpStatus: number | null
  /** Until its answer. */
  readonly latencyMillis: number
}

/**
 * - accepted: the provider has answered.
 * - refused: it rejects the credential.
 * - quota_exhausted: it knows the credential, whose credit or quota is used up.
 * - unreachable: no answer came.
 * - unknown: it cannot be asked without a paid call, or has failed for another reason.
 */
export const probeStatuses = ["accepted", "refused", "quota_exhausted", "unreachable", "unknown"] as const
export type ProbeStatus = (typeof probeStatuses)[number]

/** Keys may be restricted to calls of models: then the list is forbidden, and the key may still be right. */
const mayNotList = (body: string): boolean =>
  /scope|insufficient permission|not authorized to perform|api\.model\.read|ListFoundationModels/i.test(body)

/** The verdict on an answer whose status is not 2xx, as the protocol classifies it. */
export const verdictOf = (
  failure: ProviderFailure,
  status: number,
  body: string
): Pick<Probed, "detail" | "status"> => {
  switch (failure._tag) {
    case "CredentialRejected":
      return status === 403 && mayNotList(body)
        ? { status: "unknown", detail: "the credential may not list models" }
        : { status: "refused", detail: "credential refused" }
    case "QuotaExhausted":
      return { status: "quota_exhausted", detail: "quota exhausted" }
    default:
      return { status: "unknown", detail: unknownDetail(status) }
  }
}

const unknownDetail = (status: number): string => {
  if (status === 404 || status === 405) return "the provider has no list of models at its base URL"
  return status >= 300 && status < 400
    ? `the provider answered with status ${status}: its base URL leads elsewhere`
    : `the provider answered with status ${status}`
}

/** The verdict where the connection has failed. */
export const unreachable = (failure: ProviderFailure): Pick<Probed, "detail" | "status"> => ({
  status: "unreachable",
  detail: `not reachable: ${whyUnreachable(failure)}`
})

const whyUnreachable = (failure: ProviderFailure): string => {
  switch (failure._tag) {
    case "Unreachable":
      return whyUnconnected[failure.detail]
    case "NoSocket":
      return whyNoSocket[failure.detail]
    case "Insecure":
      return `no secure connection (${failure.detail})`
    case "ConnectTimeout":
    case "AnswerTimeout":
      return "no answer in time"
    default:
      return "the connection broke"
  }
}

const whyUnconnected = {
  dns: "its host name is unknown",
  refused: "connection refused",
  "reset-before-response": "connection reset before response",
  "proxy-unreachable": "the proxy cannot be reached",
  "proxy-authentication": "the proxy wants another user or password",
  "proxy-refused": "the proxy refused the connection"
} as const

const whyNoSocket: Readonly<Record<SocketShortage, string>> = {
  "open-files": "this process has too many open files",
  "local-ports": "this machine has no local port left",
  memory: "this machine has no memory left for a socket"
}
