import { type OutgoingHttpHeaders, request as rawRequest } from "node:http"
import { text } from "node:stream/consumers"
import { describe, expect, it } from "vitest"
import { codeAtStart, sendTo, startsNode } from "../../support/AccountService.ts"
import { testKey } from "../../support/Service.ts"

/** As many failures within a minute as one client may have. */
const maxFailures = 1_000

const status = async (url: string, headers: Readonly<Record<string, string>>, path = "/v1/models"): Promise<number> => {
  const response = await fetch(`${url}${path}`, { headers })
  await response.arrayBuffer()
  return response.status
}

/** The answers to requests without a valid key, `of` each of which says by what header it comes; a few at once. */
const fail = async (url: string, times: number, of: (n: number) => string): Promise<ReadonlySet<number>> => {
  const seen = new Set<number>()
  let sent = 0
  const one = async () => {
    while (sent < times) {
      sent += 1
      seen.add(await status(url, { authorization: "Bearer no-key", "x-forwarded-for": of(sent) }))
    }
  }
  await Promise.all(Array.from({ length: 8 }, one))
  return seen
}

describe("a service behind a proxy that it trusts", () => {
  const node = startsNode("embedded", { TRUSTED_PROXIES: "127.0.0.0/8, 10.0.0.0/8" })

  it("counts failures of each client by itself", async () => {
    expect(await fail(node.url, maxFailures, () => "198.51.100.1")).toEqual(new Set([401]))
    const by = (address: string, key: string, path?: string) =>
      status(node.url, { authorization: `Bearer ${key}`, "x-forwarded-for": address }, path)
    expect(await by("198.51.100.1", "no-key")).toBe(429)
    // whatever the client sends before what the proxies append
    expect(await by("192.0.2.1, 198.51.100.1, 10.0.0.4", "no-key")).toBe(429)
    expect(await by("198.51.100.2", "no-key")).toBe(401)
    expect(await by("198.51.100.1", testKey)).toBe(200)
    expect(await by("198.51.100.1", "no-identity", "/api/me")).toBe(401)
  }, 60_000)

  it("counts failed sign-ins of each client by itself, and records who has signed in", async () => {
    const api = sendTo(node.url, {})
    const signIn = async (address: string, code: string) =>
      api("POST", "/api/session", { code, transport: "bearer" }, { "x-forwarded-for": address })
    const answered = await signIn("198.51.100.9, 10.0.0.4", await codeAtStart(node))
    expect(answered.status).toBe(201)
    const { token } = (await answered.json()) as { readonly token: string }
    const identity = { authorization: `Bearer ${token}` }
    const read = async (path: string): Promise<unknown> =>
      (await fetch(`${node.url}${path}`, { headers: identity })).json()
    expect(await read("/api/session")).toMatchObject({ address: "198.51.100.9" })
    expect(await read("/api/audit?limit=1")).toMatchObject({
      items: [{ action: "session.create", address: "198.51.100.9" }]
    })

    expect(await fail(node.url, 1, () => "198.51.100.9")).toEqual(new Set([401]))
    const codes = Array.from({ length: maxFailures }, () =>
      signIn("198.51.100.3", "no code").then((sent) => sent.status)
    )
    expect(new Set(await Promise.all(codes))).toEqual(new Set([401]))
    expect((await signIn("198.51.100.3", "no code")).status).toBe(429)
    expect((await signIn("198.51.100.4", "no code")).status).toBe(401)
  }, 60_000)

  it("reads several lines of the header as one", async () => {
    const lines = { "x-forwarded-for": ["192.0.2.1", "198.51.100.8, 10.0.0.5", "10.0.0.4"] }
    const code = await codeAtStart(node)
    const { body } = await post(`${node.url}/api/session`, { code, transport: "bearer" }, lines)
    const { token } = JSON.parse(body) as { readonly token: string }
    const session = await fetch(`${node.url}/api/session`, { headers: { authorization: `Bearer ${token}` } })
    expect(await session.json()).toMatchObject({ address: "198.51.100.8" })
  })
})

describe("a service to which another host than its proxies connects", () => {
  const node = startsNode("embedded", { TRUSTED_PROXIES: "10.0.0.0/8" })

  it("counts by the connection, whatever address is sent to it", async () => {
    const seen = await fail(node.url, maxFailures, (n) => `198.51.100.${n % 250}`)
    expect(seen).toEqual(new Set([401]))
    const key = { authorization: "Bearer no-key" }
    expect(await status(node.url, { ...key, "x-forwarded-for": "198.51.100.251" })).toBe(429)
    expect(await status(node.url, key)).toBe(429)
  }, 60_000)

  it("records the address of the connection", async () => {
    const api = sendTo(node.url, { "x-forwarded-for": "198.51.100.1" })
    const signedIn = await api("POST", "/api/session", { code: await codeAtStart(node), transport: "bearer" })
    const { token } = (await signedIn.json()) as { readonly token: string }
    const session = await api("GET", "/api/session", undefined, { authorization: `Bearer ${token}` })
    expect(await session.json()).toMatchObject({ address: "127.0.0.1" })
  })
})

/** `fetch` sends one line of each header. */
const post = (url: string, body: unknown, headers: OutgoingHttpHeaders) =>
  new Promise<{ readonly body: string }>((resolve, reject) => {
    const sent = rawRequest(
      url,
      { method: "POST", headers: { "content-type": "application/json", ...headers } },
      (response) => text(response).then((answer) => resolve({ body: answer }), reject)
    )
    sent.once("error", reject).end(JSON.stringify(body))
  })
