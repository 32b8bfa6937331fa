import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { CallObserver, FailedAttempt } from "../domain/CallObserver.ts"
import type { ProviderFailure, SocketShortage } from "../domain/ProviderError.ts"
import { type Cancel, Timers } from "../domain/Timers.ts"

/** Lines for one provider and reason in one window; those left out are counted in a line at its end. */
const maxLines = 10
const windowMillis = 60_000
/** Provider and reason pairs that are counted at the same time; failures of further ones are logged without a limit. */
const maxPairs = 10_000

interface Window {
  lines: number
  suppressed: number
}

export interface AttemptLogOptions {
  /** The environment variable that holds the service's credential of a provider. */
  readonly variableOf: (provider: string) => string | undefined
}

/**
 * One log line for every failed attempt: which call, which provider and model, why, what was at fault, and what followed.
 * Never provider text, never a secret. With its scope each window ends: what it has left out is counted, and no timer is left.
 */
export const make = (options: AttemptLogOptions): Effect.Effect<CallObserver, never, Timers | Scope.Scope> =>
  Effect.gen(function* () {
    const timers = yield* Timers
    const fork = Runtime.runFork(yield* Effect.runtime<never>())
    const windows = new Map<string, Window>()

    const log = (message: string, fields: Readonly<Record<string, unknown>>): void => {
      fork(Effect.annotateLogs(Effect.logWarning(message), fields))
    }

    const ends = new Map<() => void, Cancel>()
    const atEndOfWindow = (run: () => void): void => {
      const end = () => {
        ends.delete(end)
        run()
      }
      ends.set(end, timers.after(windowMillis, end))
    }
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const [end, cancel] of ends) {
          cancel()
          end()
        }
      })
    )

    const windowOf = (provider: string, reason: ProviderFailure["_tag"]): Window => {
      const pair = `${provider} ${reason}`
      const known = windows.get(pair)
      if (known !== undefined) return known
      const window = { lines: 0, suppressed: 0 }
      if (windows.size >= maxPairs) return window
      windows.set(pair, window)
      atEndOfWindow(() => {
        windows.delete(pair)
        const { suppressed } = window
        if (suppressed > 0) log("further attempts failed", { provider, reason, suppressed })
      })
      return window
    }

    const advised = new Set<SocketShortage>()
    /** Once in a window for all providers. */
    const advise = (shortage: SocketShortage): void => {
      if (advised.has(shortage)) return
      advised.add(shortage)
      atEndOfWindow(() => advised.delete(shortage))
      log("no further connections to providers can be opened", { detail: shortage, action: remedies[shortage] })
    }

    return {
      attemptFailed: ({ requestId }, attempt) => {
        const { error, model, number, record } = attempt
        const { facts, httpStatus, reason } = error
        if (reason._tag === "NoSocket") advise(reason.detail)
        const window = windowOf(model.providerId, reason._tag)
        if (window.lines >= maxLines) {
          window.suppressed += 1
          return
        }
        window.lines += 1
        log("attempt failed", {
          requestId,
          attempt: number,
          provider: model.providerId,
          model: model.id,
          reason: reason._tag,
          fault: facts.fault,
          ...(httpStatus !== undefined && { httpStatus }),
          ...detailOf(reason),
          ...credentialOf(attempt, options),
          code: facts.code,
          latencyMillis: record.latency_ms,
          ...nextOf(attempt)
        })
      }
    }
  })

/** What the operator can do. */
const remedies: Readonly<Record<SocketShortage, string>> = {
  "open-files":
    "raise the limit of open files: LimitNOFILE= of systemd, --ulimit nofile of a container, ulimit -n, or fs.file-max of the machine",
  "local-ports": "widen net.ipv4.ip_local_port_range, or spread the calls over more machines",
  memory: "give the machine more memory, or its sockets a larger share of it (net.ipv4.tcp_mem)"
}

const nextOf = ({ next }: FailedAttempt): Readonly<Record<string, string>> => {
  switch (next._tag) {
    case "Retry":
      return { next: "retry" }
    case "FallBack":
      return { next: "fallback", nextModel: next.model.id }
    case "GiveUp":
      return { next: "gave up" }
  }
}

/** Where the credential is to be changed: with the project that brought it, or in the environment of the service. */
const credentialOf = (
  { credentialId, error, model }: FailedAttempt,
  { variableOf }: AttemptLogOptions
): Readonly<Record<string, string>> => {
  if (error.facts.fault !== "credential" && error.facts.fault !== "quota") return {}
  if (credentialId !== null) return { credential: credentialId }
  const variable = variableOf(model.providerId)
  return variable === undefined ? {} : { variable }
}

const detailOf = (reason: ProviderFailure): Readonly<Record<string, string | number>> => {
  switch (reason._tag) {
    case "ServerError":
      return { httpStatus: reason.status }
    case "Unreachable":
    case "NoSocket":
    case "Insecure":
    case "BadResponse":
      return { detail: reason.detail }
    case "Failed":
      return { detail: nameOf(reason.cause) }
    default:
      return {}
  }
}

/** The kind of an error of the application's own; its text may be about a request or a secret. */
const nameOf = (cause: unknown): string => (cause instanceof Error ? cause.name : typeof cause)
