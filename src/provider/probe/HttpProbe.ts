import * as Effect from "effect/Effect"
import type { ProviderCredential } from "../../domain/ProviderCredential.ts"
import type { ProviderFailure } from "../../domain/ProviderError.ts"
import type { TimersShape } from "../../domain/Timers.ts"
import { one } from "../protocols/shared/Errors.ts"
import type { Protocol, ResponseHeaders } from "../protocols/shared/Protocol.ts"
import type { Auth, AuthScheme } from "../transport/Auth.ts"
import type { Endpoint } from "../transport/Endpoint.ts"
import type { AnswerHandler, TransportShape } from "../transport/Transport.ts"
import { type Probed, type ProbeRequest, unreachable, verdictOf } from "./Probe.ts"

export interface HttpProbeOptions {
  readonly protocol: Pick<Protocol, "failure">
  readonly endpoint: Endpoint
  readonly auth: Auth
  /** Of a credential that is given. */
  readonly scheme?: AuthScheme
  readonly transport: TransportShape
  readonly timers: TimersShape
  readonly userAgent: string
}

/** Connection, question and answer together. */
const maxProbeMillis = 10_000
const maxBodyBytes = 64 * 1024

/** Asks the provider; `credential` in place of the provider's own one. */
export const make =
  (options: HttpProbeOptions, request: ProbeRequest) =>
  (credential?: ProviderCredential): Effect.Effect<Probed> =>
    Effect.async((resume) => {
      const { protocol, scheme, timers, transport } = options
      const endpoint = request.endpoint ?? options.endpoint
      const auth = credential === undefined || scheme === undefined ? options.auth : scheme(credential.secret)
      const startedAtMillis = timers.now()
      let httpStatus: number | null = null
      let isOver = false

      const over = ({ detail, status }: Pick<Probed, "detail" | "status">): void => {
        if (isOver) return
        isOver = true
        late()
        exchange.close()
        resume(
          Effect.succeed({
            status,
            detail,
            httpStatus,
            latencyMillis: Math.round(timers.now() - startedAtMillis)
          })
        )
      }
      const late = timers.after(maxProbeMillis, () => over(unreachable({ _tag: "AnswerTimeout" })))
      const unsigned = {
        method: "GET" as const,
        origin: endpoint.origin,
        path: endpoint.basePath + request.path,
        headers: { "content-type": "application/json", "user-agent": options.userAgent, ...request.headers },
        body: ""
      }
      const headers = { ...unsigned.headers, ...auth.headers(unsigned, timers.now()) }
      const exchange = transport.send(
        { ...unsigned, headers },
        handlerOf({
          accepted: () => over({ status: "accepted", detail: null }),
          notJson: () =>
            over({
              status: "unknown",
              detail: "the provider has something else than a list of models at its base URL"
            }),
          rejected: (status, headers, body) => {
            const failure = protocol.failure({ status, headers, body, nowMillis: timers.now() })
            over(verdictOf(failure, status, body))
          },
          failed: (failure) => over(unreachable(failure)),
          head: (status) => {
            httpStatus = status
          }
        })
      )
      return Effect.sync(() => {
        isOver = true
        late()
        exchange.close()
      })
    })

interface Outcomes {
  readonly head: (status: number) => void
  readonly accepted: () => void
  readonly notJson: () => void
  readonly rejected: (status: number, headers: ResponseHeaders, body: string) => void
  readonly failed: (failure: ProviderFailure) => void
}

/** The list itself is not read; of an error the beginning is. */
const handlerOf = (outcomes: Outcomes): AnswerHandler => {
  const parts: Array<Uint8Array> = []
  let size = 0
  let head: { readonly status: number; readonly headers: ResponseHeaders } | undefined
  const end = (): void => {
    if (head !== undefined) outcomes.rejected(head.status, head.headers, Buffer.concat(parts).toString("utf8"))
  }
  return {
    head: (status, headers) => {
      outcomes.head(status)
      if (status < 200 || status >= 300) head = { status, headers }
      else if (/json/i.test(one(headers["content-type"]) ?? "")) outcomes.accepted()
      else outcomes.notJson()
    },
    data: (bytes) => {
      parts.push(bytes)
      size += bytes.length
      if (size > maxBodyBytes) end()
    },
    end,
    // an error whose body breaks off is classified by its beginning
    fail: (failure) => (head === undefined ? outcomes.failed(failure) : end())
  }
}
