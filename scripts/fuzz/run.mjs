// @ts-check
// `node scripts/fuzz/run.mjs [count] [seed]`: sends requests that are changed at random to the built service, with an
// upstream that answers with answers changed at random in all four protocols, and looks for a 500, a hang, a stall of the
// event loop, or the end of the process.
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import http from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { builtBundle } from "../lib/built.mjs"
import { listen } from "../lib/listen.mjs"
import { coreOfServers, killAll, startServer, stopServer } from "../lib/processes.mjs"
import { answerOf, encoded, protocolIds } from "./answers.mjs"
import { randomOf } from "./random.mjs"
import { endpointNames, requestOf } from "./requests.mjs"

const [count, firstSeed] = [process.argv[2] ?? "2000", process.argv[3] ?? "1"].map(Number)
if (count === undefined || firstSeed === undefined || !(count > 0) || !Number.isInteger(count + firstSeed)) {
  console.error("usage: node scripts/fuzz/run.mjs [count] [seed]")
  process.exit(64)
}
const atOnce = 4
const hangMillis = 60_000
const pollMillis = 10
const maxStallMillis = 200
const key = "mrg_sk_TESTKEYTESTKEYTESTKEYTESTKEYTEST36moGh"

const agent = new http.Agent({ keepAlive: true, maxSockets: atOnce + 1 })

/** @typedef {{ body?: string, headers?: Record<string, string>, method?: string, path: string }} Sent */

/** `status` is a word where no answer came. @param {number} port @param {Sent} sent @returns {Promise<{ status: number | string, text: string }>} */
const send = (port, { body, headers = {}, method = "GET", path }) =>
  new Promise((resolve) => {
    const request = http.request({ port, path, method, headers, agent, timeout: hangMillis }, (response) => {
      /** @type {Array<Buffer>} */
      const parts = []
      response.on("data", (part) => parts.push(part))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }))
      response.on("error", () => resolve({ status: "cut", text: "" }))
    })
    request.on("timeout", () => request.destroy(new Error("hang")))
    request.on("error", (/** @type {NodeJS.ErrnoException} */ error) =>
      resolve({ status: error.code ?? error.message, text: "" })
    )
    request.end(body)
  })

const startUpstream = async () => {
  let seed = firstSeed
  const server = http.createServer((request, response) => {
    request.resume()
    request.on("end", () => {
      const random = randomOf(seed++)
      const { url = "" } = request
      const protocolId = protocolIds.find((id) => url.startsWith(`/${id}/`)) ?? "openai-chat"
      const streamed = /stream/i.test(url) || /event-?stream/.test(request.headers.accept ?? "")
      const { bytes, mediaType } = encoded(protocolId, answerOf(random, protocolId, streamed))
      const status = random.chance(0.05) ? random.pick([400, 429, 500, 503]) : 200
      response.writeHead(status, { "content-type": mediaType })
      response.end(bytes)
    })
  })
  return { server, port: await listen(server) }
}

/** @param {number} port */
const configuration = (port) => ({
  providers: protocolIds.map((protocol) => ({
    id: `fuzz-${protocol}`,
    protocol,
    baseUrl: `http://127.0.0.1:${port}/${protocol}`,
    models: [
      {
        id: `fuzz-${protocol}/m`,
        upstreamModel: "m",
        inputPriceMicroUsdPerMillion: 1_000_000,
        outputPriceMicroUsdPerMillion: 2_000_000,
        contextTokens: 200_000,
        outputTokens: 8_000,
        quality: 0.5,
        capabilities: [
          ...["tools", "vision", "structured-output", "sampling", "file-input"],
          ...(protocol === "openai-chat" || protocol === "gemini" ? ["logprobs", "audio-input"] : [])
        ]
      }
    ]
  }))
})

/** @type {[string, ...Array<string>]} */
const models = ["auto", "sim/fast", "sim/deep", ...protocolIds.map((id) => `fuzz-${id}/m`)]

/** @type {Readonly<Record<import("./requests.mjs").EndpointName, [string, ...Array<string>]>>} */
const paths = {
  chat: ["/v1/chat/completions"],
  responses: ["/v1/responses"],
  messages: ["/v1/messages", "/v1/messages", "/v1/messages/count_tokens"]
}

const upstream = await startUpstream()
const folder = await mkdtemp(join(tmpdir(), "gateway-fuzz-"))
try {
  const file = join(folder, "gateway.json")
  await writeFile(file, JSON.stringify(configuration(upstream.port)))
  const service = await startServer({
    args: [builtBundle],
    core: coreOfServers,
    env: {
      HOME: folder,
      PORT: "0",
      DATA_DIR: join(folder, "data"),
      GATEWAY_CONFIG: file,
      GATEWAY_BOOTSTRAP_KEY: key,
      GATEWAY_BOOTSTRAP_CREDIT_MICROUSD: "1000000000000",
      SIMULATED_PROVIDERS: "on"
    }
  })
  /** @type {Map<number | string, number>} */
  const statuses = new Map()
  /** @type {Array<string>} */
  const findings = []
  let maxMillis = 0
  let polling = true
  const poll = (async () => {
    while (polling) {
      const startedAt = performance.now()
      const { status } = await send(service.port, { path: "/livez" })
      const took = performance.now() - startedAt
      maxMillis = Math.max(maxMillis, took)
      if (status !== 200 || took > maxStallMillis) findings.push(`/livez ${status} after ${took.toFixed(0)} ms`)
      await new Promise((resolve) => setTimeout(resolve, pollMillis))
    }
  })()
  let next = firstSeed
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  const work = async () => {
    while (next < firstSeed + count) {
      const seed = next++
      const random = randomOf(seed)
      const endpoint = random.pick(endpointNames)
      const body = requestOf(random, endpoint, random.pick(models))
      const path = random.pick(paths[endpoint])
      const { status, text } = await send(service.port, { method: "POST", path, headers, body })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      const isOurs = typeof status === "number" && status !== 500 && !text.includes("internal_error")
      if (!isOurs) findings.push(`seed ${seed} ${endpoint}: ${status} ${text.slice(0, 200)}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  polling = false
  await poll
  await stopServer(service)
  console.log(`${count} requests from seed ${firstSeed}: ${[...statuses].map(([s, n]) => `${s}: ${n}`).join(", ")}`)
  console.log(`longest answer of /livez: ${maxMillis.toFixed(0)} ms`)
  for (const finding of findings) console.log(finding)
  console.log(`${findings.length} findings`)
  process.exitCode = findings.length === 0 ? 0 : 1
} finally {
  killAll()
  upstream.server.close()
  upstream.server.closeAllConnections()
  agent.destroy()
  await rm(folder, { recursive: true, force: true })
}
