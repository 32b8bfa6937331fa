import * as Http from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { RequestId } from "../domain/Ids.ts"
import type { TimersShape } from "../domain/Timers.ts"
import { errorBody } from "../wire/ErrorBody.ts"
import * as Errors from "./Errors.ts"
import { jsonHeaders } from "./Responder.ts"

/** More requests than this behind the running one of a connection are no client's need. */
const maxWaiting = 64
/** How long a refused connection may go on sending before it is cut, so that the refusal is not lost in a reset. */
const lingerMillis = 2_000
const maxLingerBytes = 1024 * 1024

/** The answer that is due on a connection, or was the last to be. */
const due = new WeakMap<Duplex, OrderedResponse>()
const waiting = new WeakMap<Duplex, number>()
/** How much had been read from a connection when it was refused. */
const refused = new WeakMap<Duplex, number>()

/** An answer that knows when it is the next to be written on its connection. */
export class OrderedResponse<
  Request extends Http.IncomingMessage = Http.IncomingMessage
> extends Http.ServerResponse<Request> {
  private turn: (() => void) | undefined

  override assignSocket(socket: Socket): void {
    super.assignSocket(socket)
    due.set(socket, this)
    this.turn?.()
  }

  /** Runs `answer` when every answer before this one has been written; never when the connection ends before. */
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

/** Answers what node's parser refuses, unless something else has been said about it: then only the connection can end. */
export const refuse = (
  error: NodeJS.ErrnoException,
  socket: Duplex,
  nextRequestId: () => RequestId,
  timers: TimersShape
): void => {
  const readBefore = refused.get(socket)
  if (readBefore !== undefined) {
    // what still comes from a refused client is refused piece by piece
    if (bytesRead(socket) - readBefore > maxLingerBytes) socket.destroy()
    return
  }
  if (!socket.writable) {
    socket.destroy()
    return
  }
  refused.set(socket, bytesRead(socket))
  const cancel = timers.after(lingerMillis, () => socket.destroy())
  socket.once("close", cancel)
  // what has been written may still be on its way out
  if (isAnswered(due.get(socket))) socket.end(() => socket.destroy())
  else socket.end(refusal(Errors.ofConnection(error.code), nextRequestId()))
}

/** The answer has been begun, and the request that it is about is not over. */
const isAnswered = (response: OrderedResponse | undefined): boolean =>
  response?.headersSent === true && !(response.writableFinished && response.req.complete)

const bytesRead = (socket: Duplex): number => ("bytesRead" in socket ? Number(socket.bytesRead) : 0)

const refusal = ({ error, status }: Errors.HttpError, requestId: RequestId): string => {
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
