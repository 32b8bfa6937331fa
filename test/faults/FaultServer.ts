import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net"
import type { Handler, Received, Upstream } from "../support/Upstream.ts"
import * as Upstreams from "../support/Upstream.ts"

/** What a healthy answer says: an answer that is any shorter has lost something. */
export const words: ReadonlyArray<string> = Array.from({ length: 60 }, (_, index) => `word${index + 1} `)
export const fullText = words.join("")
const half = words.slice(0, 30)

export interface FaultServer {
  readonly upstream: Upstream
  /** Where the faults of the connection itself are, by fault name; every other fault is at `upstream`. */
  readonly origins: Readonly<Record<string, string>>
  readonly stop: () => Promise<void>
}

/** A provider on loopback that fails as the requested model's name says. */
export const startFaultServer = async (): Promise<FaultServer> => {
  const upstream = await Upstreams.start(fault)
  const mute = await listen(() => {})
  const resetting = await listen((socket) => socket.once("data", () => socket.resetAndDestroy()))
  return {
    upstream,
    origins: {
      // a port that no system gives away: one that was closed would soon be that of another test's server
      refused: "http://127.0.0.1:1/v1",
      // a label that is too long to be asked for: no name server is needed to say no
      "unknown-host": `http://${"x".repeat(64)}.invalid/v1`,
      "no-tls": upstream.baseUrl.replace("http:", "https:"),
      "mute-handshake": `https://127.0.0.1:${mute.port}/v1`,
      // no connection here has ever served a call
      reset: `http://127.0.0.1:${resetting.port}/v1`
    },
    stop: async () => {
      mute.close()
      resetting.close()
      await upstream.stop()
    }
  }
}

const listen = async (onConnection: (socket: Socket) => void) => {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    onConnection(socket)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  }
}

/** Models may have a suffix after `@`, so that one fault can be had at many routes. */
export const fault: Handler = (received, response, upstream) => {
  const name = received.model.split("@")[0] ?? ""
  const status = /^status-(\d{3})$/.exec(name)?.[1]
  if (status !== undefined) return failing(response, Number(status), { message: "It failed.", type: "x", code: null })
  const handler = faults[name]
  if (handler === undefined) throw new Error(`no such fault: ${name}`)
  handler(received, response, upstream)
}

const event = Upstreams.event
const content = Upstreams.content
const role = event({ choices: [{ index: 0, delta: { role: "assistant", content: "" } }] })
const finish = (reason: string | null = "stop") => event({ choices: [{ index: 0, delta: {}, finish_reason: reason }] })
const usageEvent = (usage: unknown) => event({ choices: [], usage })
const usage = { prompt_tokens: 10, completion_tokens: 60, total_tokens: 70 }
const broken = { error: { message: "It broke.", type: "server_error", code: null } }

/** How a stream of whole content ends. */
const ending = (response: ServerResponse, ...last: ReadonlyArray<string>): void => {
  Upstreams.sse(response)
  response.end([role, ...words.map(content), ...last].join(""))
}

const answering = (
  received: Received,
  response: ServerResponse,
  more: {
    readonly text?: string
    readonly finish?: string | null
    readonly usage?: unknown
    readonly model?: string
  } = {}
): void => {
  const { text = fullText, finish: reason = "stop", model = "up-model" } = more
  const counted = "usage" in more ? more.usage : usage
  if (received.stream) {
    Upstreams.sse(response)
    const content = text === "" ? [] : text.split(/(?<= )/)
    const chunks = content.map((piece) => event({ model, choices: [{ index: 0, delta: { content: piece } }] }))
    const tail = counted === undefined ? [] : [usageEvent(counted)]
    response.end([role, ...chunks, ...(reason === null ? [] : [finish(reason)]), ...tail, Upstreams.done].join(""))
    return
  }
  send(response, {
    id: "chatcmpl-up",
    object: "chat.completion",
    created: 1,
    model,
    choices: [{ index: 0, message: { role: "assistant", content: text, refusal: null }, finish_reason: reason }],
    ...(counted === undefined ? {} : { usage: counted })
  })
}

const send = (response: ServerResponse, body: unknown): void => {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))
}

const failing = (
  response: ServerResponse,
  status: number,
  error: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {}
): void => Upstreams.error(response, status, error, headers)

const rateLimit = { message: "Slow down.", type: "requests", code: "rate_limit_exceeded" }

/** Half of what a non-streaming response would be, or the start of a stream: events, then `then`. */
const begun = (received: Received, response: ServerResponse, events: ReadonlyArray<string>, then: () => void): void => {
  if (received.stream) {
    Upstreams.sse(response)
    response.write(events.join(""), then)
  } else {
    response.writeHead(200, { "content-type": "application/json" })
    response.write(`{"id":"chatcmpl-up","object":"chat.completion","choices":[{"index":0,"message":{"con`, then)
  }
}

