import { beforeAll, describe, expect, it } from "vitest"
import { hasChromium, settled } from "../support/Chromium.ts"
import { answersTaken, journey } from "./Journey.ts"

/** Below the project's page. */
const pages = [
  ["", "Overview"],
  ["/requests", "Requests"],
  ["/activity", "Activity"],
  ["/keys", "Keys"],
  ["/routing", "Routing"],
  ["/policy", "Policy"],
  ["/models", "Models"],
  ["/providers", "Providers"],
  ["/alerts", "Alerts"]
] as const

/** Clicks the first "Retry" of the page's alerts; their other button is the request's id. */
const retryFirst =
  "[...document.querySelectorAll('main [role=alert] button')].find((each) => each.textContent === 'Retry')?.click()"

describe.skipIf(!hasChromium)("a page whose service answers late, or not", () => {
  const at = journey()
  let addresses: ReadonlyArray<readonly [url: string, heading: string]> = []
  beforeAll(() => {
    const { projectId, service } = at()
    const ofProject = pages.map(([path, name]) => [`${service.url}/dashboard/p/${projectId}${path}`, name] as const)
    addresses = [...ofProject, [`${service.url}/dashboard/credits`, "Credits"]]
  })
  const failed = (status: number, headers: Readonly<Record<string, string>> = {}) => ({
    status,
    headers: { "x-request-id": "0198c0de-0000-7000-8000-000000000001", ...headers },
    json: { error: { type: "server_error", code: "service_failed", message: "A page cannot be read.", param: null } }
  })

  it("goes where a person clicks while the first page still loads", async () => {
    const { page } = await at().signIn()
    const held: Array<() => void> = []
    const heldMe: Array<() => void> = []
    await page.route("**/api/me", (route) => new Promise((go) => heldMe.push(() => go(route.continue()))))
    await page.route(
      /assets\/(Overview|Keys)-.*js/,
      (route) => new Promise((go) => held.push(() => go(route.continue())))
    )
    await page.goto(`${at().service.url}/dashboard/`)
    await page.getByRole("link", { name: "Keys", exact: true }).click()
    await expect.poll(() => held.length).toBe(2)
    // what is known of the person arrives after the click
    const me = page.waitForResponse("**/api/me")
    for (const go of heldMe) go()
    await me
    for (const go of held) go()
    await page.getByRole("heading", { name: /^(Keys|Overview)$/, level: 1 }).waitFor()
    expect(new URL(page.url()).pathname).toMatch(/\/keys$/)
  })

  it("says of each block what went wrong, and reads it when asked to", { timeout: 120_000 }, async () => {
    const { errors, page } = await at().signedIn()
    for (const [url, heading] of addresses) {
      await page.route("**/api/**", (route) => route.fulfill(failed(500)))
      await page.goto(url)
      await page.getByRole("heading", { name: heading, exact: true, level: 1 }).waitFor()
      const alert = page.locator("main").getByRole("alert")
      await alert.getByText("A page cannot be read.").first().waitFor()
      await alert.getByText("service_failed").first().waitFor()
      await alert.getByRole("button", { name: "Request id" }).first().waitFor()
      await page.unroute("**/api/**")
      // in the page at once: what a page asks for every few seconds may take an alert away before a click from here reaches it
      const left = async () => {
        await page.evaluate(retryFirst)
        return alert.count()
      }
      await expect.poll(left, { timeout: 20_000 }).toBe(0)
      expect(await page.locator("main").getByText("A page cannot be read.").count()).toBe(0)
    }
    expect(errors).toEqual([])
  })

  it("says once that a project cannot be read, and asks for it again when asked to", async () => {
    const { errors, page, requests } = await at().signedIn()
    const { projectId, service } = at()
    const asked = (id: string) => requests.filter((url) => url.endsWith(`/api/projects/${id}`)).length
    const alert = page.locator("main").getByRole("alert")
    const retry = alert.getByRole("button", { name: "Retry" })
    await page.goto(`${service.url}/dashboard/p/not-an-id`)
    // until the list of projects is read, each block says it for itself
    await retry.first().waitFor()
    await settled(page)
    expect([await alert.count(), asked("not-an-id")]).toEqual([1, 1])

    // one that was shared a moment ago is not in the list
    await page.route("**/api/me/projects?*", (route) =>
      route.fulfill({ json: { items: [], has_more: false, next_cursor: null } })
    )
    const overview = page.getByRole("heading", { name: "Overview", exact: true, level: 1 })
    for (const status of [403, 429, 500]) {
      const before = asked(projectId)
      await page.route(`**/api/projects/${projectId}`, (route) => route.fulfill(failed(status)))
      await page.goto(`${service.url}/dashboard/p/${projectId}`)
      await alert.getByText("A page cannot be read.").waitFor()
      await retry.click()
      await expect.poll(() => asked(projectId) - before).toBe(2)
      await settled(page)
      expect([await alert.count(), asked(projectId) - before]).toEqual([1, 2])
      await page.unroute(`**/api/projects/${projectId}`)
      await retry.click()
      await overview.waitFor()
    }
    expect(errors).toEqual([])
  })

  it("says while it waits to ask again that the service is not available", { timeout: 120_000 }, async () => {
    const { errors, page } = await at().signedIn()
    const banner = page.getByText("The service is not available right now")
    for (const [url, heading] of addresses) {
      await page.route("**/api/**", (route) => route.fulfill(failed(503, { "retry-after": "3600" })))
      await page.goto(url)
      await page.getByRole("heading", { name: heading, exact: true, level: 1 }).waitFor()
      await banner.waitFor()
      await page.unroute("**/api/**")
    }
    expect(errors).toEqual([])
  })

  it("keeps what it has shown when it cannot be read anew, and says that it may be old", async () => {
    const { errors, page } = await at().signIn()
    const banner = page.getByText("The service is not available right now")
    const available = page.getByTestId("available").getByText("$25.00")
    await available.waitFor()
    await page.route("**/api/me/balance", (route) => route.fulfill(failed(503, { "retry-after": "3600" })))
    await banner.waitFor({ timeout: 20_000 })
    expect(await available.isVisible()).toBe(true)
    await page.unroute("**/api/me/balance")
    expect(errors).toEqual([])
  })

  it("claims nothing of what it could not read", async () => {
    const { api, projectId, service, signIn } = at()
    const { id } = await api<{ readonly id: string }>("POST", `/api/projects/${projectId}/credentials`, {
      provider: "openai",
      label: "the first",
      secret: "secret-of-the-first"
    })
    const { errors, page } = await signIn()
    const main = page.locator("main")
    const alert = page.getByRole("alert").getByText("A page cannot be read.")
    const open = (path: string) => page.goto(`${service.url}/dashboard${path}`)
    await page.route("**/api/me/balance", (route) => route.fulfill(failed(500)))
    await page.route("**/api/models?*", (route) => route.fulfill(failed(500)))
    await page.route("**/credentials?*", (route) => route.fulfill(failed(500)))
    await open(`/p/${projectId}`)
    await main.getByRole("region", { name: "In flight" }).and(page.locator(":has([role=alert])")).waitFor()
    expect(await main.getByText("No call is running").count()).toBe(0)
    await open(`/p/${projectId}/models`)
    await alert.waitFor()
    expect(await main.getByText("0 models").count()).toBe(0)
    await open(`/p/${projectId}/providers?credential=${id}`)
    await alert.first().waitFor()
    expect(await page.getByText("There is no such credential").count()).toBe(0)
    await page.unroute("**/credentials?*")
    await page.reload()
    await page.getByRole("dialog", { name: "openai: the first" }).waitFor()

    await open("/chat/00000000-0000-7000-8000-000000000000")
    await page.getByRole("alert").getByText("Conversation not found.").waitFor()
    await expect.poll(() => page.getByRole("status", { name: "Loading" }).count()).toBe(0)

    await open(`/p/${projectId}/requests`)
    await page.route("**/api/projects/*/requests?*", (route) => route.abort())
    await page.getByRole("button", { name: "Export CSV" }).click()
    await page.getByRole("alert").getByText("The service does not answer.").waitFor()
    expect(errors).toEqual([])
  })

  it("says of the node that it does not answer, in the words of the other blocks", async () => {
    const { page } = await at().signedIn()
    await page.route("**/readyz", (route) => route.abort())
    await page.goto(`${at().service.url}/dashboard/admin`)
    const node = page.getByRole("region", { name: "This node" })
    await node.getByText("The service does not answer.").waitFor({ timeout: 15_000 })
    await page.unroute("**/readyz")
    await node.getByRole("button", { name: "Retry" }).click()
    await node.getByText("Every invariant of the ledger holds.").waitFor()
  })

  it("says so in the page where a part of it cannot be loaded, which stays", async () => {
    const { page } = await at().signIn()
    await page.evaluate("void (window.isSamePage = true)")
    await page.route(/assets\/Routing-.*js/, (route) => route.abort())
    await page.getByRole("link", { name: "Routing", exact: true }).click()
    await page.locator("main").getByText("The service does not answer.").waitFor()
    expect(await page.evaluate("window.isSamePage")).toBe(true)
    await page.getByRole("link", { name: "Keys", exact: true }).click()
    await page.getByRole("heading", { name: "Keys", exact: true, level: 1 }).waitFor()
  })

  it("reads by itself what could not be read as soon as the service answers again", async () => {
    const { errors, page } = await at().signedIn()
    await page.clock.install()
    await page.route("**/api/**", (route) => route.abort())
    await page.goto(`${at().service.url}/dashboard/p/${at().projectId}/keys`)
    const after = (millis: number) => page.clock.fastForward(millis)
    const alert = page.locator("main").getByRole("alert")
    await expect.poll(async () => [await after(2_000), await alert.count()][1]).toBe(1)
    await page.unroute("**/api/**")
    const table = page.getByRole("table", { name: "Keys of this project" })
    await expect.poll(async () => [await after(16_000), await table.count()][1]).toBe(1)
    expect(errors).toEqual([])
  })

  it("loads by itself a page that it could not load when the browser has its network again", async () => {
    const { page } = await at().signIn()
    await page.context().setOffline(true)
    await page.getByRole("link", { name: "Routing", exact: true }).click()
    await page.locator("main").getByText("The service does not answer.").waitFor()
    await page.context().setOffline(false)
    await page.getByRole("heading", { name: "Routing", exact: true, level: 1 }).waitFor()
  })

  it("shows a conversation by itself as soon as the service answers again, and asks with pauses before", async () => {
    const { api, projectId, service, signedIn } = at()
    const { id } = await api<{ readonly id: string }>("POST", "/api/chat/conversations", { project_id: projectId })
    await api("POST", `/api/chat/conversations/${id}/messages`, { content: "Are you there?", model: "sim/fast" })
    const { page } = await signedIn()
    await page.clock.install()
    const askedAt: Array<number> = []
    await page.route("**/events", (route) => {
      askedAt.push(performance.now())
      return route.abort()
    })
    await page.goto(`${service.url}/dashboard/chat/${id}`)
    await answersTaken(page, "/api/chat/conversations")
    expect(askedAt.length).toBeGreaterThan(0)
    // a busy machine gives it the time to ask again
    askedAt.slice(1).forEach((each, count) => {
      expect(each - (askedAt[count] ?? 0)).toBeGreaterThan(900 * 2 ** count)
    })
    const alert = page.locator("main").getByRole("alert")
    await expect.poll(async () => [await page.clock.fastForward(1_000), await alert.count()][1]).toBe(1)
    await page.unroute("**/events")
    const question = page.getByTestId("question").getByText("Are you there?")
    await expect.poll(async () => [await page.clock.fastForward(1_000), await question.count()][1]).toBe(1)
    expect(await alert.count()).toBe(0)
  })

  it("asks the service also where the browser has no network, as on the own machine", async () => {
    const { errors, page } = await at().signIn()
    await page.evaluate(`void dispatchEvent(new Event("offline"))`)
    await page.getByRole("link", { name: "Keys", exact: true }).click()
    await page.getByRole("table", { name: "Keys of this project" }).waitFor()
    await page.keyboard.press("c")
    await page.getByRole("textbox", { name: "Name" }).fill("offline")
    await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click()
    await page.getByTestId("secret").waitFor()
    expect(errors).toEqual([])
  })

  it("shows where something will stand while it comes", { timeout: 120_000 }, async () => {
    const { errors, page } = await at().signedIn()
    for (const [url, heading] of addresses) {
      const held: Array<() => void> = []
      await page.route("**/api/**", (route) => new Promise((go) => held.push(() => go(route.continue()))))
      await page.goto(url)
      await page.getByRole("heading", { name: heading, exact: true, level: 1 }).waitFor()
      await page.locator("main").getByRole("status", { name: "Loading" }).first().waitFor()
      // what is asked for from now on is not held
      await page.route("**/api/**", (route) => route.continue())
      for (const go of held) go()
      await expect.poll(() => page.locator("main [aria-busy=true]").count()).toBe(0)
      await page.unrouteAll({ behavior: "wait" })
    }
    expect(errors).toEqual([])
  })

  it("shows which pages there are none of without a project", async () => {
    const { errors, page } = await at().signedIn()
    await page.route("**/api/me/projects?*", (route) =>
      route.fulfill({ json: { items: [], has_more: false, next_cursor: null } })
    )
    await page.goto(`${at().service.url}/dashboard/`)
    await page.getByText("You have no project yet").waitFor()
    const colourOf = (name: string) =>
      page
        .getByRole("link", { name, exact: true })
        .evaluate((link) => link.ownerDocument.defaultView?.getComputedStyle(link).color)
    expect(await colourOf("Keys")).toBe(await colourOf("Policy"))
    expect(await colourOf("Keys")).not.toBe(await colourOf("Credits"))
    expect(errors).toEqual([])
  })
})
