import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * A provider's API on loopback. It rejects what the real API rejects, gives the same response to the same request, streams in the
 * provider's own format, and injects faults on request.
 */
export interface Simulator {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string
  /** As a provider's `baseUrl`. */
  readonly baseUrl: string
  /** What it has received, in order. */
  readonly requests: ReadonlyArray<SimulatedRequest>
  /** Resolves with the n-th request, counted from 1, as soon as it was received. */
  readonly received: (count: number) => Promise<SimulatedRequest>
  /** The sent body of each response. */
  readonly answers: ReadonlyArray<Uint8Array>
  /** The errors of the requests that were rejected as invalid. */
  readonly rejections: ReadonlyArray<string>
  /** The next calls fail with these faults, in order. A request that is rejected uses up none. */
  readonly failNext: (...faults: ReadonlyArray<InjectedFault>) => void
  /** Closes all connections. */
  readonly stop: () => Promise<void>
}

/** A request that a simulator has received. */
export interface SimulatedRequest {
  /** As sent. */
  readonly method: string
  /** With the query. */
  readonly path: string
  /** By lower-case name. */
  readonly headers: IncomingMessage["headers"]
  /** The body. */
  readonly text: string
  /** Resolves when the connection is closed or the response has been sent. */
  readonly closed: Promise<"answered" | "aborted">
}

/** Faults, each in the provider's own format. */
export const faults = [
  /** Errors in place of a response. */
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
  /** The model itself refuses: a complete response. */
  "refusal",
  /**
   * Errors in a stream, before any content and after some. Nothing of a non-streaming response has been sent when its model fails: the
   * error comes in place of the response.
   */
  "error-first",
  "error-mid",
  /** After some content, or half of a non-streaming response: malformed data, and the end of the response. */
  "malformed-mid",
  /** After as much, the connection is reset, the response ends regularly, or nothing more is sent. */
  "cut-mid",
  "end-mid",
  "hang-mid",
  /** No response. */
  "hang"
] as const
/** A fault that a simulator can inject. */
export type InjectedFault = (typeof faults)[number]

/** Retry delay of a rate limit. */
export const retryAfterSeconds = 7

/** What a simulator sends. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly chunks: ReadonlyArray<string | Uint8Array>
  readonly ending: "end" | "cut" | "hang"
}

/** A rejected request; what else is in it differs by provider. */
export interface Rejected<R> {
  readonly rejection: R
}

/** What is the provider's own: what it accepts, and the form of its responses. */
export interface Behaviour<A extends object, R extends { readonly message: string }> {
  /** Added to the origin for the base URL. */
  readonly basePath: string
  readonly rejectedBy: (request: SimulatedRequest) => A | Rejected<R>
  readonly rejectionReply: (rejection: R) => Reply
  /** Of a fault in place of a response; `undefined` for those that break a response. */
  readonly faultReply: (fault: InjectedFault, accepted: A) => Reply | undefined
  /** The prompts in `cached` have been sent before. */
  readonly answerTo: (accepted: A, fault: InjectedFault | undefined, cached: Set<string>) => Reply
}

export const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  chunks: [JSON.stringify(body)],
  ending: "end"
})

/** A non-streaming response, broken by `fault` after half of it. */
export const jsonBrokenBy = (fault: InjectedFault | undefined, body: unknown): Reply => {
  const whole = json(200, body)
  const text = JSON.stringify(body)
  const half = text.slice(0, text.length / 2)
  switch (fault) {
    case "malformed-mid":
      return { ...whole, chunks: [`${half}{broken`] }
    case "end-mid":
      return { ...whole, chunks: [half] }
    case "cut-mid":
      return { ...whole, chunks: [half], ending: "cut" }
    case "hang-mid":
      return { ...whole, chunks: [half], ending: "hang" }
    default:
      return whole
  }
}

const html: Reply = {
  status: 200,
  headers: { "content-type": "text/html" },
  chunks: ["<html>a page</html>"],
  ending: "end"
}

const hang: Reply = { status: 0, headers: {}, chunks: [], ending: "hang" }

const maxRequestBytes = 32 * 1024 * 1024

/** Started with the Layer, stopped with its scope. */
export const layer = <I>(tag: Context.Tag<I, Simulator>, start: () => Promise<Simulator>): Layer.Layer<I> =>
  Layer.scoped(
    tag,
    Effect.acquireRelease(Effect.promise(start), (simulator) => Effect.promise(() => simulator.stop()))
  )

export const start = async <A extends object, R extends { readonly message: string }>(
  behaviour: Behaviour<A, R>
): Promise<Simulator> => {
  const cached = new Set<string>()
  const requests: Array<SimulatedRequest> = []
  const refusals: Array<string> = []
  const answers: Array<Uint8Array> = []
  const waiting: Array<InjectedFault> = []
  const watchers: Array<{ readonly count: number; readonly resolve: (request: SimulatedRequest) => void }> = []
  const sockets = new Set<Socket>()
  const server = createServer((incoming, response) => {
    const parts: Array<Buffer> = []
    let size = 0
    incoming.on("data", (part: Buffer) => {
      size += part.length
      if (size <= maxRequestBytes) parts.push(part)
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
      const reply = replyTo(behaviour, request, waiting, cached, refusals)
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
    rejections: refusals,
    answers,
    failNext: (...faults) => void waiting.push(...faults),
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, "close")
    }
  }
}

const replyTo = <A extends object, R extends { readonly message: string }>(
  behaviour: Behaviour<A, R>,
  request: SimulatedRequest,
  waiting: Array<InjectedFault>,
  cached: Set<string>,
  refusals: Array<string>
): Reply => {
  const verdict = behaviour.rejectedBy(request)
  if (isRejected(verdict)) {
    refusals.push(verdict.rejection.message)
    return behaviour.rejectionReply(verdict.rejection)
  }
  const fault = waiting.shift()
  if (fault === "hang") return hang
  if (fault === "html") return html
  return (
    (fault === undefined ? undefined : behaviour.faultReply(fault, verdict)) ??
    behaviour.answerTo(verdict, fault, cached)
  )
}

const isRejected = <A extends object, R>(verdict: A | Rejected<R>): verdict is Rejected<R> => "rejection" in verdict

const send = (response: ServerResponse, { chunks, ending, headers, status }: Reply): void => {
  if (status === 0) return
  response.writeHead(status, headers)
  const last = chunks.at(-1)
  for (const chunk of chunks.slice(0, -1)) response.write(chunk)
  if (ending === "end") response.end(last ?? "")
  else if (ending === "cut") response.write(last ?? "", () => response.destroy())
  else response.write(last ?? "")
}