const none = (): void => {}
const beforeContent: ReadonlyArray<string> = [": working\n\n", role]
const halfContent: ReadonlyArray<string> = [role, ...half.map(content)]

/** Bytes without end until the reader goes away. */
const flood = (response: ServerResponse, piece: string): void => {
  const more = (): void => {
    while (!response.destroyed && response.write(piece)) {}
  }
  response.on("drain", more)
  more()
}

const faults: Readonly<Record<string, Handler>> = {
  ok: (received, response) => answering(received, response),
  /** Answers the first call of a connection and resets it at the next. */
  "reset-reused": (received, response) => {
    const { socket } = response
    if (socket === null) return
    if (used.has(socket)) socket.resetAndDestroy()
    else {
      used.add(socket)
      answering(received, response)
    }
  },
  "slow-head": none,
  "slow-content": (received, response) => {
    if (received.stream) begun(received, response, beforeContent, none)
    else response.writeHead(200, { "content-type": "application/json" }).flushHeaders()
  },
  /** A piece at a time, each well inside the idle deadline, all of them well beyond the first-content deadline. */
  trickle: (received, response) => {
    if (!received.stream) return answering(received, response)
    Upstreams.sse(response)
    const pieces = [role, ...words.map(content), finish(), usageEvent(usage), Upstreams.done]
    const timer = setInterval(() => {
      const next = pieces.splice(0, 8)
      if (next.length === 0) response.end()
      else response.write(next.join(""))
      if (next.length === 0) clearInterval(timer)
    }, 150)
    response.on("close", () => clearInterval(timer))
  },
  "stall-before-content": (received, response) => begun(received, response, beforeContent, none),
  "stall-after-content": (received, response) => begun(received, response, halfContent, none),
  "cut-before-content": (received, response) =>
    begun(received, response, beforeContent, () => response.socket?.resetAndDestroy()),
  "end-before-content": (received, response) => begun(received, response, beforeContent, () => response.end()),
  "cut-after-content": (received, response) =>
    begun(received, response, halfContent, () => response.socket?.resetAndDestroy()),
  "end-after-content": (received, response) => begun(received, response, halfContent, () => response.end()),
  "no-done": (received, response) =>
    received.stream ? ending(response, finish(), usageEvent(usage)) : answering(received, response),
  /** Finished, but the connection stays open and nothing more comes. */
  "no-done-no-end": (received, response) => {
    if (!received.stream) return answering(received, response)
    Upstreams.sse(response)
    response.write([role, ...words.map(content), finish()].join(""))
  },
  malformed: (received, response) => {
    if (received.stream) {
      Upstreams.sse(response)
      response.end(`${role}data: {broken\n\n${Upstreams.done}`)
    } else response.writeHead(200, { "content-type": "application/json" }).end("{broken")
  },
  "malformed-after-content": (_, response) => {
    Upstreams.sse(response)
    response.end([role, ...half.map(content), "data: {broken\n\n", finish(), Upstreams.done].join(""))
  },
  /** As vLLM ends a request that its engine has given up. */
  "finish-unknown": (received, response) => {
    if (!received.stream) return answering(received, response, { text: half.join(""), finish: "abort" })
    Upstreams.sse(response)
    response.end([role, ...half.map(content), finish("abort"), usageEvent(usage), Upstreams.done].join(""))
  },
  "content-after-finish": (_, response) => {
    Upstreams.sse(response)
    response.end([role, ...half.map(content), finish(), ...half.map(content), finish(), Upstreams.done].join(""))
  },
  "content-odd": (received, response) => {
    if (!received.stream) {
      return send(response, { choices: [{ index: 0, message: { content: words }, finish_reason: "stop" }] })
    }
    const odd = event({ choices: [{ index: 0, delta: { content: [fullText] } }] })
    Upstreams.sse(response)
    response.end([role, ...half.map(content), odd, finish(), Upstreams.done].join(""))
  },
  "nested-too-deep": (received, response) => {
    const deep = `[{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}]`
    if (!received.stream) {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(
        `{"choices":[{"index":0,"message":{"content":"half","annotations":${deep}},"finish_reason":"stop"}]}`
      )
      return
    }
    const odd = `data: {"choices":[{"index":0,"delta":{"annotations":${deep}}}]}\n\n`
    Upstreams.sse(response)
    response.end([role, ...half.map(content), odd, finish(), Upstreams.done].join(""))
  },
  "giant-event": (_, response) => {
    Upstreams.sse(response)
    response.write("data: ")
    flood(response, "x".repeat(65_536))
  },
  "giant-event-after-content": (_, response) => {
    Upstreams.sse(response)
    response.write([role, ...half.map(content), "data: "].join(""))
    flood(response, "x".repeat(65_536))
  },
  "giant-answer": (received, response) => {
    if (received.stream) {
      Upstreams.sse(response)
      response.write([role, ...half.map(content)].join(""))
      flood(response, `: ${"x".repeat(65_536)}\n\n`)
    } else {
      response.writeHead(200, { "content-type": "application/json" })
      response.write(`{"choices":[{"message":{"content":"`)
      flood(response, "x".repeat(65_536))
    }
  },
  html: (_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<html>captive portal</html>")
  },
  "error-200": (_, response) =>
    send(response, { error: { message: "Overloaded.", type: "overloaded_error", code: "overloaded" } }),
  "error-200-rate": (_, response) => send(response, { error: rateLimit }),
  "error-200-quota": (_, response) =>
    send(response, { error: { message: "No money.", type: "insufficient_quota", code: "insufficient_quota" } }),
  "error-first": (received, response) => {
    if (!received.stream) return send(response, broken)
    Upstreams.sse(response)
    response.end(event(broken) + Upstreams.done)
  },
  /** An error beside empty choices, as if it were a chunk; then a proper end. */
  "error-chunk": (received, response) => {
    if (!received.stream) return send(response, { choices: [], ...broken })
    Upstreams.sse(response)
    response.end(event({ choices: [], ...broken }) + finish() + Upstreams.done)
  },
  "error-after-content": (_, response) => {
    Upstreams.sse(response)
    response.end([role, ...half.map(content), event(broken), Upstreams.done].join(""))
  },
  "error-finish": (received, response) => {
    if (!received.stream) return answering(received, response, { text: half.join(""), finish: "error" })
    Upstreams.sse(response)
    response.end([role, ...half.map(content), finish("error"), Upstreams.done].join(""))
  },
  "limited-seconds": (_, response) => failing(response, 429, rateLimit, { "retry-after": "7" }),
  "limited-date": (_, response) =>
    failing(response, 429, rateLimit, { "retry-after": new Date(Date.now() + 8_000).toUTCString() }),
  "limited-millis": (_, response) => failing(response, 429, rateLimit, { "retry-after-ms": "6500" }),
  /** Ends soon enough to be waited for. */
  "limited-shortly": (_, response) => failing(response, 429, rateLimit, { "retry-after-ms": "150" }),
  "limited-bare": (_, response) => failing(response, 429, rateLimit),
  "quota-429": (_, response) =>
    failing(response, 429, { message: "No money.", type: "insufficient_quota", code: "insufficient_quota" }),
  "quota-402": (_, response) => failing(response, 402, { message: "No money.", type: "billing", code: null }),
  "overloaded-named": (_, response) =>
    failing(response, 503, { message: "Busy.", type: "overloaded_error", code: null }, { "retry-after": "7" }),
  "model-gone": (_, response) =>
    failing(response, 404, { message: "No such model.", type: "invalid_request_error", code: "model_not_found" }),
  rejected: (_, response) =>
    failing(response, 400, { message: "Bad value.", type: "invalid_request_error", code: "x", param: "stop" }),
  "too-long": (_, response) =>
    failing(response, 400, { message: "maximum context length is 8 tokens", code: "context_length_exceeded" }),
  "too-large": (_, response) => failing(response, 413, { message: "Prompt too long.", type: "x", code: null }),
  policy: (_, response) => failing(response, 400, { message: "Flagged.", type: "x", code: "content_policy_violation" }),
  filtered: (received, response) => answering(received, response, { finish: "content_filter" }),
  empty: (received, response) => answering(received, response, { text: "" }),
  blank: (received, response) => answering(received, response, { text: "", finish: null }),
  "usage-twice": (received, response) =>
    received.stream
      ? ending(
          response,
          finish(),
          usageEvent({ prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 }),
          usageEvent(usage),
          Upstreams.done
        )
      : answering(received, response),
  "usage-missing": (received, response) => answering(received, response, { usage: undefined }),
  "usage-negative": (received, response) =>
    answering(received, response, { usage: { prompt_tokens: -5, completion_tokens: -60, total_tokens: -65 } }),
  "usage-text": (received, response) =>
    answering(received, response, { usage: { prompt_tokens: "many", completion_tokens: null } }),
  "usage-huge": (received, response) =>
    answering(received, response, { usage: { prompt_tokens: 10, completion_tokens: 1_000_000_000 } }),
  "usage-unsafe": (received, response) =>
    answering(received, response, {
      usage: { prompt_tokens: Number.MAX_SAFE_INTEGER, completion_tokens: Number.MAX_SAFE_INTEGER }
    }),
  redirect: (_, response, upstream) => {
    response.writeHead(307, { location: `${upstream.origin}/elsewhere` }).end()
  },
  "other-model": (received, response) => answering(received, response, { model: "another-model" })
}

/** Connections that have served a call. */
const used = new WeakSet<Socket>()
