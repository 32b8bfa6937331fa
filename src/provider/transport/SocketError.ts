import { closeSync, openSync } from "node:fs"
import { isIPv6 } from "node:net"
import { devNull } from "node:os"
import type { ProviderFailure, SocketShortage } from "../../domain/ProviderError.ts"
import { ProxyError } from "../../egress/Agent.ts"

/**
 * Classifies a connection error. `sending`: no byte of a response was received. `reused`: the socket had served an earlier call, so
 * its close can have crossed our request, which then was not processed; `undefined` where the error has to tell.
 */
export const fromSocketError = (
  error: unknown,
  phase: "sending" | "answering",
  reused: boolean | undefined,
  hasFilesLeft: () => boolean = canOpenFiles
): ProviderFailure => {
  const parts = partsOf(error)
  const shortage = phase === "sending" ? shortageOf(parts, hasFilesLeft) : undefined
  if (shortage !== undefined) return { _tag: "NoSocket", detail: shortage }
  if (error instanceof ProxyError) return { _tag: "Unreachable", detail: error.reason }
  const codes = parts.map(({ code }) => code)
  const has = (known: ReadonlySet<string>): boolean => codes.some((code) => known.has(code))
  if (codes.some((code) => notHttp(code))) return { _tag: "BadResponse", detail: "an answer that is not proper HTTP" }
  if (phase === "answering") return { _tag: "Disconnected" }
  const insecure = codes.find(isTls)
  if (insecure !== undefined) return { _tag: "Insecure", detail: insecure }
  if (has(unknownHost) || parts.some(isLookup)) return { _tag: "Unreachable", detail: "dns" }
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

/** By code: what a socket could not be had for. */
const shortages: ReadonlyMap<string, SocketShortage> = new Map([
  ["EMFILE", "open-files"],
  ["ENFILE", "open-files"],
  ["EADDRNOTAVAIL", "local-ports"],
  ["ENOBUFS", "memory"],
  ["ENOMEM", "memory"]
])

/** Only before a connection: later a request may have been read. */
const shortageOf = (parts: ReadonlyArray<ErrorPart>, hasFilesLeft: () => boolean): SocketShortage | undefined => {
  for (const { address, code, syscall } of parts) {
    if (syscall !== "connect") continue
    const shortage = shortages.get(code)
    // of an IPv6 address it mostly says that this machine has none of its own
    if (shortage !== undefined && !(shortage === "local-ports" && isIPv6(address))) return shortage
  }
  return parts.some(isLookup) && !hasFilesLeft() ? "open-files" : undefined
}

const isLookup = ({ syscall }: ErrorPart): boolean => syscall === "getaddrinfo"

/** What the system's resolver opens at a time. */
const filesOfLookup = 4

/** A name lookup that gets no file does not say so: glibc then knows no such host (ENOTFOUND), or is EBUSY or EINVAL. */
const canOpenFiles = (): boolean => {
  const opened: Array<number> = []
  try {
    while (opened.length < filesOfLookup) opened.push(openSync(devNull, "r"))
    return true
  } catch {
    return false
  } finally {
    for (const file of opened) closeSync(file)
  }
}

/** What Node.js says of one error. */
interface ErrorPart {
  readonly code: string
  /** The system call that failed; empty where none has. */
  readonly syscall: string
  /** To which a connection was made; empty where none was. */
  readonly address: string
}

/** A failed attempt on several addresses carries one error for each. */
const partsOf = (error: unknown): ReadonlyArray<ErrorPart> => {
  if (!(error instanceof Error)) return []
  const { address, code, syscall } = error as { readonly [Key in keyof ErrorPart]?: unknown }
  const own = typeof code === "string" ? [{ code, syscall: text(syscall), address: text(address) }] : []
  const inner = error instanceof AggregateError ? error.errors.flatMap((each: unknown) => partsOf(each)) : []
  return [...own, ...inner, ...(error.cause === undefined ? [] : partsOf(error.cause))]
}

const text = (value: unknown): string => (typeof value === "string" ? value : "")

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
