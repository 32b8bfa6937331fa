import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { hasChromium, launchChromium, openPage } from "../support/Chromium.ts"
import { clientSecret, type OpenIdProvider, startProvider } from "../support/OpenIdProvider.ts"
import { type Service, startService } from "../support/Service.ts"

interface Person {
  readonly page: Page
  readonly errors: Array<string>
  readonly id: string
  /** As the page asks the account API. */
  readonly api: <Answer>(method: string, path: string, body?: unknown) => Promise<Answer>
}

describe.skipIf(!hasChromium)("a project that one person pays and another uses", () => {
  let provider: OpenIdProvider
  let service: Service
  let browser: Browser
  let owner: Person
  let member: Person
  let projectId = ""
  beforeAll(async () => {
    provider = await startProvider("localhost", (login) => (login === "olga" ? ["operator"] : []))
    service = await startService({
      env: {
        SIMULATED_PROVIDERS: "on",
        OIDC_ISSUER: provider.url,
        OIDC_CLIENT_ID: "gateway",
        OIDC_CLIENT_SECRET: clientSecret,
        OIDC_OPERATOR: "roles=operator"
      }
    })
    provider.serve(service.url)
    browser = await launchChromium()
    owner = await signIn("olga")
    member = await signIn("mina")
    const project = await owner.api<{ readonly id: string }>("POST", "/api/me/projects", { name: "shared" })
    projectId = project.id
    await owner.api("POST", `/api/projects/${projectId}/members`, { user_id: member.id, role: "member" })
  }, 120_000)
  afterAll(async () => {
    await browser.close()
    await service.stop()
    await provider.stop()
  })

  const signIn = async (login: string): Promise<Person> => {
    const { errors, page } = await openPage(browser)
    await page.goto(`${service.url}/dashboard/`)
    await page.getByRole("link", { name: "Sign in" }).click()
    await page.locator("[name=login]").fill(login)
    await page.locator("[name=password]").fill("any")
    await page.locator("[type=submit]").click()
    await page.locator("[type=submit]").click()
    await page.getByText("You have no project yet").waitFor()
    const token = await page.evaluate<string>(`localStorage.getItem("gateway.page-token")`)
    const api: Person["api"] = async (method, path, body) => {
      const response = await page.request.fetch(`${service.url}${path}`, {
        method,
        headers: { "x-csrf-token": token, "idempotency-key": crypto.randomUUID() },
        ...(body === undefined ? {} : { data: body })
      })
      if (!response.ok()) throw new Error(`${method} ${path}: ${response.status()} ${await response.text()}`)
      return response.json()
    }
    const { user } = await api<{ readonly user: { readonly id: string } }>("GET", "/api/me")
    return { page, errors, id: user.id, api }
  }
  const open = async (page: Page, path: string, heading: string) => {
    await page.goto(`${service.url}/dashboard${path}`)
    await page.getByRole("heading", { name: heading, exact: true, level: 1 }).waitFor()
  }

  it("says in the log of changes who has made each", async () => {
    await member.api("POST", `/api/projects/${projectId}/keys`, { name: "of mina" })
    const { errors, page } = owner
    await open(page, "/settings?tab=audit", "Settings")
    const row = page.getByRole("row").filter({ hasText: "key.create" })
    await row.getByText("mina by name").waitFor()
    expect(await page.getByRole("row").filter({ hasText: "member.add" }).innerText()).toContain("olga by name")
    await row.click()
    await page.getByRole("dialog").getByText(/ · by mina by name from 127\.0\.0\.1 · /).waitFor()
    expect(errors).toEqual([])
  })
})
