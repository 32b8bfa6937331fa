import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { type Json, parseObject } from "../../provider/Json.ts"
import {
  chunksOf,
  errorBody,
  type GeminiAnswer,
  type GeminiRefusal,
  type GeminiReply,
  type Issued,
  refusal,
  refusals,
  wholeOf
} from "./GeminiAnswers.ts"
import { faultOf } from "./GeminiRules.ts"

/** One call that the simulator has received. */
export interface GeminiRequest {
  readonly model: string
  readonly stream: boolean
  readonly body: Json
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  /** Why it was refused. */
  readonly fault: string | undefined
}

export interface GeminiSimulatorOptions {
  /** What is done with a call that is valid. */
  readonly reply?: (request: GeminiRequest) => GeminiReply
  /** The key that is accepted; left out, any is. */
  readonly apiKey?: string
}

export interface GeminiSimulatorShape {
  readonly origin: string
  /** As a provider's `baseUrl`. */
  readonly baseUrl: string
  readonly requests: ReadonlyArray<GeminiRequest>
}

/**
 * The Gemini API on loopback, as strict as the real one is known to be: it refuses what its documented types forbid, and calls
 * of its own that come back without their signature.
 */
export class GeminiSimulator extends Context.Tag("gateway/testing/GeminiSimulator")<
  GeminiSimulator,
  GeminiSimulatorShape
>() {
  static readonly layer = (options: GeminiSimulatorOptions = {}): Layer.Layer<GeminiSimulator> =>
    Layer.scoped(this, make(options))
}

export const make = (options: GeminiSimulatorOptions = {}): Effect.Effect<GeminiSimulatorShape, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => listen(options)),
      ({ close }) => Effect.promise(close)
    ),
    ({ simulator }) => simulator
  )

const greeting = (): GeminiReply => ({ _tag: "Answer", text: ["Hello", " from Gemini"] })

/** A call larger than this is not read. */
const mostBodyBytes = 32 * 1024 * 1024

const listen = async (options: GeminiSimulatorOptions) => {
  const requests: Array<GeminiRequest> = []
  const sockets = new Set<Socket>()
  const signatures = new Signatures()
  const server = createServer((request, response) => {
    response.on("error", () => {})
    collect(request, (text) => answer(request, response, text))
  })
  const answer = (request: IncomingMessage, response: ServerResponse, text: string): void => {
    const target = targetOf(request)
    if (target === undefined) return refuse(response, refusal(404, "NOT_FOUND", "Requested entity was not found."))
    const denied = deniedBy(request, options.apiKey)
    if (denied !== undefined) return refuse(response, denied)
    const body = parseObject(text)
    const fault =
      body === undefined ? "Invalid JSON payload received." : faultOf(body, (signature) => signatures.has(signature))
    const received: GeminiRequest = {
      model: target.model,
      stream: target.stream,
      body: body ?? {},
      headers: request.headers,
      fault
    }
    requests.push(received)
    if (fault !== undefined) return refuse(response, refusal(400, "INVALID_ARGUMENT", fault))
    const reply = (options.reply ?? greeting)(received)
    if (reply._tag === "Refusal") return refuse(response, reply)
    const issued = signatures.issuing(target.model)
    if (!target.stream) json(response, 200, wholeOf(reply, issued))
    else if (target.asEvents) sendEvents(response, reply, issued)
    else json(response, 200, chunksOf(reply, issued))
  }
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("close", () => sockets.delete(socket))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port")
  const origin = `http://127.0.0.1:${address.port}`
  const simulator: GeminiSimulatorShape = { origin, baseUrl: `${origin}/v1beta`, requests }
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, "close")
  }
  return { simulator, close }
}

const collect = (request: IncomingMessage, done: (text: string) => void): void => {
  const parts: Array<Buffer> = []
  let size = 0
  request.on("error", () => {})
  request.on("data", (part: Buffer) => {
    size += part.length
    if (size > mostBodyBytes) request.destroy()
    else parts.push(part)
  })
  request.on("end", () => done(Buffer.concat(parts).toString("utf8")))
}

/** Remembers what it has signed. */
class Signatures {
  private readonly issued = new Set<string>()
  private calls = 0

  has(signature: string): boolean {
    return this.issued.has(signature)
  }

  issuing(model: string): Issued {
    return {
      modelVersion: model,
      callId: () => `fc_${++this.calls}`,
      signature: () => {
        const signature = Buffer.from(`${model} thought ${this.issued.size + 1}`, "utf8").toString("base64")
        this.issued.add(signature)
        return signature
      }
    }
  }
}

const targetOf = (request: IncomingMessage) => {
  const url = new URL(request.url ?? "/", "http://127.0.0.1")
  const found = /^\/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent)$/.exec(url.pathname)
  const [, model, method] = found ?? []
  if (request.method !== "POST" || model === undefined) return undefined
  const isJson = (request.headers["content-type"] ?? "").startsWith("application/json")
  if (!isJson) return undefined
  return {
    model: decodeURIComponent(model),
    stream: method === "streamGenerateContent",
    asEvents: url.searchParams.get("alt") === "sse"
  }
}

const deniedBy = (request: IncomingMessage, apiKey: string | undefined): GeminiRefusal | undefined => {
  const given = request.headers["x-goog-api-key"]
  if (given === undefined) return refusals.noKey
  return apiKey === undefined || given === apiKey ? undefined : refusals.invalidKey
}

/** Lines end as they do at the real API. */
const sendEvents = (response: ServerResponse, answer: GeminiAnswer, issued: Issued): void => {
  response.writeHead(200, { "content-type": "text/event-stream" })
  const { cutAfter, failAt } = answer
  const chunks = chunksOf(answer, issued)
  for (const [at, chunk] of chunks.entries()) {
    if (at === cutAfter) {
      // what has been written goes out first
      response.write("", () => response.destroy())
      return
    }
    if (at === failAt?.chunk) {
      response.end(`data: ${JSON.stringify(errorBody(failAt.refusal))}\r\n\r\n`)
      return
    }
    response.write(`data: ${JSON.stringify(chunk)}\r\n\r\n`)
  }
  response.end()
}

const refuse = (response: ServerResponse, reply: GeminiRefusal): void =>
  json(response, reply.code, errorBody(reply), reply.headers)

const json = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {}
): void => {
  response
    .writeHead(status, { "content-type": "application/json; charset=UTF-8", ...headers })
    .end(JSON.stringify(body))
}
