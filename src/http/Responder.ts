import type { IncomingMessage, ServerResponse } from "node:http"
import * as Metrics from "../observe/Metrics.ts"
import { errorBody } from "../wire/ErrorBody.ts"
import type { HttpError } from "./Errors.ts"

export const jsonHeaders = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff"
} as const

/** The one writer of whole JSON answers on the two POST endpoints. */
export const json = (
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {}
): void => {
  response.writeHead(status, { ...jsonHeaders, "content-length": Buffer.byteLength(body), ...headers })
  // text goes out together with the head in one write; bytes would be a second one
  response.end(body)
}

/** An answer that was kept from an earlier run of the same request. */
export const replay = (
  response: ServerResponse,
  { body, contentType }: { readonly body: Uint8Array; readonly contentType: string }
): void => {
  response.writeHead(200, {
    ...jsonHeaders,
    "content-type": contentType,
    "content-length": body.length,
    "idempotent-replayed": "true"
  })
  response.end(body)
}

export const error = (
  request: IncomingMessage,
  response: ServerResponse,
  { error, headers, status }: HttpError
): void => {
  // what is left of an unread body must not be taken for the next request
  const unread = !request.complete
  json(response, status, errorBody(error), unread ? { ...headers, connection: "close" } : headers)
  if (unread) request.resume()
}

export const count = (path: string, response: ServerResponse): void => Metrics.httpAnswer(path, response.statusCode)
