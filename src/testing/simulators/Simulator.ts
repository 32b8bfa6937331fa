import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"

/**
 * A provider's interface on loopback. It refuses what the real one refuses, answers each request alike each time, streams in the
 * provider's own format, and breaks when it is told to.
 */
export interface Simulator {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string
  /** As a provider's `baseUrl`. */
  readonly baseUrl: string
  readonly requests: ReadonlyArray<SimulatedRequest>
  /** Resolves with the n-th request, counted from 1, as soon as it has come. */
  readonly received: (count: number) => Promise<SimulatedRequest>
  /** The body of each answer begun, as it was sent. */
  readonly answers: ReadonlyArray<Uint8Array>
  /** What was wrong with the requests that it has refused by its own rules. */
  readonly refusals: ReadonlyArray<string>
  /** The next call breaks this way; several wait for their turn. */
  readonly failNext: (...faults: ReadonlyArray<Fault>) => void
  readonly stop: () => Promise<void>
}

export interface SimulatedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly text: string
  /** When its connection is gone, or its answer has been sent. */
  readonly closed: Promise<"answered" | "aborted">
}

/** Ways to break, each spelled as the provider spells it. */
export const faults = [
  /** Refusals, before an answer has begun. */
  "overloaded",
  "rate-limited",
  "quota",
  "unauthorized",
  "model-gone",
  "invalid",
  "context-length",
  "content-policy",
  "server-error",
  "html",
  /** The model itself refuses: a whole answer. */
  "refusal",
  /** In a stream, before any content and after some. */
  "error-first",
  "error-mid",
  "malformed-mid",
  /** The connection breaks, ends in good order, or says nothing more. */
  "cut-mid",
  "end-mid",
  "hang-mid",
  "hang"
] as const
export type Fault = (typeof faults)[number]

/** Seconds that a rate limit asks for. */
export const retryAfterSeconds = 7

/** What a simulator sends. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly chunks: ReadonlyArray<string | Uint8Array>
  readonly ending: "end" | "cut" | "hang"
}

export interface Behaviour {
  /** Added to the origin for the base URL. */
  readonly basePath: string
  /** Also told what it refuses, to be asked afterwards. */
  readonly answer: (request: SimulatedRequest, fault: Fault | undefined, refused: (why: string) => void) => Reply
}

export const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  chunks: [JSON.stringify(body)],
  ending: "end"
})

export const html: Reply = {
  status: 200,
  headers: { "content-type": "text/html" },
  chunks: ["<html>a page</html>"],
  ending: "end"
}

export const hang: Reply = { status: 0, headers: {}, chunks: [], ending: "hang" }

const longestRequestBytes = 32 * 1024 * 1024

export const start = async (behaviour: Behaviour): Promise<Simulator> => {
  const requests: Array<SimulatedRequest> = []
  const refusals: Array<string> = []
  const answers: Array<Uint8Array> = []
  const waiting: Array<Fault> = []
  const watchers: Array<{ readonly count: number; readonly resolve: (request: SimulatedRequest) => void }> = []
  const sockets = new Set<Socket>()
  const server = createServer((incoming, response) => {
    const parts: Array<Buffer> = []
    let size = 0
    incoming.on("data", (part: Buffer) => {
      size += part.length
      if (size <= longestRequestBytes) parts.push(part)
      else incoming.destroy()
    })
    incoming.on("error", () => {})
    response.on("error", () => {})
    incoming.on("end", () => {
      const request: SimulatedRequest = {
        method: incoming.method ?? "",
        path: incoming.url ?? "",
        headers: incoming.headers,
        text: Buffer.concat(parts).toString("utf8"),
        closed: new Promise((resolve) => {
          response.on("close", () => resolve(response.writableFinished ? "answered" : "aborted"))
        })
      }
      requests.push(request)
      for (const { count, resolve } of watchers) if (requests.length === count) resolve(request)
      const reply = behaviour.answer(request, waiting.shift(), (why) => refusals.push(why))
      answers.push(Buffer.concat(reply.chunks.map((chunk) => Buffer.from(chunk))))
      send(response, reply)
    })
  })
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("close", () => sockets.delete(socket))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    baseUrl: origin + behaviour.basePath,
    requests,
    received: (count) => {
      const known = requests[count - 1]
      return known === undefined ? new Promise((resolve) => watchers.push({ count, resolve })) : Promise.resolve(known)
    },
    refusals,
    answers,
    failNext: (...faults) => void waiting.push(...faults),
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, "close")
    }
  }
}

const send = (response: ServerResponse, { chunks, ending, headers, status }: Reply): void => {
  if (status === 0) return
  response.writeHead(status, headers)
  const last = chunks.at(-1)
  for (const chunk of chunks.slice(0, -1)) response.write(chunk)
  if (ending === "end") response.end(last ?? "")
  else if (ending === "cut") response.write(last ?? "", () => response.destroy())
  else response.write(last ?? "")
}
