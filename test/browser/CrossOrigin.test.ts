// Promise: A page on another port of the same host, whose requests carry the cookie, changes and reads nothing.
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import * as Effect from "effect/Effect"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { AuditStore } from "../../src/audit/AuditStore.ts"
import { AccountId } from "../../src/domain/Ids.ts"
import { type AccountNode, codeAtStart, sendTo, startNode } from "../support/AccountService.ts"
import { hasChromium, launchChromium } from "../support/Chromium.ts"
import { leave, open } from "./Navigation.ts"

describe.skipIf(!hasChromium)("a page on another port of the gateway's host", () => {
  let node: AccountNode
  let server: Server
  let otherUrl: string
  const cookies: Array<string> = []
  let browser: Browser
  let own: Page
  let other: Page
  let csrfToken: string
  let accountId: AccountId
  beforeAll(async () => {
    node = await startNode({ DATA_DIR: ":memory:" })
    server = createServer((request, response) => {
      cookies.push(request.headers.cookie ?? "")
      response.writeHead(200, { "content-type": "text/html" })
      response.end("<!doctype html><title>another page</title><body></body>")
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    otherUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await launchChromium()
    const profile = await browser.newContext()
    own = await profile.newPage()
    other = await profile.newPage()
    await open(own, `${node.url}/livez`)
    const code = await codeAtStart(node)
    csrfToken = await own.evaluate<string>(`
      fetch("/api/session", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code: ${JSON.stringify(code)}, transport: "cookie" })
      }).then((response) => response.json()).then((session) => session.csrf_token)`)
    const me = await own.evaluate<{ readonly accounts: ReadonlyArray<{ readonly id: string }> }>(
      `fetch("/api/me", { headers: { "x-csrf-token": ${JSON.stringify(csrfToken)} } }).then((response) => response.json())`
    )
    accountId = AccountId.make(me.accounts[0]?.id ?? "")
    await open(other, otherUrl)
  }, 120_000)
  afterAll(async () => {
    await browser.close()
    server.closeAllConnections()
    server.close()
    await node.stop()
  })

  const changes = async () =>
    (await node.run(Effect.flatMap(AuditStore, (audit) => audit.chain(accountId, 0, 1_000)))).map(
      ({ action }) => action
    )
  /** What a request of the other page comes to: its status, `opaque` where the page cannot see it, `blocked` where it fails. */
  const request = (path: string, init: object = {}) =>
    other.evaluate<string>(`
      fetch(${JSON.stringify(node.url + path)}, { credentials: "include", ...${JSON.stringify(init)} })
        .then(async (response) => response.type === "opaque" ? "opaque " + (await response.text()).length : String(response.status))
        .catch(() => "blocked")`)

  it("has the cookie, which the browser sends to every port of a host", () => {
    const name = `gateway_session_${new URL(node.url).port}=`
    expect(cookies.filter((cookie) => cookie.includes(name)).length).toBeGreaterThan(0)
  })

  it("reads nothing, by whatever kind of request", async () => {
    const before = await changes()
    for (const path of ["/api/me", "/api/session", "/api/me/keys", "/api/me/balance", "/api/audit"]) {
      expect([path, await request(path)]).toEqual([path, "blocked"])
      expect([path, await request(path, { mode: "no-cors" })]).toEqual([path, "opaque 0"])
      // asks first whether it may send the header, which it may not
      expect([path, await request(path, { headers: { "x-csrf-token": csrfToken } })]).toEqual([path, "blocked"])
    }
    const seen = await other.evaluate<string>(`
      new Promise((resolve) => {
        const frame = document.createElement("iframe")
        frame.onload = () => {
          try { resolve("read " + frame.contentDocument.body.innerText) } catch (error) { resolve(error.name) }
        }
        frame.src = ${JSON.stringify(`${node.url}/api/me`)}
        document.body.append(frame)
      })`)
    expect(["SecurityError", "TypeError"]).toContain(seen)
    const script = await other.evaluate<string>(`
      new Promise((resolve) => {
        const script = document.createElement("script")
        script.onload = () => resolve("loaded")
        script.onerror = () => resolve("failed")
        script.src = ${JSON.stringify(`${node.url}/api/me`)}
        document.body.append(script)
      })`)
    expect(script).toBe("failed")
    expect(await changes()).toEqual(before)
  }, 60_000)

  it("changes nothing, by whatever kind of request", async () => {
    const before = await changes()
    const body = JSON.stringify({ name: "by another page" })
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      const init = { method: "POST", mode: "no-cors", headers: { "content-type": type }, body }
      expect([type, await request("/api/me/projects", init)]).toEqual([type, "opaque 0"])
    }
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const init = { method, headers: { "content-type": "application/json", "x-csrf-token": csrfToken }, body }
      expect([method, await request("/api/me/projects", init)]).toEqual([method, "blocked"])
    }
    expect(await request("/api/session", { method: "DELETE" })).toBe("blocked")
    expect(
      await other.evaluate(
        `navigator.sendBeacon(${JSON.stringify(`${node.url}/api/me/projects`)}, ${JSON.stringify(body)})`
      )
    ).toBe(true)
    // a form, whose answer the browser shows
    const shown = await leave(
      other,
      `
      const form = document.createElement("form")
      form.method = "post"
      form.enctype = "text/plain"
      form.action = ${JSON.stringify(`${node.url}/api/me/projects`)}
      const input = document.createElement("input")
      input.name = '{"name":"by another page","x":"'
      input.value = '"}'
      form.append(input)
      document.body.append(form)
      form.submit()`
    )
    expect(shown).toBe(`${node.url}/api/me/projects`)
    expect(await other.evaluate("document.body.innerText")).toContain("authentication_error")
    await open(other, otherUrl)
    expect(await changes()).toEqual(before)
  }, 60_000)

  it("cannot have its server use the cookie either, which is half of an identity", async () => {
    const cookie = cookies.find((one) => one.includes("gateway_session")) ?? ""
    for (const headers of [{}, { "x-csrf-token": "" }, { "x-csrf-token": "A".repeat(43) }]) {
      expect((await sendTo(node.url, { cookie })("GET", "/api/me", undefined, headers)).status).toBe(401)
    }
  })

  it("leaves the page of the gateway as it is: signed in, and able to change", async () => {
    const created = await own.evaluate<number>(`
      fetch("/api/me/projects", {
        method: "POST",
        headers: { "content-type": "application/json", "x-csrf-token": ${JSON.stringify(csrfToken)} },
        body: JSON.stringify({ name: "by the own page" })
      }).then((response) => response.status)`)
    expect(created).toBe(201)
    expect((await changes()).at(-1)).toBe("project.create")
  })
})
