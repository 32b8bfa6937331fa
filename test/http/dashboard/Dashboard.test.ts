import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { brotliCompressSync, gzipSync } from "node:zlib"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { RequestId } from "../../../src/domain/Ids.ts"
import { Dashboard } from "../../../src/http/dashboard/Dashboard.ts"
import { openAiFormat } from "../../../src/http/WireFormat.ts"

const script = "console.log('the app')"
const html =
  '<meta name="gateway-sign-in" content="__SIGN_IN__"><script src="/a.js" nonce="__NONCE__"></script><meta nonce="__NONCE__">'

/** A request as it is sent: `fetch` would decode the body, and hide a redirect. */
const ask = (
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = "GET"
): Promise<{ readonly status: number; readonly headers: Http.IncomingHttpHeaders; readonly body: Buffer }> =>
  new Promise((resolve, reject) => {
    const request = Http.request(`${url}${path}`, { method, headers, agent: false }, (response) => {
      const parts: Array<Buffer> = []
      response.on("data", (part: Buffer) => parts.push(part))
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) })
      )
    })
    request.once("error", reject)
    request.end()
  })

let url = ""
let root = ""
let server: Http.Server

/** As the build writes it. */
const writeApp = async () => {
  const folder = join(root, "dashboard")
  await mkdir(join(folder, "assets"), { recursive: true })
  await writeFile(join(folder, "index.html"), html)
  await writeFile(join(folder, "scheme.js"), "scheme()")
  await writeFile(join(folder, "assets/app-1.js"), script)
  await writeFile(join(folder, "assets/app-1.js.br"), brotliCompressSync(script))
  await writeFile(join(folder, "assets/app-1.js.gz"), gzipSync(script))
}

/** Serves what is in the folder at this moment. */
const serve = async () => {
  const dashboard = await Effect.runPromise(Effect.provide(Dashboard, Dashboard.layer("link", root)))
  const requestId = RequestId.make("00000000-0000-7000-8000-000000000001")
  server = Http.createServer((request, response) => {
    if (
      dashboard.answer({ request, response, requestId, format: openAiFormat }, (request.url ?? "").split("?")[0] ?? "")
    )
      return
    response.writeHead(404).end("none of its paths")
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "gateway-dashboard-"))
})
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve))
  await rm(root, { recursive: true })
})

describe("while the web app is being built", () => {
  it("a browser sees a page that reloads itself until the app is there", async () => {
    await writeFile(join(root, ".dashboard-building"), "")
    // of a former build, whose sources have changed
    await writeApp()
    await serve()
    for (const path of ["/", "/dashboard", "/dashboard/", "/dashboard/assets/app-1.js"]) {
      const waiting = await ask(path, { accept: "text/html" })
      expect([waiting.status, waiting.headers.refresh, waiting.headers["retry-after"]]).toEqual([503, "1", "1"])
      expect(waiting.body.toString()).toContain("is being built")
    }
    expect((await ask("/", { accept: "application/json" })).status).toBe(404)
    expect((await ask("/v1/models")).status).toBe(404)
    await rm(join(root, ".dashboard-building"))
    expect((await ask("/dashboard/", { accept: "text/html" })).body.toString()).toContain('content="link"')
    expect((await ask("/", { accept: "text/html" })).headers.location).toBe("/dashboard/")
  })

  it("and has no pages when the build has failed", async () => {
    await writeFile(join(root, ".dashboard-building"), "")
    await serve()
    expect((await ask("/dashboard/")).status).toBe(503)
    await rm(join(root, ".dashboard-building"))
    expect((await ask("/dashboard/")).status).toBe(404)
  })
})

describe("the web app", () => {
  beforeEach(async () => {
    await writeApp()
    await serve()
  })

  it("is where a browser that opens the service is led, and nobody else", async () => {
    const browser = await ask("/", { accept: "text/html,application/xhtml+xml" })
    expect([browser.status, browser.headers.location, browser.headers.vary]).toEqual([303, "/dashboard/", "accept"])
    expect((await ask("/", { accept: "application/json" })).status).toBe(404)
    expect((await ask("/", { accept: "text/html" }, "POST")).status).toBe(404)
    expect((await ask("/dashboard")).headers.location).toBe("/dashboard/")
  })

  it("answers every page with a nonce of its own, under a policy that allows nothing else", async () => {
    const answers = await Promise.all([ask("/dashboard/"), ask("/dashboard/p/x/keys"), ask("/dashboard/")])
    const nonces = answers.map(({ body, headers, status }) => {
      expect(status).toBe(200)
      expect(headers["cache-control"]).toBe("no-store")
      expect(headers["x-content-type-options"]).toBe("nosniff")
      expect(headers["referrer-policy"]).toBe("same-origin")
      expect(headers["cross-origin-opener-policy"]).toBe("same-origin")
      expect(headers["cross-origin-resource-policy"]).toBe("same-origin")
      const policy = String(headers["content-security-policy"])
      const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? ""
      expect(policy).toBe(
        `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`
      )
      expect(body.toString()).toBe(html.replaceAll("__NONCE__", nonce).replace("__SIGN_IN__", "link"))
      return nonce
    })
    expect(new Set(nonces).size).toBe(3)
    expect(nonces.every((nonce) => Buffer.from(nonce, "base64").length === 16)).toBe(true)
  })

  it.each([
    [{ "accept-encoding": "gzip, deflate, br" }, "br"],
    [{ "accept-encoding": "gzip" }, "gzip"],
    [{ "accept-encoding": "br;q=0, gzip;q=0.5" }, "gzip"],
    [{ "accept-encoding": "identity" }, undefined],
    [{}, undefined]
  ])("sends an asset to a client with %o as %s", async (headers, encoding) => {
    const { body, headers: sent, status } = await ask("/dashboard/assets/app-1.js", headers)
    expect([status, sent["content-encoding"], sent["content-type"]]).toEqual([
      200,
      encoding,
      "text/javascript; charset=utf-8"
    ])
    expect(sent["cache-control"]).toBe("public, max-age=31536000, immutable")
    expect(sent.vary).toBe("accept-encoding")
    const expected = { br: brotliCompressSync(script), gzip: gzipSync(script) }[encoding ?? ""] ?? Buffer.from(script)
    expect(body).toEqual(expected)
  })

  it("does not send again what the browser has", async () => {
    const { headers } = await ask("/dashboard/scheme.js")
    expect(headers["cache-control"]).toBe("no-cache")
    const again = await ask("/dashboard/scheme.js", { "if-none-match": String(headers.etag) })
    expect([again.status, again.body.length]).toEqual([304, 0])
  })

  it("has no page in place of an asset that is gone, and takes no other method", async () => {
    const gone = await ask("/dashboard/assets/app-0.js")
    expect([gone.status, JSON.parse(gone.body.toString()).error.code]).toEqual([404, "unknown_path"])
    const posted = await ask("/dashboard/", {}, "POST")
    expect([posted.status, JSON.parse(posted.body.toString()).error.code]).toEqual([400, "method_not_allowed"])
    const head = await ask("/dashboard/", {}, "HEAD")
    expect([head.status, head.body.length, Number(head.headers["content-length"]) > 0]).toEqual([200, 0, true])
  })

  it("leaves all other paths to the service", async () => {
    for (const path of ["/dashboards", "/v1/models", "/dashboard.js"]) expect((await ask(path)).status).toBe(404)
  })
})
