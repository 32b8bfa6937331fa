import * as Http from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { RequestId } from "../../domain/Ids.ts"
import type { TimersShape } from "../../domain/Timers.ts"
import * as Metrics from "../../observe/Metrics.ts"
import { errorBody } from "../../wire/ErrorBody.ts"
import * as Errors from "../Errors.ts"
import { jsonHeaders, unknownPathLabel } from "./NodeResponse.ts"

/** Maximum number of pipelined requests behind the running request of a connection. */
const maxWaiting = 64
/** How long a rejected connection may keep sending before it is closed, so that the error response is not lost in a reset. */
const lingerMillis = 2_000
const maxLingerBytes = 1024 * 1024

/** The current response of each connection. */
const due = new WeakMap<Duplex, OrderedResponse>()
const waiting = new WeakMap<Duplex, number>()
/** Bytes read from a connection when it was rejected. */
const rejectedAtBytes = new WeakMap<Duplex, number>()

/** A response that knows when it is the next to be written on its connection. */
export class OrderedResponse<
  Request extends Http.IncomingMessage = Http.IncomingMessage
> extends Http.ServerResponse<Request> {
  private turn: (() => void) | undefined

  override assignSocket(socket: Socket): void {
    super.assignSocket(socket)
    due.set(socket, this)
    this.turn?.()
  }

  /** Runs `answer` when all preceding responses have been written; never if the connection ends before. */
  whenDue(answer: () => void): void {
    if (this.socket !== null) {
      answer()
      return
    }
    const { socket } = this.req
    const ahead = waiting.get(socket) ?? 0
    if (ahead >= maxWaiting) {
      socket.destroy()
      return
    }
    waiting.set(socket, ahead + 1)
    this.turn = () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1)
      answer()
    }
  }
}

/** Answers a request that node's parser rejects, unless a response to it has begun: then the connection is closed. */
export const reject = (
  error: NodeJS.ErrnoException,
  socket: Duplex,
  nextRequestId: () => RequestId,
  timers: TimersShape
): void => {
  const readBefore = rejectedAtBytes.get(socket)
  if (readBefore !== undefined) {
    // more data of a rejected client causes more parser errors
    if (bytesRead(socket) - readBefore > maxLingerBytes) socket.destroy()
    return
  }
  if (!socket.writable) {
    socket.destroy()
    return
  }
  rejectedAtBytes.set(socket, bytesRead(socket))
  const cancel = timers.after(lingerMillis, () => socket.destroy())
  socket.once("close", cancel)
  // written data may still be unsent
  if (isAnswered(due.get(socket))) socket.end(() => socket.destroy())
  else {
    const refused = Errors.ofConnection(error.code)
    Metrics.httpAnswer(unknownPathLabel, refused.status)
    socket.end(rejection(refused, nextRequestId()))
  }
}

/** The response has begun, and response or request is unfinished. */
const isAnswered = (response: OrderedResponse | undefined): boolean =>
  response?.headersSent === true && !(response.writableFinished && response.req.complete)

const bytesRead = (socket: Duplex): number => ("bytesRead" in socket ? Number(socket.bytesRead) : 0)

const rejection = ({ error, status }: Errors.HttpError, requestId: RequestId): string => {
  const body = errorBody(error)
  const headers = {
    ...jsonHeaders,
    "content-length": Buffer.byteLength(body),
    "x-request-id": requestId,
    connection: "close"
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${Http.STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`
}
