import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { closeProfile, closeProfiles, hasChromium, openPage, sharedChromium } from "../support/Chromium.ts"
import { clientSecret, type OpenIdProvider, startProvider } from "../support/OpenIdProvider.ts"
import { type Service, startService } from "../support/Service.ts"

describe.skipIf(!hasChromium)("a browser that several people use", () => {
  let provider: OpenIdProvider
  let service: Service
  let browser: Browser
  beforeAll(async () => {
    provider = await startProvider("localhost", () => [])
    service = await startService({
      env: {
        SIMULATED_PROVIDERS: "on",
        OIDC_ISSUER: provider.url,
        OIDC_CLIENT_ID: "gateway",
        OIDC_CLIENT_SECRET: clientSecret
      }
    })
    provider.serve(service.url)
    browser = await sharedChromium()
  }, 120_000)
  afterAll(async () => {
    await closeProfiles(browser)
    await service.stop()
    await provider.stop()
  })

  const opened = async () => {
    const watched = await openPage(browser)
    onTestFinished(() => closeProfile(watched.page))
    return watched
  }
  /** Signs in as a person whom the identity provider does not know yet in this browser. */
  const signIn = async (page: Page, login: string) => {
    await page.context().clearCookies({ domain: "localhost" })
    await page.goto(`${service.url}/api/session/oidc/start`)
    await page.locator("[name=login]").fill(login)
    await page.locator("[name=password]").fill("any")
    await page.locator("[type=submit]").click()
    await page.locator("[type=submit]").click()
    await page.getByRole("button", { name: "You", exact: true }).waitFor()
  }
  const send = async (page: Page, method: string, path: string, body?: unknown): Promise<string> => {
    const token = await page.evaluate<string>(`localStorage.getItem("gateway.page-token")`)
    const response = await page.request.fetch(`${service.url}${path}`, {
      method,
      headers: { "x-csrf-token": token, "idempotency-key": crypto.randomUUID() },
      ...(body === undefined ? {} : { data: body })
    })
    if (!response.ok()) throw new Error(`${method} ${path}: ${response.status()} ${await response.text()}`)
    return response.text()
  }
  const newProject = async (page: Page, name: string): Promise<{ readonly id: string }> =>
    JSON.parse(await send(page, "POST", "/api/me/projects", { name }))
  const endSession = async (page: Page) => {
    const { items }: { readonly items: ReadonlyArray<{ readonly id: string; readonly is_current: boolean }> } =
      JSON.parse(await send(page, "GET", "/api/sessions"))
    await send(page, "DELETE", `/api/sessions/${items.find(({ is_current }) => is_current)?.id}`)
    await page.reload()
    await page.getByRole("link", { name: "Sign in" }).waitFor()
  }
  const message = (page: Page) => page.getByRole("textbox", { name: "Message", exact: true })
  const model = (page: Page) => page.getByRole("combobox", { name: "Model" })
  const openChat = async (page: Page) => {
    await page.goto(`${service.url}/dashboard/chat`)
    await page.getByRole("heading", { name: "New conversation" }).waitFor()
    await message(page).waitFor()
  }

  it("keeps what a person has not sent beyond the end of the session, and shows it to nobody else", async () => {
    const { errors, page } = await opened()
    await signIn(page, "ada")
    await newProject(page, "of ada")
    await openChat(page)
    await message(page).fill("for the eyes of ada")
    await model(page).click()
    await page.getByRole("option", { name: "sim/best" }).click()
    await endSession(page)

    await signIn(page, "ada")
    await openChat(page)
    await expect.poll(() => message(page).inputValue()).toBe("for the eyes of ada")
    expect(await model(page).inputValue()).toBe("sim/best")
    await endSession(page)

    await signIn(page, "ben")
    await newProject(page, "of ben")
    await openChat(page)
    expect(await message(page).inputValue()).toBe("")
    await message(page).fill("of ben")
    expect(await page.evaluate("JSON.stringify(sessionStorage)")).toContain("of ben")
    await page.reload()
    await expect.poll(() => message(page).inputValue()).toBe("of ben")
    expect(await model(page).inputValue()).toBe("auto")
    expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.toMatch(/for the eyes of ada|sim\/best/)
    expect(errors).toEqual([])
  })

  it("keeps nothing of a person in a tab where another one has signed in in a second tab", async () => {
    const { errors, page } = await opened()
    await signIn(page, "cleo")
    const { id } = await newProject(page, "of cleo")
    await page.goto(`${service.url}/dashboard/p/${id}/requests?q=searched-by-cleo`)
    await page.getByRole("heading", { name: "Requests", exact: true }).waitFor()
    await page.getByRole("link", { name: "Settings", exact: true }).click()
    const name = page.getByRole("textbox", { name: "Name", exact: true })
    await expect.poll(() => name.inputValue()).toBe("of cleo")
    await name.fill("typed by cleo")

    const asked: Array<string> = []
    page.on("dialog", (dialog) => {
      asked.push(dialog.type())
      void dialog.dismiss()
    })
    const other = await page.context().newPage()
    await signIn(other, "dora")
    await page.getByText("You have no project yet").waitFor()
    await page.getByRole("button", { name: "API calls of this page" }).click()
    const calls = page.getByRole("dialog", { name: "API calls of this page" })
    await calls.getByText("/api/me/projects").first().waitFor()
    expect(await calls.innerText()).not.toMatch(new RegExp(`searched-by-cleo|${id}`))
    expect(asked).toEqual([])
    expect(errors).toEqual([])
  })

  it("gives a draft to nobody else who signs in in a second tab while it is written", async () => {
    const { errors, page } = await opened()
    await signIn(page, "fay")
    await newProject(page, "of fay")
    await openChat(page)
    await message(page).fill("for the eyes of fay")

    const other = await page.context().newPage()
    const loaded = page.waitForEvent("load")
    await signIn(other, "gil")
    await newProject(other, "of gil")
    await loaded
    await openChat(page)
    await page.getByRole("button", { name: "You", exact: true }).waitFor()
    expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.toContain("for the eyes of fay")
    expect(await message(page).inputValue()).toBe("")
    expect(errors).toEqual([])
  })

  it("keeps what a person has typed in a tab where the same one has signed in again in a second tab", async () => {
    const { errors, page } = await opened()
    await signIn(page, "emma")
    await newProject(page, "of emma")
    await openChat(page)
    await message(page).fill("typed by emma")
    const other = await page.context().newPage()
    const again = page.waitForResponse("**/api/me")
    await signIn(other, "emma")
    await (await again).finished()
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    expect(await message(page).inputValue()).toBe("typed by emma")
    expect(errors).toEqual([])
  })
})
