// @ts-check
// `npm run bench:stalls [bundle]`: how long one request holds the event loop, for shapes that have been hard on some step, at
// their size and at ten times their size; then what /livez takes while all of them run for a while.
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { builtBundle } from "../../lib/built.mjs"
import { listen } from "../../lib/listen.mjs"
import { coreOfServers, killAll, startServer } from "../../lib/processes.mjs"

const maxBodyBytes = 20 * 1024 * 1024
const requestMillis = 10_000
const pollMillis = 5
const loopMillis = 20_000
/** Valid everywhere and secret nowhere. */
const key = "mrg_sk_TESTKEYTESTKEYTESTKEYTESTKEYTEST36moGh"
const protocols = ["openai-chat", "anthropic-messages", "gemini", "bedrock-converse"]

/** @typedef {Readonly<Record<string, unknown>>} Body */
/** @typedef {{ size: number, make: (size: number) => Body, path?: string }} Shape */

/** @template T @param {number} count @param {(at: number) => T} make @returns {Array<T>} */
const times = (count, make) => Array.from({ length: count }, (_, at) => make(at))
/** @param {unknown} content */
const user = (content) => ({ role: "user", content })
/** @param {ReadonlyArray<string>} ids */
const calls = (ids) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } }))
})
/** @param {string} url */
const image = (url) => [user([{ type: "image_url", image_url: { url } }])]
/** @param {number} depth @returns {Body} */
const nested = (depth) => (depth === 0 ? { type: "string" } : { type: ["array", "array"], items: nested(depth - 1) })
/** @param {Body} schema */
const strict = (schema) => ({ response_format: { type: "json_schema", json_schema: { name: "s", schema } } })

/** @param {number} at */
const tool = (at) => {
  const property = { type: "string", description: `A property of tool ${at}`, enum: ["a", "b", "c"] }
  const properties = Object.fromEntries(times(12, (name) => [`property_${name}`, property]))
  const parameters = { type: "object", properties, required: Object.keys(properties), additionalProperties: false }
  return { type: "function", function: { name: `tool_${at}`, strict: true, parameters } }
}

/** By name; the path is given where it is not chat completions. @type {Readonly<Record<string, Shape>>} */
const shapes = {
  "nested unions of types": { size: 4, make: (n) => ({ messages: [user("f")], ...strict(nested(Math.min(n, 40))) }) },
  "calls of one id": { size: 1_000, make: (n) => ({ messages: [calls(times(n, () => "same"))] }) },
  "results of one call": {
    size: 1_900,
    make: (n) => ({ messages: [calls(["a"]), ...times(n, () => ({ role: "tool", tool_call_id: "a", content: "r" }))] })
  },
  "padding in a data URL": {
    size: 10_000,
    make: (n) => ({ messages: image(`data:image/png;base64,${"=".repeat(n)}x`) })
  },
  "a data URL without a comma": { size: 20_000, make: (n) => ({ messages: image(`data:${"a".repeat(n)}`) }) },
  "assistant items after a call": {
    size: 1_900,
    make: (n) => ({
      input: [
        { type: "function_call", call_id: "a", name: "f", arguments: "{}" },
        ...times(n, (at) => ({ type: "message", role: "assistant", content: `m${at}` }))
      ]
    }),
    path: "/v1/responses"
  },
  "one long text": { size: 1_900_000, make: (n) => ({ messages: [user("lorem ipsum ".repeat(n / 12))] }) },
  "a large image": {
    size: 1_900_000,
    make: (n) => ({ messages: image(`data:image/png;base64,${"QUFB".repeat(n / 4)}`) })
  },
  "many messages": { size: 2_000, make: (n) => ({ messages: times(Math.min(n, 19_900), (at) => user(`m${at}`)) }) },
  "many tools": { size: 102, make: (n) => ({ messages: [user("f")], tools: times(n, tool) }) },
  "many marks": {
    size: 29_000,
    make: (n) => ({ messages: [user("f")], metadata: Object.fromEntries(times(n / 2, (at) => [`k${at}`, "v"])) })
  }
}

const answer = JSON.stringify({
  error: { message: `${"violat".repeat(10_000)}`, type: "invalid_request_error" }
})
const upstream = createServer((incoming, response) => {
  incoming.resume()
  incoming.on("end", () => response.writeHead(400, { "content-type": "application/json" }).end(answer))
})
const upstreamPort = await listen(upstream)

