import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, expect, it } from "vitest"
import { pathLabel } from "../../../src/http/server/PathLabel.ts"
import { type InProcess, startInProcess } from "../../support/InProcess.ts"

let gateway: InProcess
beforeAll(async () => {
  gateway = await startInProcess({ origins: {}, models: [] })
})
afterAll(() => gateway.stop())

const responses = async (): Promise<Record<string, number>> => {
  const page = await (await fetch(`${gateway.url}/metrics`)).text()
  const found = page.matchAll(/^gateway_http_responses_total\{path="(.*)",status="(\d+)"\} (\d+)$/gm)
  return Object.fromEntries([...found].map(([, path, status, count]) => [`${path} ${status}`, Number(count)]))
}

const sent = (head: string): Promise<string> => {
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1")
  socket.write(head)
  return text(socket)
}

it("every response is counted, by a path without ids", async () => {
  const before = await responses()
  const id = "0b0f1f0e-0000-4000-8000-000000000000"
  for (const path of [
    "/livez",
    "/v1/models",
    "/v1/models/one/nothing",
    "/v1/key",
    `/api/projects/${id}`,
    `/api/nothing/${id}`,
    "/nothing"
  ]) {
    await (await fetch(`${gateway.url}${path}`)).text()
  }
  expect(await sent("GET /livez HTTP/1.1\r\n\r\n")).toContain(" 400 ")
  expect(await sent("no request\r\n\r\n")).toContain(" 400 ")
  const after = await responses()
  const more = Object.entries(after).flatMap(([name, count]) =>
    count === before[name] ? [] : [[name, count - (before[name] ?? 0)]]
  )
  expect(Object.fromEntries(more)).toEqual({
    "/livez 200": 1,
    "/livez 400": 1,
    "/metrics 200": 1,
    "/v1/models 401": 1,
    "/v1/models/:id 401": 1,
    "/v1/key 401": 1,
    "/api/projects/:id 404": 1,
    "unknown 404": 2,
    "unknown 400": 1
  })
})

it.each([
  ["/", "/"],
  ["/v1/chat/completions", "/v1/chat/completions"],
  ["/api/projects/1/chat/completions", "/api/projects/:id/chat/completions"],
  ["/api/projects/1/keys", "/api/projects/:id/keys"],
  ["/content/images/1", "/content/images/:id"],
  ["/webhooks/stripe", "/webhooks/stripe"],
  ["/dashboard", "/dashboard/"],
  ["/dashboard/assets/a.js", "/dashboard/"],
  ["/api/", "unknown"],
  ["/dashboards", "unknown"]
])("the path %s is counted as %s", (path, label) => {
  expect(pathLabel(path)).toBe(label)
})
