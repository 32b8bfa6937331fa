import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { RequestId } from "../../domain/Ids.ts"
import type { ClientAddressShape } from "../ClientAddress.ts"

/** What is known of a request beside its head and body. */
export interface Incoming {
  /** Of its client. */
  readonly address: string
  /** The port that it came to. */
  readonly port: number
  readonly requestId: RequestId
}

export const of = (request: HttpServerRequest.HttpServerRequest, address: ClientAddressShape): Incoming => {
  const requestId = NodeHttpServerRequest.toServerResponse(request).getHeader("x-request-id")
  return {
    address: address.of(NodeHttpServerRequest.toIncomingMessage(request)),
    port: portOf(request),
    // the server has set it, and makes UUIDs only
    requestId: RequestId.make(String(requestId), { disableValidation: true })
  }
}

export const portOf = (request: HttpServerRequest.HttpServerRequest): Incoming["port"] =>
  NodeHttpServerRequest.toIncomingMessage(request).socket.localPort ?? 0
