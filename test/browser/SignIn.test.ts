// Promise: A person signs in at an OpenID provider in a real browser, and only the page that they signed in at has their identity.
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type AccountNode, startNode } from "../support/AccountService.ts"
import { openBrowser } from "../support/Browser.ts"
import { hasChromium, launchChromium } from "../support/Chromium.ts"
import { clientSecret, type OpenIdProvider, startProvider } from "../support/OpenIdProvider.ts"
import { leave, open } from "./Navigation.ts"

describe.skipIf(!hasChromium)("signing in at an OpenID provider in a browser", () => {
  let provider: OpenIdProvider
  let node: AccountNode
  let browser: Browser
  beforeAll(async () => {
    // another site than the gateway's 127.0.0.1, as in earnest
    provider = await startProvider("localhost", (login) => (login === "alice" ? ["operators"] : []))
    node = await startNode({
      DATA_DIR: ":memory:",
      OIDC_ISSUER: provider.url,
      OIDC_CLIENT_ID: "gateway",
      OIDC_CLIENT_SECRET: clientSecret,
      OIDC_OPERATOR: "roles=operators"
    })
    provider.serve(node.url)
    browser = await launchChromium()
  }, 120_000)
  afterAll(async () => {
    await browser.close()
    await node.stop()
    await provider.stop()
  })

  /** Fills in the provider's two pages; returns where the browser ends. */
  const signIn = async (page: Page, login: string): Promise<URL> => {
    await open(page, `${node.url}/api/session/oidc/start`)
    await leave(
      page,
      `
      document.querySelector('[name=login]').value = ${JSON.stringify(login)}
      document.querySelector('[name=password]').value = 'any'
      document.forms[0].submit()`
    )
    return new URL(await leave(page, "document.forms[0].submit()"))
  }
  const me = (page: Page, csrfToken: string | null) =>
    page.evaluate<{ readonly status: number; readonly body: Record<string, unknown> }>(`
      fetch("/api/me", { headers: ${JSON.stringify(csrfToken === null ? {} : { "x-csrf-token": csrfToken })} })
        .then(async (response) => ({ status: response.status, body: await response.json() }))`)
  const tokenOf = ({ hash }: URL) => new URLSearchParams(hash.slice(1)).get("csrf_token") ?? ""

  it("ends at the dashboard with a session that scripts cannot read", async () => {
    const page = await (await browser.newContext()).newPage()
    const end = await signIn(page, "alice")
    expect(end.origin + end.pathname).toBe(`${node.url}/dashboard/sign-in`)
    const { body, status } = await me(page, tokenOf(end))
    expect([status, body]).toMatchObject([200, { user: { name: "alice by name" }, roles: ["operator"] }])
    expect(await page.evaluate("document.cookie")).toBe("")
    // neither the cookie alone nor a wrong token is an identity
    expect((await me(page, null)).status).toBe(401)
    expect(
      (
        await me(
          page,
          tokenOf(end).replace(/^./, (first) => (first === "A" ? "B" : "A"))
        )
      ).status
    ).toBe(401)
  }, 60_000)

  it("leads to the sign-in page, with a reason, where the provider says no", async () => {
    const page = await (await browser.newContext()).newPage()
    await open(page, `${node.url}/api/session/oidc/start`)
    const end = new URL(await leave(page, `location.href = document.querySelector("a[href$=abort]").href`))
    expect(end.href).toBe(`${node.url}/dashboard/sign-in#error=refused`)
  }, 60_000)

  it("gives each browser a session of its own, and ends it by signing out", async () => {
    const pages = await Promise.all(
      [browser.newContext(), browser.newContext()].map(async (one) => (await one).newPage())
    )
    const [one, other] = pages as [Page, Page]
    const [ofOne, ofOther] = [tokenOf(await signIn(one, "bob")), tokenOf(await signIn(other, "carol"))]
    expect((await me(one, ofOne)).body).toMatchObject({ user: { name: "bob by name" }, roles: [] })
    expect((await me(other, ofOther)).body).toMatchObject({ user: { name: "carol by name" } })
    expect((await me(one, ofOther)).status).toBe(401)
    const signedOut = await one.evaluate<number>(`
      fetch("/api/session", { method: "DELETE", headers: { "x-csrf-token": ${JSON.stringify(ofOne)} } })
        .then((response) => response.status)`)
    expect(signedOut).toBe(204)
    expect((await me(one, ofOne)).status).toBe(401)
    expect((await me(other, ofOther)).status).toBe(200)
  }, 60_000)

  it("does not end in another browser than it began in", async () => {
    const attacker = openBrowser()
    const isCallback = (url: string) => url.startsWith(`${node.url}/api/session/oidc/callback`)
    const formOf = (html: string) => /action="([^"]+)"/.exec(html)?.[1] ?? ""
    const login = await attacker.follow(`${node.url}/api/session/oidc/start`, isCallback)
    const form = { prompt: "login", login: "mallory", password: "any" }
    const consent = await attacker.submit(formOf(login.html), form, isCallback)
    const { url } = await attacker.submit(formOf(consent.html), { prompt: "consent" }, isCallback)
    // the attacker has a victim follow the redirect back, to have them use the attacker's account
    const victim = await (await browser.newContext()).newPage()
    expect(await open(victim, url)).toBe(`${node.url}/dashboard/sign-in#error=refused`)
    expect((await me(victim, null)).status).toBe(401)
  }, 60_000)
})
