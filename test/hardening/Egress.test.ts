// Promise: No egress that the client controls.
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { createServer } from "node:net"
import { afterAll, beforeAll, expect, it } from "vitest"
import { figure } from "../support/Figures.ts"
import { callerKey } from "../support/InProcess.ts"
import { type HardeningHarness, paths, startHardeningHarness } from "./HardeningHarness.ts"

let harness: HardeningHarness
let connections = 0
const recorder = createServer((socket) => {
  connections++
  socket.destroy()
})
let elsewhere = ""
beforeAll(async () => {
  harness = await startHardeningHarness()
  recorder.listen(0, "127.0.0.1")
  await once(recorder, "listening")
  elsewhere = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}/v1`
})
afterAll(async () => {
  recorder.close()
  await harness.stop()
})

const fields = [
  "api_base",
  "base_url",
  "baseURL",
  "api_url",
  "endpoint",
  "url",
  "proxy",
  "host",
  "custom_host",
  "api_key",
  "api_version",
  "azure_endpoint",
  "organization",
  "headers",
  "extra_headers",
  "default_headers",
  "extra_body",
  "extra_query",
  "http_options",
  "fallbacks",
  "callbacks",
  "success_callback",
  "webhook",
  "webhook_url",
  "mcp_servers",
  "litellm_params",
  "config",
  "route"
]
const headers = [
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-original-url",
  "x-rewrite-url",
  "x-portkey-custom-host",
  "x-portkey-config",
  "x-portkey-provider",
  "x-base-url",
  "x-api-base",
  "x-upstream",
  "openai-organization",
  "openai-project",
  "helicone-target-url",
  "forwarded",
  "via",
  "referer",
  "origin"
]

it("nothing in a request says where it goes, and nothing but known fields is passed on", async () => {
  const value = () => ({ url: elsewhere, authorization: "Bearer canary-of-the-client" })
  const hostile = Object.fromEntries(fields.map((field, index) => [field, index % 2 === 0 ? elsewhere : value()]))
  const bodies = [
    { messages: [{ role: "user", content: "hi", ...hostile }], input: undefined },
    { input: [{ role: "user", content: "hi" }] },
    {
      messages: [
        {
          role: "user",
          content: [{ type: "image_url", image_url: { url: `${elsewhere.replace("http:", "https:")}/picture.png` } }]
        }
      ]
    }
  ]
  for (const body of bodies) {
    const before = harness.upstream.requests.length
    const response = await fetch(
      `${harness.gateway.url}${"input" in body && body.input !== undefined ? paths[1] : paths[0]}`,
      {
        method: "POST",
        headers: {
          authorization: `Bearer ${callerKey}`,
          "content-type": "application/json",
          cookie: "session=canary-of-the-client",
          ...Object.fromEntries(headers.map((name) => [name, elsewhere]))
        },
        body: JSON.stringify({ ...hostile, ...body, model: "one/ok" })
      }
    )
    expect(response.status).toBe(200)
    await response.text()
    const received = harness.upstream.requests[before]
    expect(Object.keys(received?.headers ?? {}).sort()).toEqual([
      "accept",
      "connection",
      "content-length",
      "content-type",
      "host",
      "user-agent"
    ])
    const text = received?.text.replace(`${elsewhere}/picture.png`, "") ?? ""
    for (const hidden of [elsewhere, "canary", callerKey, ...fields.map((field) => `"${field}"`)]) {
      if (hidden !== '"url"') expect(text).not.toContain(hidden)
    }
  }
  expect(connections).toBe(0)
  figure(
    "fields and headers that could have led elsewhere; connections made",
    `${fields.length + headers.length}; ${connections}`
  )
})
