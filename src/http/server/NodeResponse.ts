import type { IncomingMessage, ServerResponse } from "node:http"
import type { KeptAnswer } from "../../calls/Idempotency.ts"
import type { RequestId } from "../../domain/Ids.ts"
import * as Metrics from "../../observe/Metrics.ts"
import type { HttpError } from "../Errors.ts"
import type { WireFormat } from "../WireFormat.ts"
import * as UnreadBody from "./UnreadBody.ts"

/** A request with its response object. */
export interface HttpExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: RequestId
  readonly format: WireFormat
  /** Headers of the response that are known before the rest of it. */
  earlyHeaders?: Headers
  /** Headers of every answer to this request; those of a new answer are given with it. */
  requestHeaders?: Headers
}

export type Headers = Readonly<Record<string, string | number>>

export const jsonHeaders = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff"
} as const

/** The only writer of response heads on the inference endpoints. A flat list of names and values is node's fastest form. */
export const head = (
  { earlyHeaders, format, requestId, response }: HttpExchange,
  status: number,
  ...sets: ReadonlyArray<Headers>
): void => {
  const list: Array<string | number> = ["x-request-id", requestId]
  if (format.requestIdHeader !== undefined) list.push(format.requestIdHeader, requestId)
  for (const name in earlyHeaders) list.push(name, earlyHeaders[name] ?? "")
  for (const headers of sets) {
    for (const name in headers) list.push(name, headers[name] ?? "")
  }
  response.writeHead(status, list)
}

/** A complete JSON response. */
export const json = (exchange: HttpExchange, status: number, body: string, headers: Headers = {}): void => {
  head(exchange, status, jsonHeaders, { "content-length": Buffer.byteLength(body) }, headers)
  // text goes out together with the head in one write; bytes would be a second one
  exchange.response.end(body)
}

/** Replays the stored response of an earlier run of the same request. */
export const replay = (exchange: HttpExchange, { body, contentType, headers, status }: KeptAnswer): void => {
  head(
    exchange,
    status,
    { ...exchange.requestHeaders, ...headers },
    {
      "content-type": contentType,
      "content-length": body.length,
      "idempotent-replayed": "true"
    }
  )
  exchange.response.end(body)
}

/** An error may be sent before the body is read: the rest of the body must be read, or the client may not see the error. */
export const error = (exchange: HttpExchange, { error, headers: own, status }: HttpError): void => {
  const { request, requestHeaders, response } = exchange
  const headers = requestHeaders === undefined ? own : { ...requestHeaders, ...own }
  const body = exchange.format.errorBody(error, exchange.requestId)
  if (request.complete || UnreadBody.isSmall(request)) {
    json(exchange, status, body, headers)
    request.resume()
    return
  }
  head(exchange, status, jsonHeaders, {
    "content-length": Buffer.byteLength(body),
    ...headers,
    connection: "close"
  })
  response.write(body)
  UnreadBody.endAfter(request, response)
}

/** What metrics call every path that nothing is at, and that of a request that cannot be parsed. */
export const unknownPathLabel = "unknown"

/** Counts nothing where the client has left before a response: node has a status without one, too. */
export const count = (path: string, { headersSent, statusCode }: ServerResponse): void => {
  if (headersSent) Metrics.httpAnswer(path, statusCode)
}
