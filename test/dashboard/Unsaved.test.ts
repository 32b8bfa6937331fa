import type { Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { hasChromium, holdAnswers, holdApiRequests } from "../support/Chromium.ts"
import { journey } from "./Journey.ts"

interface Form {
  readonly name: string
  readonly path: string
  readonly field: string
  readonly saves: string | RegExp
}

describe.skipIf(!hasChromium)("a form with changes that are not saved", () => {
  const at = journey()
  let forms: ReadonlyArray<Form> = []
  beforeAll(async () => {
    const { api, projectId } = at()
    const of = `/api/projects/${projectId}`
    const key = await api<{ readonly id: string }>("POST", `${of}/keys`, { name: "edited" })
    await api("POST", `${of}/routing-configurations`, { slug: "edited" })
    const credential = await api<{ readonly id: string }>("POST", `${of}/credentials`, {
      provider: "openai",
      label: "edited",
      secret: "secret-of-the-first"
    })
    const page = `/p/${projectId}`
    const save = "Save"
    forms = [
      { name: "project", path: "/settings", field: "Name", saves: save },
      { name: "policy", path: `${page}/policy`, field: "Highest input price", saves: /^Save version/ },
      {
        name: "routing configuration",
        path: `${page}/routing/edited`,
        field: "Highest input price",
        saves: "Save as a new version"
      },
      { name: "alerts", path: `${page}/alerts`, field: "Webhook URL", saves: save },
      { name: "key", path: `${page}/keys?key=${key.id}`, field: "Name", saves: save },
      { name: "credential", path: `${page}/providers?credential=${credential.id}`, field: "Label", saves: save }
    ]
  })

  const open = async (page: Page, { field, path }: Form) => {
    await page.goto(`${at().service.url}/dashboard${path}`)
    const input = page.getByRole("textbox", { name: field, exact: true })
    await expect.poll(() => input.isEnabled()).toBe(true)
    return input
  }
  const isDrawer = ({ path }: Form) => path.includes("?")
  const isPatched = ({ name }: Form) => ["project", "key", "credential"].includes(name)
  /** A drawer is over the links of the page, and closed by its key. */
  const leave = async (page: Page, form: Form) => {
    if (isDrawer(form)) {
      await page.getByRole("dialog").getByRole("textbox").first().focus()
      await page.keyboard.press("Escape")
    } else await page.getByRole("link", { name: "Credits", exact: true }).click()
  }
  const left = async (page: Page, form: Form) => {
    if (isDrawer(form)) await page.getByRole("dialog").first().waitFor({ state: "detached" })
    else await page.getByRole("heading", { name: "Credits", exact: true }).waitFor()
  }
  /** Ends the sessions, and does what comes next before the page hears of it by what it asks every few seconds. */
  const endSessions = async (page: Page, next: () => Promise<void>) => {
    const { api } = at()
    const release = await holdApiRequests(page)
    const { items } = await api<{ readonly items: ReadonlyArray<{ readonly id: string; readonly transport: string }> }>(
      "GET",
      "/api/sessions"
    )
    for (const each of items) if (each.transport === "cookie") await api("DELETE", `/api/sessions/${each.id}`)
    await next()
    release()
  }
  const signInAgain = async (page: Page) => {
    const { url } = await at().api<{ readonly url: string }>("POST", "/api/session/links")
    const other = await page.context().newPage()
    await other.goto(url)
    await other.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    await other.close()
  }
  const question = (page: Page) => page.getByRole("dialog", { name: "Leave without saving?" })

  it("is left only by a person's word, and keeps what was typed till then", { timeout: 120_000 }, async () => {
    const { errors, page } = await at().signIn()
    for (const form of forms) {
      const input = await open(page, form)
      const before = await input.inputValue()
      await input.fill(`${before}7`)
      const typed = await input.inputValue()
      const { href } = new URL(page.url())
      await leave(page, form)
      await question(page).getByRole("button", { name: "Stay" }).click()
      await question(page).waitFor({ state: "detached" })
      expect([form.name, page.url(), await input.inputValue()]).toEqual([form.name, href, typed])
      await leave(page, form)
      await question(page).getByRole("button", { name: "Leave without saving" }).click()
      await left(page, form)
      expect([form.name, await (await open(page, form)).inputValue()]).toEqual([form.name, before])
    }
    expect(errors).toEqual([])
  })

  it("is asked about again by a key that is pressed in the moment in which the question has gone", async () => {
    const form = forms.find(({ name }) => name === "key")
    if (form === undefined) throw new Error("no form of a key")
    const { errors, page } = await at().signIn()
    const input = await open(page, form)
    await input.fill("edited7")
    await leave(page, form)
    const stay = question(page).getByRole("button", { name: "Stay" })
    await stay.waitFor()
    await page.evaluate(`{
      const button = [...document.querySelectorAll("button")].find(({ textContent }) => textContent === "Stay")
      const gone = new MutationObserver(() => {
        if (button.isConnected) return
        gone.disconnect()
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }))
      })
      gone.observe(document.body, { childList: true, subtree: true })
      button.click()
    }`)
    await stay.waitFor()
    expect([await input.inputValue(), errors]).toEqual(["edited7", []])
  })

  it("asks also before another tab of the page, the page before and the browser's own end of it", async () => {
    const { errors, page } = await at().signIn()
    await page.getByRole("link", { name: "Settings", exact: true }).click()
    const name = page.getByRole("textbox", { name: "Name", exact: true })
    await expect.poll(() => name.inputValue()).not.toBe("")
    await name.click()
    await page.keyboard.press("End")
    await page.keyboard.type("7")
    await page.getByRole("tab", { name: "Members" }).click()
    await page.keyboard.press("Escape")
    await question(page).waitFor({ state: "detached" })
    await page.goBack()
    await question(page).getByRole("button", { name: "Stay" }).click()
    await expect.poll(() => new URL(page.url()).pathname).toBe("/dashboard/settings")
    expect(await name.inputValue()).toMatch(/7$/)
    const asked = page.waitForEvent("dialog")
    const reloaded = page.reload().catch(() => {})
    const dialog = await asked
    expect(dialog.type()).toBe("beforeunload")
    await dialog.accept()
    await reloaded
    await expect.poll(() => name.inputValue()).not.toBe("")
    expect(await name.inputValue()).not.toMatch(/7$/)
    expect(errors).toEqual([])
  })

  it("does not ask where nothing was changed, was changed back, or is saved", { timeout: 120_000 }, async () => {
    const { errors, page } = await at().signIn()
    for (const form of forms) {
      const input = await open(page, form)
      const before = await input.inputValue()
      await input.focus()
      await input.blur()
      await leave(page, form)
      await left(page, form)

      await open(page, form)
      await input.fill(`${before}7`)
      await input.fill(before)
      await leave(page, form)
      await left(page, form)

      if (form.name === "alerts") continue
      await open(page, form)
      await input.fill(`${before}7`)
      const save = page.getByRole("button", { name: form.saves, exact: true })
      await save.click()
      await save.and(page.locator("[data-disabled=true]:not([data-loading])")).waitFor()
      await leave(page, form)
      await left(page, form)
    }
    expect(errors).toEqual([])
  })

  it("is said to be saved, and leaves the focus where it was", { timeout: 120_000 }, async () => {
    const { errors, page } = await at().signIn()
    for (const form of forms) {
      if (form.name === "alerts") continue
      const input = await open(page, form)
      await input.fill(`${await input.inputValue()}5`)
      const save = page.getByRole("button", { name: form.saves, exact: true })
      await expect.poll(() => save.getAttribute("aria-disabled")).toBe("false")
      await save.focus()
      await page.keyboard.press("Enter")
      await page.getByRole("status").getByText("Saved.", { exact: true }).waitFor()
      await expect.poll(() => save.and(page.locator(":focus")).count()).toBe(1)
      // again it has nothing to do
      await page.keyboard.press("Enter")
      expect([form.name, await page.getByRole("alert").count()]).toEqual([form.name, 0])
    }
    expect(errors).toEqual([])
  })

  it("is not undone by an older answer that comes after it was saved", async () => {
    const { errors, page } = await at().signIn()
    const [project] = forms
    if (project === undefined) throw new Error("there is one")
    const input = await open(page, project)
    await page.clock.install()
    await page.clock.fastForward(60_000)
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(`**/api/projects/${at().projectId}`, async (route) => {
      if (route.request().method() !== "GET") return route.continue()
      const response = await route.fetch()
      await released
      await route.fulfill({ response }).catch(() => {})
    })
    const read = page.waitForRequest(`**/api/projects/${at().projectId}`)
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
    const older = await read
    const ended = page.waitForEvent("requestfailed", (request) => request === older)
    await input.fill("saved after it")
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page.getByText("Saved.", { exact: true }).waitFor()
    // its answer is not waited for any more
    await ended
    release()
    expect(await input.inputValue()).toBe("saved after it")
    expect(errors).toEqual([])
  })

  it("keeps what is typed while it is saved, which is saved next", { timeout: 120_000 }, async () => {
    const { errors, page } = await at().signIn()
    for (const form of forms) {
      const input = await open(page, form)
      await input.fill(form.name === "alerts" ? "https://example.com/7" : `${await input.inputValue()}7`)
      const save = page.getByRole("button", { name: form.saves, exact: true })
      const held = await holdAnswers(page, "**/api/**", isPatched(form) ? "PATCH" : "PUT")
      await save.click()
      await held.given
      await input.press("End")
      await page.keyboard.type("8")
      const typed = await input.inputValue()
      held.release()
      await save.and(page.locator(":not([data-loading])")).waitFor()
      expect([form.name, await input.inputValue()]).toEqual([form.name, typed])
      await save.click()
      await save.and(page.locator("[data-disabled=true]:not([data-loading])")).waitFor({ timeout: 10_000 })
      await page.unrouteAll({ behavior: "wait" })
      if (form.name === "alerts") await page.getByRole("button", { name: "I have saved it" }).click()
      expect([form.name, await (await open(page, form)).inputValue()]).toEqual([form.name, typed])
    }
    expect(errors).toEqual([])
  })

  it("stays where a link leads to a part of its page", async () => {
    const { page } = await at().signIn()
    const [project] = forms
    if (project === undefined) throw new Error("there is one")
    const input = await open(page, project)
    await input.fill("skipped")
    await page.getByRole("link", { name: "Skip to the content" }).focus()
    await page.keyboard.press("Enter")
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("main")
    expect(await question(page).count()).toBe(0)
    expect(await input.inputValue()).toBe("skipped")
  })

  it("does not keep a person from the end of the project", async () => {
    const { api, service, signedIn } = at()
    const { page } = await signedIn()
    const { id } = await api<{ readonly id: string }>("POST", "/api/me/projects", { name: "to be deleted" })
    await page.goto(`${service.url}/dashboard/p/${id}`)
    await page.getByRole("link", { name: "Settings", exact: true }).click()
    const name = page.getByRole("textbox", { name: "Name", exact: true })
    await expect.poll(() => name.inputValue()).toBe("to be deleted")
    await name.fill("renamed")
    await page.getByRole("button", { name: "Delete", exact: true }).click()
    await page.getByRole("textbox", { name: "Type the name: to be deleted" }).fill("to be deleted")
    await page.getByRole("button", { name: "Delete permanently" }).click()
    await page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
  })

  it("outlives the session: it is saved once the person has signed in again, in another tab", async () => {
    const { errors, page } = await at().signIn()
    const ended = page.getByRole("dialog", { name: "Your session has ended" })
    const [project, ...others] = forms
    const routing = others.find(({ name }) => name === "routing configuration")
    if (project === undefined || routing === undefined) throw new Error("there are these")
    for (const form of [project, routing]) {
      const input = await open(page, form)
      await input.fill(`${await input.inputValue()}9`)
      const typed = await input.inputValue()
      const save = page.getByRole("button", { name: form.saves, exact: true })
      await endSessions(page, () => save.click())
      await ended.waitFor()
      await signInAgain(page)
      await ended.waitFor({ state: "detached" })
      expect([form.name, await input.inputValue()]).toEqual([form.name, typed])
      await page.getByRole("alert").getByText("Sign in again, and repeat it.", { exact: false }).waitFor()
      await save.click()
      await page.getByText("Saved.", { exact: true }).waitFor()
      expect([form.name, await (await open(page, form)).inputValue()]).toEqual([form.name, typed])
    }
    expect(errors).toEqual([])
  })

  it("of a dialog outlives the session too, which ends while it is sent", async () => {
    const { page } = await at().signedIn()
    await page.goto(`${at().service.url}/dashboard/p/${at().projectId}/keys?new=1`)
    const dialog = page.getByRole("dialog", { name: "Create key" })
    await dialog.getByRole("textbox", { name: "Name" }).fill("typed before the end")
    await endSessions(page, () => page.keyboard.press("Enter"))
    const ended = page.getByRole("dialog", { name: "Your session has ended" })
    await ended.waitFor()
    await page.keyboard.press("Escape")
    expect(await ended.isVisible()).toBe(true)
    await signInAgain(page)
    await ended.waitFor({ state: "detached" })
    await dialog.getByRole("button", { name: "Create key" }).click()
    await page.getByTestId("secret").waitFor()
    await page.getByRole("button", { name: "I have saved it" }).click()
    await page.getByRole("row", { name: /^typed before the end/ }).waitFor()
  })

  it("is left for the sign-in page where a person says so, or has signed out in another tab", async () => {
    const { page } = await at().signIn()
    const [project] = forms
    if (project === undefined) throw new Error("there is one")
    const signInPage = page.getByText("Open a sign-in link of this service")
    await (await open(page, project)).fill("lost by a word")
    await endSessions(page, () => page.getByRole("button", { name: "Save", exact: true }).click())
    await page
      .getByRole("dialog", { name: "Your session has ended" })
      .getByRole("button", { name: "Leave without saving" })
      .click()
    await signInPage.waitFor()
    expect(new URL(page.url()).searchParams.get("return_to")).toBe(project.path)

    await signInAgain(page)
    const name = await open(page, project)
    await name.fill("of a person who has gone")
    const other = await page.context().newPage()
    await other.goto(`${at().service.url}/dashboard/`)
    await other.getByRole("button", { name: "You" }).click()
    await other.getByRole("menuitem", { name: "Sign out" }).click()
    await signInPage.waitFor()
  })

  it("is also a secret that is shown once, till a person says that it is saved", async () => {
    const { projectId, service, signedIn } = at()
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${projectId}/keys`)
    await page.getByRole("button", { name: "Create key" }).click()
    await page.getByRole("textbox", { name: "Name" }).fill("shown once")
    await page.keyboard.press("Enter")
    const secret = page.getByTestId("secret")
    await secret.waitFor()
    await page.goBack()
    await question(page).getByRole("button", { name: "Stay" }).click()
    await question(page).waitFor({ state: "detached" })
    expect(await secret.isVisible()).toBe(true)
    const asked = page.waitForEvent("dialog")
    const reloading = page.evaluate("location.reload()")
    await (await asked).dismiss()
    await reloading
    await page.getByRole("button", { name: "I have saved it" }).click()
    await secret.waitFor({ state: "detached" })
    expect(await question(page).count()).toBe(0)

    await page.goto(`${service.url}/dashboard/p/${projectId}/alerts`)
    await page.getByRole("textbox", { name: "Webhook URL" }).fill("https://example.com/hook")
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page.getByText("Webhook secret: save it now").waitFor()
    const ofWebhook = await page.locator(".secret").innerText()
    await page.getByRole("button", { name: "Add threshold" }).click()
    const save = page.getByRole("button", { name: "Save", exact: true })
    await save.click()
    await save.and(page.locator("[data-disabled=true]:not([data-loading])")).waitFor()
    expect(await page.locator(".secret").allInnerTexts()).toEqual([ofWebhook])
    await page.getByRole("link", { name: "Credits", exact: true }).click()
    await question(page).getByRole("button", { name: "Stay" }).click()
    await page.getByRole("button", { name: "I have saved it" }).click()
    await page.getByRole("link", { name: "Credits", exact: true }).click()
    await page.getByRole("heading", { name: "Credits", exact: true }).waitFor()
    expect(errors).toEqual([])
  })

  it("of a key survives the rotation of its secret, each of which gives another one", async () => {
    const { page } = await at().signIn()
    const key = forms.find(({ name }) => name === "key")
    if (key === undefined) throw new Error("there is one")
    const input = await open(page, key)
    await input.fill("renamed")
    const secrets: Array<string> = []
    for (const _ of ["first", "second"]) {
      await page.getByRole("button", { name: "Rotate" }).click()
      await page
        .getByRole("dialog", { name: /^Rotate / })
        .getByRole("button", { name: "Rotate" })
        .click()
      secrets.push(await page.getByTestId("secret").innerText())
      await page.getByRole("button", { name: "I have saved it" }).click()
      await question(page).getByRole("button", { name: "Stay" }).click()
      await question(page).waitFor({ state: "detached" })
      expect(await page.getByTestId("secret").count()).toBe(0)
    }
    expect(new Set(secrets).size).toBe(2)
    expect(await input.inputValue()).toBe("renamed")
    // what the form shows has not changed elsewhere
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page.getByText("Saved.", { exact: true }).waitFor()
  })
})
