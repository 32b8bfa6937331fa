import type { IncomingMessage, ServerResponse } from "node:http"
import type { RequestId } from "../domain/Ids.ts"
import * as Metrics from "../observe/Metrics.ts"
import { errorBody } from "../wire/ErrorBody.ts"
import type { HttpError } from "./Errors.ts"
import * as UnreadBody from "./UnreadBody.ts"

/** A request and what it is to be answered on. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: RequestId
}

export type Headers = Readonly<Record<string, string | number>>

export const jsonHeaders = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff"
} as const

/** The one writer of heads on the two POST endpoints. A flat list of names and values is what node takes fastest. */
export const head = ({ requestId, response }: Exchange, status: number, ...sets: ReadonlyArray<Headers>): void => {
  const list: Array<string | number> = ["x-request-id", requestId]
  for (const headers of sets) {
    for (const name in headers) list.push(name, headers[name] ?? "")
  }
  response.writeHead(status, list)
}

/** A whole JSON answer. */
export const json = (exchange: Exchange, status: number, body: string, headers: Headers = {}): void => {
  head(exchange, status, jsonHeaders, { "content-length": Buffer.byteLength(body) }, headers)
  // text goes out together with the head in one write; bytes would be a second one
  exchange.response.end(body)
}

/** An answer that was kept from an earlier run of the same request. */
export const replay = (
  exchange: Exchange,
  { body, contentType }: { readonly body: Uint8Array; readonly contentType: string }
): void => {
  head(exchange, 200, {
    ...jsonHeaders,
    "content-type": contentType,
    "content-length": body.length,
    "idempotent-replayed": "true"
  })
  exchange.response.end(body)
}

/** A refusal may come before the body: what is left of that must be read, or the client may never see the refusal. */
export const error = (exchange: Exchange, { error, headers, status }: HttpError): void => {
  const { request, response } = exchange
  const body = errorBody(error)
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

export const count = (path: string, response: ServerResponse): void => Metrics.httpAnswer(path, response.statusCode)
