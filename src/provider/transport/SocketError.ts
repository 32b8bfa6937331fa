import type { ProviderFailure } from "../../domain/ProviderError.ts"
import { ProxyError } from "../../egress/Agent.ts"

/**
 * Classifies a connection error. `sending`: no byte of a response was received. `reused`: the socket had served an earlier call, so
 * its close can have crossed our request, which then was not processed; `undefined` where the error has to tell.
 */
export const fromSocketError = (
  error: unknown,
  phase: "sending" | "answering",
  reused: boolean | undefined
): ProviderFailure => {
  if (error instanceof ProxyError) return { _tag: "Unreachable", detail: error.reason }
  const codes = codesOf(error)
  const has = (known: ReadonlySet<string>): boolean => codes.some((code) => known.has(code))
  if (codes.some((code) => notHttp(code))) return { _tag: "BadResponse", detail: "an answer that is not proper HTTP" }
  if (phase === "answering") return { _tag: "Disconnected" }
  const insecure = codes.find(isTls)
  if (insecure !== undefined) return { _tag: "Insecure", detail: insecure }
  if (has(unknownHost)) return { _tag: "Unreachable", detail: "dns" }
  if (has(noFiles)) return { _tag: "Unreachable", detail: "too-many-open-files" }
  if (has(refused)) return { _tag: "Unreachable", detail: "refused" }
  if (has(connectTimeouts)) return { _tag: "ConnectTimeout" }
  return (reused ?? readBefore(error)) ? { _tag: "Unreachable", detail: "reset-before-response" } : { _tag: "Reset" }
}

const refused: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EHOSTDOWN",
  "ENETDOWN",
  "EADDRNOTAVAIL",
  "EACCES",
  "EPERM",
  "UND_ERR_DESTROYED",
  "UND_ERR_CLOSED",
  "UND_ERR_INVALID_ARG"
])
/** The limit of this process, or of its machine. */
const noFiles: ReadonlySet<string> = new Set(["EMFILE", "ENFILE"])
const unknownHost: ReadonlySet<string> = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL", "EAI_NODATA", "EAI_NONAME"])
const connectTimeouts: ReadonlySet<string> = new Set(["UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"])

/** A connection closed inside a body is a disconnect, not invalid HTTP. */
const notHttp = (code: string): boolean =>
  code === "UND_ERR_HEADERS_OVERFLOW" || (code.startsWith("HPE_") && code !== "HPE_INVALID_EOF_STATE")

/** Certificate or handshake errors; nothing was sent unencrypted. */
const isTls = (code: string): boolean =>
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|EPROTO$|UND_ERR_PRX_TLS)/.test(
    code
  )

/** A failed attempt on several addresses carries one error for each. */
const codesOf = (error: unknown): ReadonlyArray<string> => {
  if (!(error instanceof Error)) return []
  const own = "code" in error && typeof error.code === "string" ? [error.code] : []
  const inner = error instanceof AggregateError ? error.errors.flatMap((each: unknown) => codesOf(each)) : []
  return [...own, ...inner, ...(error.cause === undefined ? [] : codesOf(error.cause))]
}

/** undici reports how many bytes the socket had read when the peer closed it. */
const readBefore = (error: unknown): boolean => {
  if (!(error instanceof Error) || !("socket" in error)) return false
  const socket = error.socket
  return (
    typeof socket === "object" &&
    socket !== null &&
    "bytesRead" in socket &&
    typeof socket.bytesRead === "number" &&
    socket.bytesRead > 0
  )
}
