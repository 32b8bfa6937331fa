import type { IncomingMessage } from "node:http"
import { ServiceRefused } from "../domain/GatewayError.ts"
import { errorBody } from "../wire/ErrorBody.ts"
import * as Errors from "./Errors.ts"
import * as Responder from "./Responder.ts"

/** A body of this size is read and dropped: that costs less than a new connection, for this node as for the client. */
const maxDroppedBytes = 65_536

const overloaded = Errors.of(new ServiceRefused({ reason: "overloaded" }))
const body = errorBody(overloaded.error)
const headers = {
  ...Responder.jsonHeaders,
  ...overloaded.headers,
  "content-length": Buffer.byteLength(body)
}

/** 503 `overloaded` to a request whose body has not been read. */
export const refuseOverloaded = (exchange: Responder.Exchange, path: string): void => {
  const { request, response } = exchange
  if (isSmall(request)) {
    request.resume()
    Responder.head(exchange, overloaded.status, headers)
    response.end(body)
  } else Responder.error(exchange, overloaded)
  Responder.count(path, response)
}

const isSmall = ({ complete, headers }: IncomingMessage): boolean =>
  complete || Number(headers["content-length"] ?? Number.POSITIVE_INFINITY) <= maxDroppedBytes
