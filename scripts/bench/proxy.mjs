// The byte proxy that everything is measured against: node:http in front, undici behind, no look at what passes.
import http from "node:http"
import { Agent, request as call } from "undici"

const upstream = process.env.UPSTREAM
const dispatcher = new Agent({
  connections: null,
  pipelining: 1,
  bodyTimeout: 0,
  headersTimeout: 0,
  keepAliveTimeout: 60_000
})

const read = (request) =>
  new Promise((resolve, reject) => {
    const parts = []
    request.on("data", (part) => parts.push(part))
    request.on("end", () => resolve(parts.length === 1 ? parts[0] : Buffer.concat(parts)))
    request.on("error", reject)
  })

const relay = async (request, response) => {
  const gone = new AbortController()
  response.on("close", () => {
    if (!response.writableFinished) gone.abort()
  })
  try {
    const answer = await call(upstream + request.url, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer upstream" },
      body: await read(request),
      signal: gone.signal,
      dispatcher
    })
    const headers = { "content-type": answer.headers["content-type"] }
    const length = answer.headers["content-length"]
    if (length !== undefined) headers["content-length"] = length
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
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
  console.log(`http://127.0.0.1:${server.address().port}`)
})
