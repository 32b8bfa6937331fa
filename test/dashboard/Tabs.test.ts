import type { Page } from "playwright-core"
import { describe, expect, it, onTestFinished } from "vitest"
import { closeProfile, hasChromium, holdApiRequests, launchChromium, openPage } from "../support/Chromium.ts"
import { clientSecret, startProvider } from "../support/OpenIdProvider.ts"
import { startService } from "../support/Service.ts"
import { journey } from "./Journey.ts"

describe.skipIf(!hasChromium)("a browser with several tabs", () => {
  const at = journey()

  const secondTab = async (page: Page, path: string, heading: string) => {
    const other = await page.context().newPage()
    // less than a test has, as that of the first
    other.setDefaultTimeout(20_000)
    await other.goto(`${at().service.url}/dashboard${path}`)
    await other.getByRole("heading", { name: heading, exact: true }).waitFor()
    return other
  }
  const signOut = async (page: Page) => {
    await page.getByRole("button", { name: "You", exact: true }).click()
    await page.getByRole("menuitem", { name: "Sign out" }).click()
  }
  const isAtSignIn = async (page: Page, returnTo: string | null) => {
    await page.getByText("Open a sign-in link of this service").waitFor()
    expect(new URL(page.url()).searchParams.get("return_to")).toBe(returnTo)
  }

  it("shows nothing of the account in any of them once one has signed out", async () => {
    const { errors, page } = await at().signIn()
    const other = await secondTab(page, "/credits", "Credits")
    await signOut(page)
    await isAtSignIn(page, null)
    await isAtSignIn(other, "/credits")
    expect(errors).toEqual([])
  })

  it("leads from each to the sign-in page where the session has ended, and back from each", async () => {
    const { page } = await at().signIn()
    const other = await secondTab(page, "/credits", "Credits")
    const { items } = await at().api<{ readonly items: ReadonlyArray<{ id: string; transport: string }> }>(
      "GET",
      "/api/sessions"
    )
    const release = await holdApiRequests(page)
    for (const { id, transport } of items) {
      if (transport === "cookie") await at().api("DELETE", `/api/sessions/${id}`)
    }
    await page.getByRole("link", { name: "Keys", exact: true }).click()
    await page.waitForURL(`**/p/${at().projectId}/keys`)
    release()
    await isAtSignIn(page, `/p/${at().projectId}/keys`)
    await isAtSignIn(other, "/credits")
    const { url } = await at().api<{ readonly url: string }>("POST", "/api/session/links")
    await page.goto(url)
    await page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    await other.getByRole("heading", { name: "Credits", exact: true }).waitFor()
  })

  it("keeps the new session where a tab is told late that the one before has ended", async () => {
    const { page } = await at().signIn()
    const other = await secondTab(page, "/credits", "Credits")
    await page.getByRole("link", { name: "Providers", exact: true }).click()
    const held: Array<() => void> = []
    await page.route("**/billing-mode", (route) =>
      route.request().method() === "PUT" ? new Promise((go) => held.push(() => go(route.continue()))) : route.continue()
    )
    // a change: what is only read is asked for again in the new session
    await page.getByRole("radio", { name: "Own credentials" }).click()
    await expect.poll(() => held.length).toBe(1)
    const { url } = await at().api<{ readonly url: string }>("POST", "/api/session/links")
    await other.goto(url)
    await other.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    const late = page.waitForResponse((answer) => answer.request().method() === "PUT")
    for (const go of held) go()
    expect((await late).status()).toBe(401)
    await page.unrouteAll({ behavior: "wait" })
    await page.getByRole("link", { name: "Credits", exact: true }).click()
    await page.getByRole("heading", { name: "Credits", exact: true }).waitFor()
  })

  it("asks again with the same link where the service could not answer", async () => {
    const { api, browser } = at()
    const { errors, page } = await openPage(browser)
    onTestFinished(() => closeProfile(page))
    const { url } = await api<{ readonly url: string }>("POST", "/api/session/links")
    await page.route("**/api/session", (route) => route.abort(), { times: 1 })
    await page.goto(url)
    await page.getByText("Not available right now").waitFor()
    await page.getByRole("button", { name: "Retry" }).click()
    await page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    expect(errors).toEqual([])
  })

  it("signs in where a link is opened in a tab that shows the sign-in page", async () => {
    const { api, browser, service } = at()
    const { errors, page } = await openPage(browser)
    await page.goto(`${service.url}/dashboard/sign-in`)
    await page.getByText("Open a sign-in link of this service").waitFor()
    const { url } = await api<{ readonly url: string }>("POST", "/api/session/links")
    await page.goto(url)
    await page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    expect(errors).toEqual([])
  })

  it("begins at the default project, and shows no other one before it is known which that is", async () => {
    const { api, projectId, service, signIn } = at()
    await api("POST", "/api/me/projects", { name: "not the default" })
    const { page } = await signIn()
    await page.evaluate(`for (const each of [sessionStorage, localStorage]) each.removeItem("gateway.project")`)
    let answer = () => {}
    const asked = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route("**/api/me", async (route) => {
      await asked
      await route.continue()
    })
    await page.goto(`${service.url}/dashboard`)
    await page.getByRole("button", { name: /^Project: / }).click()
    await page.getByRole("menuitem", { name: "not the default" }).waitFor()
    expect(new URL(page.url()).pathname).toBe("/dashboard/")
    answer()
    await page.waitForURL(`**/dashboard/p/${projectId}`)
  })

  it("shows in each the settings of the project that was opened there", async () => {
    const { api, projectId, signIn } = at()
    const { id } = await api<{ readonly id: string }>("POST", "/api/me/projects", { name: "of the other tab" })
    const { page } = await signIn()
    const { name } = await api<{ readonly name: string }>("GET", `/api/projects/${projectId}`)
    const other = await secondTab(page, `/p/${id}/keys`, "Keys")
    const field = (of: Page) => of.getByRole("textbox", { name: "Name", exact: true })
    await page.getByRole("link", { name: "Settings", exact: true }).click()
    await expect.poll(() => field(page).inputValue()).toBe(name)
    await page.reload()
    await expect.poll(() => field(page).inputValue()).toBe(name)
    await other.getByRole("link", { name: "Settings", exact: true }).click()
    await expect.poll(() => field(other).inputValue()).toBe("of the other tab")
  })

  /** What all other tabs show is read anew. */
  const signInAgain = async (page: Page) => {
    const { url } = await at().api<{ readonly url: string }>("POST", "/api/session/links")
    const other = await page.context().newPage()
    other.setDefaultTimeout(20_000)
    await other.goto(url)
    await other.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    await other.close()
  }

  it("keeps what is typed in a form when it learns of a newer version, and does not overwrite that", async () => {
    const { api, projectId, service, signedIn } = at()
    const of = `/api/projects/${projectId}`
    const key = await api<{ readonly id: string }>("POST", `${of}/keys`, { name: "shared" })
    await api("POST", `${of}/routing-configurations`, { slug: "shared" })
    const forms = [
      { path: `/p/${projectId}/policy`, read: `${of}/policy`, field: "Highest input price", save: /^Save version/ },
      {
        path: `/p/${projectId}/routing/shared`,
        read: `${of}/routing-configurations/shared`,
        field: "Highest input price",
        save: "Save as a new version"
      },
      { path: "/settings", read: of, field: "Spend limit", save: "Save" },
      { path: `/p/${projectId}/keys?key=${key.id}`, read: `/api/keys/${key.id}`, field: "Spend limit", save: "Save" },
      { path: `/p/${projectId}/alerts`, read: `${of}/alerts`, field: "At", save: "Save" }
    ]
    const changes: ReadonlyArray<() => Promise<unknown>> = [
      () => api("PUT", `${of}/policy`, { excluded_models: ["sim/none"] }),
      () => api("PUT", `${of}/routing-configurations/shared`, { alpha: 0.3 }),
      () => api("PATCH", of, { name: "renamed" }),
      () => api("PATCH", `/api/keys/${key.id}`, { name: "renamed" }),
      () => api("PUT", `${of}/alerts`, { webhook_url: null, thresholds: [{ type: "limit_percent", percent: 80 }] })
    ]
    const { errors, page } = await signedIn()
    for (const [index, { field, path, read, save }] of forms.entries()) {
      await page.goto(`${service.url}/dashboard${path}`)
      if (field === "At") await page.getByRole("button", { name: "Add threshold" }).click()
      const typed = page.getByRole("textbox", { name: field, exact: true })
      await typed.fill("7")
      const before = await typed.inputValue()
      await changes[index]?.()
      const again = page.waitForResponse(`**${read}`)
      await signInAgain(page)
      await (await again).finished()
      await page.getByRole("button", { name: save, exact: true }).click()
      await page.getByText("Changed elsewhere").waitFor()
      expect(await typed.inputValue()).toBe(before)
      await page.getByRole("button", { name: "Retry" }).click()
      await page.getByText("Changed elsewhere").waitFor({ state: "detached" })
      expect(await page.getByRole("button", { name: save, exact: true }).isDisabled()).toBe(true)
    }
    expect(errors).toEqual([])
  })

  it("shows in the form of a credential what was changed elsewhere, and does not undo it", async () => {
    const { api, projectId, service, signedIn } = at()
    const { id } = await api<{ readonly id: string }>("POST", `/api/projects/${projectId}/credentials`, {
      provider: "openai",
      label: "shared",
      secret: "secret-of-it"
    })
    const change = (allowed: ReadonlyArray<string>) =>
      api("PATCH", `/api/credentials/${id}`, { allowed_models: allowed })
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${projectId}/providers?credential=${id}`)
    const drawer = page.getByRole("dialog")
    const label = drawer.getByRole("textbox", { name: "Label", exact: true })
    await label.waitFor()
    const learn = async () => {
      const again = page.waitForResponse(`**/projects/${projectId}/credentials?*`)
      await signInAgain(page)
      await (await again).finished()
    }
    await change(["openai/gpt-5"])
    await learn()
    await drawer.getByText("openai/gpt-5", { exact: true }).waitFor({ timeout: 10_000 })
    await label.fill("renamed")
    await change(["openai/gpt-4.1"])
    await learn()
    await drawer.getByRole("button", { name: "Save", exact: true }).click()
    await page.getByText("Changed elsewhere").waitFor()
    expect(await label.inputValue()).toBe("renamed")
    await page.getByRole("button", { name: "Retry" }).click()
    await drawer.getByText("openai/gpt-4.1", { exact: true }).waitFor()
    await label.fill("renamed")
    await drawer.getByRole("button", { name: "Save", exact: true }).click()
    await drawer.getByText("Saved.", { exact: true }).waitFor()
    expect(await api("GET", `/api/credentials/${id}`)).toMatchObject({
      label: "renamed",
      allowed_models: ["openai/gpt-4.1"]
    })
    expect(errors).toEqual([])
  })

  it("adds to no project whom a person wanted to add to one that was deleted elsewhere", async () => {
    const { api, projectId, service, signedIn } = at()
    const { id } = await api<{ readonly id: string }>("POST", "/api/me/projects", { name: "to be deleted" })
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${id}`)
    await page.getByRole("link", { name: "Settings", exact: true }).click()
    await page.getByRole("tab", { name: "Members" }).click()
    const person = page.getByRole("textbox", { name: "Id of the person" })
    await person.fill("another-user")
    await api("DELETE", `/api/projects/${id}`)
    const again = page.waitForResponse(`**/api/projects/${projectId}/members?*`)
    await signInAgain(page)
    await (await again).finished()
    await expect.poll(() => person.inputValue()).toBe("")
    expect(errors).toEqual([])
  })

  it("changes no collection of calls over a version that its form has not shown", async () => {
    const { api, projectId, service, signedIn } = at()
    const path = `/api/projects/${projectId}/capture`
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${projectId}/analyses`)
    await page.getByRole("button", { name: "Switch on" }).click()
    await page.getByRole("textbox", { name: "Kept for" }).fill("7")
    const { config_version, content_warning } = await api<{
      readonly config_version: number
      readonly content_warning: string
    }>("GET", path)
    await api("PUT", path, {
      enabled: false,
      sampling_rate: 0.5,
      retention_days: 9,
      max_samples: 100,
      content: "fingerprint",
      replay_allowed: false,
      config_version,
      content_warning
    })
    const again = page.waitForResponse(`**${path}`)
    await signInAgain(page)
    await (await again).finished()
    await page.getByRole("checkbox", { name: /^I / }).check()
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page.getByText("Changed elsewhere").waitFor()
    expect(await api("GET", path)).toMatchObject({ enabled: false, retention_days: 9 })
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page
      .getByTestId("collection")
      .getByText(/kept 7 days/)
      .waitFor()
    expect(errors).toEqual([])
  })

  it("shows the secret of a webhook until a person says that it is saved", async () => {
    const { errors, page } = await at().signedIn()
    await page.goto(`${at().service.url}/dashboard/p/${at().projectId}/alerts`)
    await page.getByRole("textbox", { name: "Webhook URL" }).fill("https://example.com/hook")
    await page.getByRole("button", { name: "Save", exact: true }).click()
    const shown = page.getByText("Webhook secret: save it now")
    await shown.waitFor()
    const again = page.waitForResponse("**/api/projects/*/alerts")
    await signInAgain(page)
    await (await again).finished()
    await page.getByText("Changed elsewhere").waitFor({ state: "detached" })
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    expect(await shown.isVisible()).toBe(true)
    await page.getByRole("button", { name: "I have saved it" }).click()
    await shown.waitFor({ state: "detached" })
    expect(errors).toEqual([])
  })

  it("says that a person is still signed in where the service could not end the session", async () => {
    const { errors, page } = await at().signIn()
    const error = { type: "server_error", code: "store_unavailable", message: "Not now.", param: null }
    await page.route("**/api/session", (route) => route.fulfill({ status: 503, json: { error } }))
    await signOut(page)
    const dialog = page.getByRole("dialog", { name: "You are still signed in" })
    await dialog.getByText("Not now.").waitFor()
    await page.unroute("**/api/session")
    await dialog.getByRole("button", { name: "Retry" }).click()
    await isAtSignIn(page, null)
    expect(errors).toEqual([])
  })
})

describe.skipIf(!hasChromium)("signing in at an identity provider", () => {
  it("ends at the page that asked for it, also at the second attempt", async () => {
    const provider = await startProvider("localhost", () => [])
    onTestFinished(() => provider.stop())
    const service = await startService({
      env: { OIDC_ISSUER: provider.url, OIDC_CLIENT_ID: "gateway", OIDC_CLIENT_SECRET: clientSecret }
    })
    onTestFinished(async () => {
      await service.stop()
    })
    provider.serve(service.url)
    const browser = await launchChromium()
    onTestFinished(() => browser.close())
    const { errors, page } = await openPage(browser)
    const signIn = page.getByRole("link", { name: "Sign in" })
    await page.goto(`${service.url}/dashboard/settings?tab=sessions`)
    await signIn.click()
    await page.getByRole("link", { name: /cancel/i }).click()
    await page.getByRole("alert").getByText("did not sign you in").waitFor()
    await signIn.click()
    await page.locator("[name=login]").fill("alice")
    await page.locator("[name=password]").fill("any")
    await page.locator("[type=submit]").click()
    await page.locator("[type=submit]").click()
    await page.getByRole("heading", { name: "Your sessions" }).waitFor()
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe("/dashboard/settings?tab=sessions")
    expect(errors).toEqual([])
  })
})
