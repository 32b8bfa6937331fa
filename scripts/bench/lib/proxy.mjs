// @ts-check
// The byte proxy that everything is measured against: node:http in front, undici behind, no look at what passes.
import http from "node:http"
import { Agent, request as call } from "undici"
import { listen } from "../../lib/listen.mjs"

const upstream = process.env["UPSTREAM"]
const dispatcher = new Agent({
  connections: null,
  pipelining: 1,
  bodyTimeout: 0,
  headersTimeout: 0,
  keepAliveTimeout: 60_000
})

/** @param {http.IncomingMessage} request @returns {Promise<Buffer>} */
const read = (request) =>
  new Promise((resolve, reject) => {
    /** @type {Array<Buffer>} */
    const parts = []
    request.on("data", (part) => parts.push(part))
    request.on("end", () => {
      const [only] = parts
      resolve(parts.length === 1 && only !== undefined ? only : Buffer.concat(parts))
    })
    request.on("error", reject)
  })

/** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
const relay = async (request, response) => {
  const gone = new AbortController()
  response.on("close", () => {
    if (!response.writableFinished) gone.abort()
  })
  try {
    const answer = await call(`${upstream}${request.url}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer upstream" },
      body: await read(request),
      signal: gone.signal,
      dispatcher
    })
    /** @type {Record<string, string | Array<string>>} */
    const headers = {}
    for (const name of ["content-type", "content-length"]) {
      const value = answer.headers[name]
      if (value !== undefined) headers[name] = value
    }
    response.writeHead(answer.statusCode, headers)
    answer.body.on("data", (bytes) => {
      if (response.write(bytes)) return
      answer.body.pause()
      response.once("drain", () => answer.body.resume())
    })
    answer.body.on("end", () => response.end())
    answer.body.on("error", () => response.destroy())
  } catch {
    if (response.headersSent) response.destroy()
    else response.writeHead(502).end()
  }
}

const server = http.createServer({ noDelay: true, keepAliveTimeout: 120_000, requestTimeout: 0 }, relay)
console.log(`http://127.0.0.1:${await listen(server, 4096)}`)
