// @ts-check
// A provider for benchmarks: chat completions, plain and streamed, as fast as node can. What it does is told by knobs in
// any message of the request, as in "mock;ttfb=20;chunks=50;gap=10;size=24":
//   ttfb  milliseconds before the first byte          chunks  pieces of a streamed answer
//   gap   milliseconds between pieces, 0 for none     size    characters of a piece or of a non-streaming response
//   hold  1: after the pieces say nothing more and stay open
// Every piece carries the monotonic time of its sending as ~T<microseconds>~, so that a client can time its way.
// GET /stats tells how many streams are open and how many were left by their readers.
import http from "node:http"
import { listen } from "../../lib/listen.mjs"

/** @typedef {{ ttfb: number, chunks: number, gap: number, size: number, hold: number }} Knobs */

/** @type {Knobs} */
const defaults = { ttfb: 0, chunks: 20, gap: 0, size: 24, hold: 0 }
const created = 1_760_000_000
const stats = { requests: 0, open: 0, abandoned: 0 }
let sequence = 0

/** @type {Map<number, string>} */
const fillers = new Map()
/** @param {number} size */
const filler = (size) => {
  const known = fillers.get(size)
  if (known !== undefined) return known
  const text = "lorem ipsum ".repeat(Math.ceil(size / 12)).slice(0, size)
  fillers.set(size, text)
  return text
}
/** @param {number} size */
const marked = (size) => `~T${Number(process.hrtime.bigint() / 1000n)}~${filler(size)}`

/** One timer for all paced streams: thousands of them must not cost a timer each. */
/** @type {Array<{ at: number, run: () => void }>} */
const due = []
let isTicking = false
/** @param {number} millis @param {() => void} run */
const after = (millis, run) => {
  due.push({ at: performance.now() + millis, run })
  if (!isTicking) setTimeout(tick, 1)
  isTicking = true
}
const tick = () => {
  const now = performance.now()
  const ready = []
  let kept = 0
  for (const one of due) {
    if (one.at <= now) ready.push(one.run)
    else due[kept++] = one
  }
  due.length = kept
  for (const run of ready) run()
  isTicking = due.length > 0
  if (isTicking) setTimeout(tick, 1)
}

/** Only the head and the tail of a long body are read: the knobs and `stream` are there, and parsing would cost. @param {Buffer} body */
const scanned = (body) =>
  body.length <= 4096
    ? body.toString("latin1")
    : body.toString("latin1", 0, 2048) + body.toString("latin1", body.length - 2048)

/** @param {string} text */
const knobsOf = (text) => {
  /** @type {Record<string, number>} */
  const knobs = { ...defaults }
  const given = /mock;([a-z0-9=;]*)/.exec(text)?.[1] ?? ""
  for (const pair of given.split(";")) {
    const [name, value] = pair.split("=")
    if (name !== undefined && name in knobs) knobs[name] = Number(value)
  }
  return { ...defaults, ...knobs }
}

/** @param {http.ServerResponse} response @param {Knobs} knobs */
const answerPlain = (response, { size }) => {
  const body = `{"id":"mock-${++sequence}","object":"chat.completion","created":${created},"model":"mock","choices":[{"index":0,"message":{"role":"assistant","content":"${marked(size)}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}}`
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
  response.end(body)
}

/** @param {http.ServerResponse} response @param {Knobs} knobs */
const answerStream = (response, { chunks, gap, hold, size }) => {
  const head = `data: {"id":"mock-${++sequence}","object":"chat.completion.chunk","created":${created},"model":"mock","choices":[{"index":0,"delta":`
  let sent = 0
  let whole = false
  stats.open++
  response.on("close", () => {
    stats.open--
    if (!whole) stats.abandoned++
  })
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
  const next = () => {
    if (response.destroyed) return
    if (sent === chunks) {
      if (hold) return
      whole = true
      const usage = `"usage":{"prompt_tokens":100,"completion_tokens":${chunks},"total_tokens":${100 + chunks}}`
      response.end(`${head}{},"finish_reason":"stop"}],${usage}}\n\ndata: [DONE]\n\n`)
      return
    }
    sent++
    const drained = response.write(`${head}{"content":"${marked(size)}"},"finish_reason":null}]}\n\n`)
    if (gap > 0) after(gap, next)
    else if (drained) setImmediate(next)
    else response.once("drain", next)
  }
  next()
}

const server = http.createServer(
  { noDelay: true, keepAliveTimeout: 120_000, requestTimeout: 0 },
  (request, response) => {
    if (request.url === "/stats") return response.end(JSON.stringify(stats))
    /** @type {Array<Buffer>} */
    const parts = []
    request.on("data", (part) => parts.push(part))
    request.on("end", () => {
      stats.requests++
      const [only] = parts
      const text = scanned(parts.length === 1 && only !== undefined ? only : Buffer.concat(parts))
      const knobs = knobsOf(text)
      const answer = /"stream"\s*:\s*true/.test(text) ? answerStream : answerPlain
      if (knobs.ttfb > 0) after(knobs.ttfb, () => answer(response, knobs))
      else answer(response, knobs)
    })
  }
)
console.log(`http://127.0.0.1:${await listen(server, 4096)}`)
