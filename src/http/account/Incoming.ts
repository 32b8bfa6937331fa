import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { RequestId } from "../../domain/Ids.ts"

/** What is known of a request beside its head and body. */
export interface Incoming {
  readonly address: string
  /** The port that it came to. */
  readonly port: number
  readonly requestId: RequestId
}

export const of = (request: HttpServerRequest.HttpServerRequest): Incoming => {
  const { socket } = NodeHttpServerRequest.toIncomingMessage(request)
  const requestId = NodeHttpServerRequest.toServerResponse(request).getHeader("x-request-id")
  return {
    address: socket.remoteAddress ?? "",
    port: socket.localPort ?? 0,
    // the server has set it, and makes UUIDs only
    requestId: RequestId.make(String(requestId), { disableValidation: true })
  }
}
