import type { IncomingMessage } from "node:http"
import { ServiceRefused } from "../../domain/GatewayError.ts"
import * as Errors from "../Errors.ts"
import * as NodeResponse from "../server/NodeResponse.ts"

/** A body up to this size is read and discarded: that costs less than a new connection, for node and client. */
const maxDroppedBytes = 65_536

const overloaded = Errors.of(new ServiceRefused({ reason: "overloaded" }))
const headers = { ...NodeResponse.jsonHeaders, ...overloaded.headers }

/** 503 `overloaded` to a request whose body has not been read. */
export const rejectOverloaded = (exchange: NodeResponse.HttpExchange, path: string): void => {
  const { request, response } = exchange
  if (isSmall(request)) {
    request.resume()
    const body = exchange.format.errorBody(overloaded.error, exchange.requestId)
    NodeResponse.head(exchange, overloaded.status, headers, { "content-length": Buffer.byteLength(body) })
    response.end(body)
  } else NodeResponse.error(exchange, overloaded)
  NodeResponse.count(path, response)
}

const isSmall = ({ complete, headers }: IncomingMessage): boolean =>
  complete || Number(headers["content-length"] ?? Number.POSITIVE_INFINITY) <= maxDroppedBytes
