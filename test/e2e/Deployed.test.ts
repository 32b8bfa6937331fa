// Promise: what the examples of deployment copy is all that the service needs.
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Service, startService } from "../support/Service.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))

let folder: string
let service: Service
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gateway-deployed-"))
  await mkdir(join(folder, "dist"))
  await cp(join(root, "dist"), join(folder, "dist"), {
    recursive: true,
    filter: (source) => !source.startsWith(join(root, "dist/library"))
  })
  await cp(join(root, "package.json"), join(folder, "package.json"))
  service = await startService({ bundle: join(folder, "dist/main.js"), env: { NODE_ENV: "production" } })
}, 90_000)
afterAll(async () => {
  expect(await service.stop()).toBe(0)
  await rm(folder, { recursive: true, force: true })
})

it("serves calls and its pages from a folder of its own", async () => {
  const answer = await service.client.chat.completions.create({
    model: "auto",
    messages: [{ role: "user", content: "Say hello." }]
  })
  expect(answer.choices[0]?.finish_reason).toBe("stop")
  for (const path of ["/livez", "/readyz", "/dashboard/"]) {
    const response = await service.fetch(path, { headers: { accept: "text/html" } })
    expect([path, response.status]).toEqual([path, 200])
  }
})

it("reads the document and its page, since to make them holds the event loop", async () => {
  for (const [path, file] of [
    ["/openapi.json", "openapi.json"],
    ["/docs", "docs.html"]
  ] as const) {
    // before the first request for it
    const written = `another ${file}`
    await writeFile(join(folder, "dist/documents", file), written)
    await writeFile(join(folder, "dist/documents", `${file}.gz`), gzipSync(`${written}, by gzip`))
    const asked = async (encoding: string) => {
      const response = await service.fetch(path, { headers: { "accept-encoding": encoding } })
      return [response.headers.get("vary"), response.headers.get("content-encoding"), await response.text()]
    }
    expect(await asked("gzip, br")).toEqual(["accept-encoding", "gzip", `${written}, by gzip`])
    expect(await asked("identity")).toEqual(["accept-encoding", null, written])
  }
})
