import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { closeProfiles, hasChromium, openPage, settled, sharedChromium } from "../support/Chromium.ts"
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
    browser = await sharedChromium()
    owner = await signIn("olga")
    member = await signIn("mina")
    const project = await owner.api<{ readonly id: string }>("POST", "/api/me/projects", { name: "shared" })
    projectId = project.id
    await owner.api("POST", `/api/projects/${projectId}/members`, { user_id: member.id, role: "member" })
  }, 120_000)
  afterAll(async () => {
    await closeProfiles(browser)
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

  it("offers the first project to a person who is in none", async () => {
    const { errors, page } = await signIn("nora")
    await page.getByRole("button", { name: "New project" }).click()
    await page.getByRole("textbox", { name: "Name" }).fill("first")
    await page.getByRole("button", { name: "Create project" }).click()
    await page.getByRole("heading", { name: "Overview", exact: true, level: 1 }).waitFor()
    expect(errors).toEqual([])
  })

  it("says to a person who may not see it that it is so, and leads on", async () => {
    const { errors, page } = await signIn("otto")
    for (const path of ["", "/keys", "/policy"]) {
      await page.goto(`${service.url}/dashboard/p/${projectId}${path}`)
      await page.getByText("You have no access to this project").waitFor()
      await page.getByText("You are signed in as otto by name.", { exact: false }).waitFor()
      expect(await page.getByRole("alert").count()).toBe(0)
    }
    await page.getByRole("link", { name: "To your projects" }).click()
    await page.getByText("You have no project yet").waitFor()
    expect(errors).toEqual([])
    await page.close()
  })

  it("says in the log of changes who has made each", async () => {
    await member.api("POST", `/api/projects/${projectId}/keys`, { name: "of mina" })
    const { errors, page } = owner
    await open(page, "/settings?tab=audit", "Settings")
    const row = page.getByRole("row").filter({ hasText: "key.create" })
    await row.getByText("mina by name").waitFor()
    expect(await page.getByRole("row").filter({ hasText: "member.add" }).innerText()).toContain("olga by name")
    await row.click()
    await page
      .getByRole("dialog")
      .getByText(/ · by mina by name from 127\.0\.0\.1 · /)
      .waitFor()
    expect(errors).toEqual([])
  })

  it("shows the member nothing of their own balance where the owner's pays, and whom to ask", async () => {
    const made = await owner.api<{ readonly api_key: string }>("POST", `/api/projects/${projectId}/keys`, {
      name: "app"
    })
    const { accounts } = await member.api<{ readonly accounts: ReadonlyArray<{ readonly id: string }> }>(
      "GET",
      "/api/me"
    )
    const credit = { amount_microusd: 7_000_000, note: "of the member's own" }
    await owner.api("POST", `/api/admin/accounts/${accounts[0]?.id}/credits`, credit)
    const refused = await service.post(
      "/v1/chat/completions",
      { model: "sim/best", messages: [{ role: "user", content: "hi" }] },
      { authorization: `Bearer ${made.api_key}` }
    )
    expect(refused.status).toBe(402)
    await refused.text()
    // a moment after its response
    const refusals = () =>
      member.api<{ readonly items: ReadonlyArray<unknown> }>("GET", `/api/projects/${projectId}/refusals`)
    await expect.poll(async () => (await refusals()).items.length).toBe(1)

    const { errors, page } = member
    await open(page, `/p/${projectId}/requests?tab=refused`, "Requests")
    await page.getByRole("row").filter({ hasText: "insufficient_balance" }).click()
    const dialog = page.getByRole("dialog", { name: "402 insufficient_balance" })
    await dialog.getByText("olga by name can add credit.").waitFor()
    expect(await dialog.getByText("Balance", { exact: true }).count()).toBe(0)
    expect(await dialog.getByRole("link", { name: "Add credit" }).count()).toBe(0)

    await open(page, `/p/${projectId}`, "Overview")
    await page.getByText("It is paid from the balance of the project's owner", { exact: false }).waitFor()
    expect(await page.locator("main").getByText("$7.00").count()).toBe(0)
    expect(errors).toEqual([])
  })

  it("shows an owner who does not pay nothing of their own balance among the limits of a key", async () => {
    const project = await owner.api<{ readonly id: string }>("POST", "/api/me/projects", { name: "with two owners" })
    await owner.api("POST", `/api/projects/${project.id}/members`, { user_id: member.id, role: "owner" })
    const key = await owner.api<{ readonly id: string }>("POST", `/api/projects/${project.id}/keys`, { name: "app" })
    const limits = ({ page }: Person) => page.getByRole("table", { name: "Limits that apply to this key" })
    for (const person of [owner, member]) {
      await open(person.page, `/p/${project.id}/keys?key=${key.id}`, "Keys")
      await limits(person).getByText("no limit").nth(1).waitFor()
    }
    expect(await limits(owner).getByText("The balance").count()).toBe(1)
    await expect.poll(() => limits(member).getByText("The balance").count()).toBe(0)
  })

  it("shows the member which calls run", async () => {
    const { accounts } = await owner.api<{ readonly accounts: ReadonlyArray<{ readonly id: string }> }>(
      "GET",
      "/api/me"
    )
    const credit = { amount_microusd: 5_000_000, note: "for calls" }
    await owner.api("POST", `/api/admin/accounts/${accounts[0]?.id}/credits`, credit)
    const made = await owner.api<{ readonly api_key: string }>("POST", `/api/projects/${projectId}/keys`, {
      name: "app"
    })
    const running = await service.post(
      "/v1/chat/completions",
      { model: "sim/stall-mid", stream: true, messages: [{ role: "user", content: "hi" }] },
      { authorization: `Bearer ${made.api_key}` }
    )
    const { page } = member
    await open(page, `/p/${projectId}`, "Overview")
    const block = page.getByRole("region", { name: "In flight" })
    await block.getByText("sim/stall-mid").waitFor()
    await block.getByRole("button", { name: "Stop the call of sim/stall-mid" }).click()
    await running.text()
    await block.getByText("No call is running").waitFor()
  })

  it("is left, and a member is taken out of it, only after a second click", async () => {
    const names = async () => {
      const { items } = await owner.api<{ readonly items: ReadonlyArray<{ readonly name: string }> }>(
        "GET",
        `/api/projects/${projectId}/members`
      )
      return items.map(({ name }) => name)
    }
    for (const [{ page }, verb, warning] of [
      [owner, "Remove", "Keys that this person has created go on working."],
      [member, "Leave", "Only an owner of the project can add you again."]
    ] as const) {
      await open(page, `/p/${projectId}`, "Overview")
      await open(page, "/settings?tab=members", "Settings")
      await page.getByRole("button", { name: verb }).click()
      const dialog = page.getByRole("dialog")
      await dialog.getByText(warning).waitFor()
      expect(await names()).toContain("mina by name")
      if (verb === "Remove") {
        await page.keyboard.press("Escape")
        await dialog.waitFor({ state: "detached" })
      } else await dialog.getByRole("button", { name: verb }).click()
    }
    await expect.poll(names).not.toContain("mina by name")
    // what a person has left is no longer shown to them
    await expect.poll(() => new URL(member.page.url()).pathname).not.toMatch(/settings/)
    expect(await member.page.getByText("mina by name (you)").count()).toBe(0)
  })

  it("can be read by a viewer, who is told why nothing can be changed", async () => {
    const { errors, id, page } = await signIn("victor")
    const project = await owner.api<{ readonly id: string }>("POST", "/api/me/projects", { name: "to be read" })
    await owner.api("POST", `/api/projects/${project.id}/routing-configurations`, { slug: "read" })
    await owner.api("POST", `/api/projects/${project.id}/members`, { user_id: id, role: "viewer" })
    const note = page.getByText("You are a viewer of this project", { exact: false })
    for (const [path, heading] of [
      ["policy", "Policy"],
      ["alerts", "Alerts"],
      ["providers", "Providers"],
      ["keys", "Keys"],
      ["routing", "Routing"],
      ["routing/read", "auto:read"],
      ["analyses", "Token doctor"]
    ] as const) {
      await open(page, `/p/${project.id}/${path}`, heading)
      await note.waitFor()
    }
    await open(page, `/p/${project.id}/providers`, "Providers")
    // what else could be chosen can be read, as the text of the page is
    const colourOf = (text: string) =>
      page.getByText(text).evaluate((each) => each.ownerDocument.defaultView?.getComputedStyle(each).color)
    expect(await colourOf("Own credentials")).toBe(await colourOf("Calls are paid from the balance of the account, or"))
    expect(await page.getByRole("radio", { name: "Own credentials" }).isDisabled()).toBe(true)
    await open(page, "/settings", "Settings")
    await note.waitFor()
    const name = page.getByRole("textbox", { name: "Name", exact: true })
    await expect.poll(() => name.inputValue()).toBe("to be read")
    expect(await name.evaluate((field) => field.ownerDocument.defaultView?.getComputedStyle(field).opacity)).toBe("1")
    expect(await page.getByRole("button", { name: "Project id" }).isEnabled()).toBe(true)
    await page.goto(`${service.url}/dashboard/chat`)
    await page.getByText("It takes a project in which you are an owner or a member.", { exact: false }).waitFor()
    expect(errors).toEqual([])
    await page.close()
  })

  it("opens to a viewer no form by its address that they may not send", async () => {
    const vera = await signIn("vera")
    const project = await owner.api<{ readonly id: string }>("POST", "/api/me/projects", { name: "with a viewer" })
    await owner.api("POST", `/api/projects/${project.id}/members`, { user_id: vera.id, role: "viewer" })
    for (const [path, heading, button] of [
      ["keys", "Keys", "Create key"],
      ["routing", "Routing", "Create configuration"],
      ["providers", "Providers", "Add credential"],
      ["analyses", "Token doctor", "New analysis"]
    ] as const) {
      const address = `/p/${project.id}/${path}?new=1`
      await open(owner.page, address, heading)
      await owner.page.getByRole("dialog").waitFor()
      await open(vera.page, address, heading)
      const create = vera.page.getByRole("button", { name: button }).first()
      await create.waitFor()
      expect(await create.isDisabled()).toBe(true)
      await settled(vera.page)
      expect([path, await vera.page.getByRole("dialog").count()]).toEqual([path, 0])
    }
    expect([...owner.errors, ...vera.errors]).toEqual([])
    await vera.page.close()
  })
})
