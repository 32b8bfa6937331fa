import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"

/** One call as the upstream has received it. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body as JSON; `{}` when it is none. */
  readonly body: Readonly<Record<string, unknown>>
  readonly model: string
  readonly stream: boolean
  /** Resolves when the connection of this call is gone, or its answer has been sent. */
  readonly closed: Promise<"answered" | "aborted">
}

/** Answers one call; what it does not end stays open. */
export type Handler = (received: Received, response: ServerResponse, upstream: Upstream) => void

export interface Upstream {
  readonly origin: string
  /** As a provider's `baseUrl`. */
  readonly baseUrl: string
  readonly requests: ReadonlyArray<Received>
  /** Resolves with the n-th call, counted from 1, as soon as it has come. */
  readonly received: (count: number) => Promise<Received>
  /** Connections that are open now, and that were ever made. */
  readonly openSockets: () => number
  readonly connections: () => number
  /** Lets the answers go that a `held` model waits with, also the future ones. */
  readonly release: () => void
  readonly released: Promise<void>
  readonly stop: () => Promise<void>
}

/** An OpenAI-compatible upstream on loopback that behaves as the model's name says (see `behaviours`), or as told; with `handlesGet` also what is no call. */
export const start = async (
  handler: Handler = byModel,
  { handlesGet = false }: { readonly handlesGet?: boolean } = {}
): Promise<Upstream> => {
  const requests: Array<Received> = []
  const sockets = new Set<Socket>()
  const waiting: Array<{ readonly count: number; readonly resolve: (received: Received) => void }> = []
  let connections = 0
  const latch = makeLatch()

  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      // the service asks for the list of models when it starts, whenever that is
      if (request.method === "GET" && !handlesGet) {
        json(response, 200, { object: "list", data: [] })
        return
      }
      const text = Buffer.concat(parts).toString("utf8")
      const body = parse(text)
      const received: Received = {
        path: request.url ?? "",
        headers: request.headers,
        text,
        body,
        model: String(body["model"] ?? ""),
        stream: body["stream"] === true,
        closed: new Promise((resolve) => {
          response.on("close", () => resolve(response.writableFinished ? "answered" : "aborted"))
        })
      }
      requests.push(received)
      for (const waiter of waiting) if (requests.length >= waiter.count) waiter.resolve(received)
      handler(received, response, upstream)
    })
    request.on("error", () => {})
    response.on("error", () => {})
  })
  server.on("connection", (socket) => {
    connections++
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("close", () => sockets.delete(socket))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const upstream: Upstream = {
    origin: `http://127.0.0.1:${port}`,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    received: (count) => {
      const known = requests[count - 1]
      return known === undefined ? new Promise((resolve) => waiting.push({ count, resolve })) : Promise.resolve(known)
    },
    openSockets: () => sockets.size,
    connections: () => connections,
    release: () => latch.resolve(),
    released: latch.promise,
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, "close")
    }
  }
  return upstream
}

