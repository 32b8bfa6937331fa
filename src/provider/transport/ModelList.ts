import type { TimersShape } from "../../domain/Timers.ts"
import type { CredentialVerdict, Upstream } from "../Provider.ts"
import type { Protocol, ResponseHeaders } from "../protocols/shared/Protocol.ts"
import type { Auth } from "./Auth.ts"
import type { Endpoint } from "./Endpoint.ts"
import type { AnswerHandler, TransportShape, UpstreamExchange } from "./Transport.ts"

/** A provider's list of models that only a valid credential can read. */
export interface ModelList {
  /** After the base URL; with what makes the list short where the provider has such a parameter. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

export interface ModelListRequest {
  readonly list: ModelList
  readonly endpoint: Endpoint
  readonly auth: Auth
  readonly protocol: Protocol
  readonly transport: TransportShape
  readonly timers: TimersShape
}

const maxErrorBytes = 64 * 1024

/** Asks for the list and tells, once and never before it has returned, what the response says about the credential. */
export const ask = (
  { auth, endpoint, list, protocol, timers, transport }: ModelListRequest,
  tell: (verdict: CredentialVerdict) => void
): Pick<Upstream, "close"> => {
  const unsigned = {
    origin: endpoint.origin,
    path: endpoint.basePath + list.path,
    method: "GET" as const,
    headers: { accept: "application/json", ...list.headers },
    body: ""
  }
  const headers = { ...unsigned.headers, ...auth.headers(unsigned, timers.now()) }
  const reader = new Reader(tell, (status, headers, body) => {
    const { _tag } = protocol.failure({ status, headers, body, nowMillis: timers.now() })
    // 403 may be said to a valid credential that may call models and not list them
    return _tag === "CredentialRejected" && status !== 403 ? "rejected" : "undecided"
  })
  reader.exchange = transport.send({ ...unsigned, headers }, reader)
  return reader
}

class Reader implements AnswerHandler {
  exchange: UpstreamExchange | undefined
  private readonly parts: Array<Uint8Array> = []
  private size = 0
  private status = 0
  private headers: ResponseHeaders = {}
  private isOver = false
  private readonly tell: (verdict: CredentialVerdict) => void
  private readonly judge: (status: number, headers: ResponseHeaders, body: string) => CredentialVerdict

  constructor(
    tell: (verdict: CredentialVerdict) => void,
    judge: (status: number, headers: ResponseHeaders, body: string) => CredentialVerdict
  ) {
    this.tell = tell
    this.judge = judge
  }

  head(status: number, headers: ResponseHeaders): void {
    this.status = status
    this.headers = headers
    if (status >= 200 && status < 300) this.over("accepted")
  }

  data(bytes: Uint8Array): void {
    this.size += bytes.length
    if (this.size > maxErrorBytes) this.end()
    else this.parts.push(bytes)
  }

  end(): void {
    this.over(this.judge(this.status, this.headers, Buffer.concat(this.parts).toString("utf8")))
  }

  fail(): void {
    this.over("undecided")
  }

  close(): void {
    this.isOver = true
    this.exchange?.close()
  }

  private over(verdict: CredentialVerdict): void {
    if (this.isOver) return
    this.close()
    this.tell(verdict)
  }
}