/** @type {Readonly<Record<string, string>>} */
const basePaths = { "openai-chat": "/v1", "anthropic-messages": "/v1", gemini: "/v1beta", "bedrock-converse": "" }
const configuration = {
  providers: protocols.map((protocol) => ({
    id: protocol,
    protocol,
    baseUrl: `http://127.0.0.1:${upstreamPort}${basePaths[protocol]}`,
    models: [
      {
        id: `${protocol}/m`,
        upstreamModel: "m",
        inputPriceMicroUsdPerMillion: 1,
        outputPriceMicroUsdPerMillion: 1,
        contextTokens: 100_000_000,
        outputTokens: 1_000,
        capabilities: ["tools", "vision", "structured-output", "sampling", "file-input"]
      }
    ]
  }))
}

const folder = await mkdtemp(join(tmpdir(), "gateway-stalls-"))
const file = join(folder, "gateway.json")
await writeFile(file, JSON.stringify(configuration))
const start = () =>
  startServer({
    args: [process.argv[2] ?? builtBundle],
    core: coreOfServers,
    env: {
      HOME: folder,
      PORT: "0",
      DATA_DIR: join(folder, "data"),
      GATEWAY_CONFIG: file,
      SIMULATED_PROVIDERS: "on",
      LOG_LEVEL: "Error",
      GATEWAY_BOOTSTRAP_KEY: key,
      GATEWAY_BOOTSTRAP_CREDIT_MICROUSD: "1000000000000"
    }
  })

let server = await start()

/** The status, or 0 when nothing came in time. @param {string} method @param {string} path @param {string} [body] @returns {Promise<number>} */
const send = (method, path, body) =>
  new Promise((resolve) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const outgoing = request(
      { port: server.port, host: "127.0.0.1", method, path, headers, agent: false },
      (response) => {
        response.resume()
        response.on("end", () => resolve(response.statusCode ?? 0))
      }
    )
    outgoing.on("error", () => resolve(0))
    outgoing.setTimeout(requestMillis, () => outgoing.destroy())
    outgoing.end(body)
  })

/** Asks for /livez again and again until `isOver`; what each took. @param {() => boolean} isOver */
const poll = async (isOver) => {
  const waits = []
  while (!isOver()) {
    const begun = performance.now()
    await send("GET", "/livez")
    waits.push(performance.now() - begun)
    await new Promise((resolve) => setTimeout(resolve, pollMillis))
  }
  return waits
}

const replace = async () => {
  server.child.kill("SIGKILL")
  await new Promise((resolve) => server.child.once("exit", resolve))
  server = await start()
}

/** @param {Shape["make"]} make @param {number} size @param {string} model */
const bodyOf = (make, size, model) => JSON.stringify({ model, stream: false, ...make(size) })
/** @param {string | number} text @param {number} width */
const column = (text, width) => String(text).padEnd(width)
/** @type {Array<{ path: string, body: string }>} */
const survived = []

try {
  console.log(
    `${column("shape", 30)} ${column("model", 22)} ${column("KiB", 8)} ${column("stall ms", 9)} ${column("ms", 7)} status`
  )
  for (const [name, { size, make, path = "/v1/chat/completions" }] of Object.entries(shapes)) {
    for (const model of [...protocols.map((protocol) => `${protocol}/m`), "sim/fast"]) {
      for (const factor of [1, 10]) {
        const body = bodyOf(make, size * factor, model)
        if (body.length > maxBodyBytes) continue
        let isOver = false
        const polled = poll(() => isOver)
        const begun = performance.now()
        /** @type {Promise<"no answer">} */
        const deadline = new Promise((resolve) => setTimeout(resolve, requestMillis, "no answer"))
        const status = await Promise.race([send("POST", path, body), deadline])
        const took = performance.now() - begun
        isOver = true
        if (status === "no answer" || status === 0) await replace()
        else if (factor === 1) survived.push({ path, body })
        const stall = Math.max(...(await polled))
        console.log(
          `${column(name, 30)} ${column(model, 22)} ${column(Math.round(body.length / 1024), 8)} ${column(Math.round(stall), 9)} ${column(Math.round(took), 7)} ${status}`
        )
      }
    }
  }
  let isOver = false
  const polled = poll(() => isOver)
  const end = performance.now() + loopMillis
  while (performance.now() < end) {
    for (const { body, path } of survived) await send("POST", path, body)
  }
  isOver = true
  const waits = (await polled).sort((a, b) => a - b)
  const quantile = (/** @type {number} */ share) =>
    Math.round(waits[Math.min(waits.length - 1, Math.floor(share * waits.length))] ?? Number.NaN)
  console.log(`/livez meanwhile: p50 ${quantile(0.5)} ms, p99 ${quantile(0.99)} ms, max ${quantile(1)} ms`)
} finally {
  killAll()
  upstream.close()
  upstream.closeAllConnections()
  await rm(folder, { recursive: true, force: true })
}