/** What its models do, by name; `status-<n>` answers with that status. */
export const behaviours: Readonly<Record<string, Handler>> = {
  ok: (received, response) => answer(received, response, ["Hello", " from", " upstream"]),
  /** A complete answer, but without `[DONE]`. */
  "no-done": (_, response) => {
    sse(response)
    for (const chunk of chunksOf(["Hello"])) response.write(chunk)
    response.end()
  },
  /** Waits for `release` before it answers at all. */
  held: (received, response, upstream) => {
    void upstream.released.then(() => answer(received, response, ["released"]))
  },
  /** Sends its first content, and the rest after `release`. */
  "held-mid": (_, response, upstream) => {
    sse(response)
    response.write(content("first"))
    void upstream.released.then(() => {
      for (const chunk of chunksOf([" second"])) response.write(chunk)
      response.end(done)
    })
  },
  "tool-call": (received, response) => toolCall(received, response),
  "rate-limited": (_, response) =>
    error(
      response,
      429,
      { message: "slow down", type: "requests", code: "rate_limit_exceeded" },
      { "retry-after": "7" }
    ),
  /** A head that says so, and a body that does not end. */
  "hang-rate-limited": (_, response) => {
    response.writeHead(429, { "content-type": "application/json" }).write("{")
  },
  "no-quota": (_, response) =>
    error(response, 429, { message: "no money", type: "insufficient_quota", code: "insufficient_quota" }),
  refuse: (_, response) =>
    error(response, 400, {
      message: "Your request was flagged.",
      type: "invalid_request_error",
      code: "content_policy_violation"
    }),
  "too-long": (_, response) =>
    error(response, 400, { message: "maximum context length is 8 tokens", code: "context_length_exceeded" }),
  redirect: (_, response) => {
    response.writeHead(307, { location: "http://127.0.0.1:9/elsewhere" }).end()
  },
  html: (_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<html>captive portal</html>")
  },
  "error-200": (_, response) =>
    error(response, 200, { message: "overloaded", type: "overloaded_error", code: "overloaded" }),
  "error-first": (_, response) => {
    sse(response)
    response.end(`data: {"error":{"message":"broken","type":"server_error","code":null}}\n\n`)
  },
  "error-mid": (_, response) => {
    sse(response)
    response.write(content("partial"))
    response.end(`data: {"error":{"message":"broken","type":"server_error","code":null}}\n\n`)
  },
  /** Never answers. */
  "hang-head": () => {},
  /** A head and comments, never content. */
  "hang-content": (_, response) => {
    sse(response)
    response.write(": working\n\n")
    response.write(event({ choices: [{ index: 0, delta: { role: "assistant", content: "" } }] }))
  },
  "hang-mid": (_, response) => {
    sse(response)
    response.write(content("partial"))
  },
  /** The connection breaks before a byte of the answer. */
  reset: (_, response) => {
    response.destroy()
  },
  "cut-before": (_, response) => {
    sse(response)
    response.write(": working\n\n", () => response.destroy())
  },
  "cut-mid": (_, response) => {
    sse(response)
    response.write(content("partial"), () => response.destroy())
  },
  /** Ends in good order, but without a finish. */
  "end-mid": (_, response) => {
    sse(response)
    response.end(content("partial"))
  },
  malformed: (received, response) => {
    if (received.stream) {
      sse(response)
      response.end("data: {broken\n\n")
    } else response.writeHead(200, { "content-type": "application/json" }).end("{broken")
  },
  "malformed-mid": (_, response) => {
    sse(response)
    response.write(content("partial"))
    response.end("data: {broken\n\n")
  },
  empty: (received, response) => answer(received, response, []),
  /** Content without end, as fast as it is read. */
  endless: (_, response) => {
    sse(response)
    const more = (): void => {
      while (!response.destroyed && response.write(content("x".repeat(1000)))) {}
    }
    response.on("drain", more)
    more()
  }
}

export const byModel: Handler = (received, response, upstream) => {
  const status = /^status-(\d{3})$/.exec(received.model)?.[1]
  if (status !== undefined) error(response, Number(status), { message: `status ${status}`, type: "error", code: null })
  else (behaviours[received.model] ?? unknownModel)(received, response, upstream)
}

const unknownModel: Handler = (received, response) =>
  error(response, 404, {
    message: `no model ${received.model}`,
    type: "invalid_request_error",
    code: "model_not_found"
  })

/** A complete response in the form that was asked for. */
export const answer = (received: Received, response: ServerResponse, pieces: ReadonlyArray<string>): void => {
  if (received.stream) {
    sse(response)
    for (const chunk of chunksOf(pieces)) response.write(chunk)
    response.end(done)
    return
  }
  const message = { role: "assistant", content: pieces.join(""), refusal: null }
  json(response, 200, {
    id: "chatcmpl-up",
    object: "chat.completion",
    created: 1,
    model: "up-model",
    choices: [{ index: 0, message, finish_reason: "stop", logprobs: null }],
    usage: usageOf(pieces)
  })
}

const toolCall = (received: Received, response: ServerResponse): void => {
  const call = { id: "call_up", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } }
  if (received.stream) {
    sse(response)
    response.write(event({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] } }] }))
    response.write(event({ choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] }))
    response.end(done)
    return
  }
  json(response, 200, {
    choices: [
      { index: 0, message: { role: "assistant", content: null, tool_calls: [call] }, finish_reason: "tool_calls" }
    ],
    usage: usageOf(["x"])
  })
}

export const sse = (response: ServerResponse): void => {
  response.writeHead(200, { "content-type": "text/event-stream" })
}

export const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`

export const content = (text: string): string =>
  event({ object: "chat.completion.chunk", model: "up-model", choices: [{ index: 0, delta: { content: text } }] })

export const done = "data: [DONE]\n\n"

/** Text, finish and usage of a streamed answer, without `[DONE]`. */
export const chunksOf = (pieces: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...pieces.map(content),
  event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
  event({ choices: [], usage: usageOf(pieces) })
]

export const error = (
  response: ServerResponse,
  status: number,
  body: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {}
): void => json(response, status, { error: body }, headers)

const json = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {}
): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
}

const usageOf = (pieces: ReadonlyArray<string>): unknown => ({
  prompt_tokens: 10,
  completion_tokens: pieces.length,
  total_tokens: 10 + pieces.length
})

const parse = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

const makeLatch = (): { readonly promise: Promise<void>; readonly resolve: () => void } => {
  let release: () => void = () => {}
  const promise = new Promise<void>((resolve) => {
    release = resolve
  })
  return { promise, resolve: () => release() }
}
