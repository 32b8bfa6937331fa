import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { hasChromium } from "../support/Chromium.ts"
import { journey } from "./Journey.ts"

describe.skipIf(!hasChromium)("a filter", () => {
  const at = journey()
  const opened = async (page: Page, path: string) => {
    await page.goto(`${at().service.url}/dashboard/p/${at().projectId}${path}`)
    await page.locator("main").getByRole("textbox").first().waitFor()
  }
  const searchOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)

  it("that is typed takes effect while a person goes on typing in the same field", async () => {
    const { errors, page } = await at().signIn()
    for (const [path, name, parameter] of [
      ["/models", "Name", "q"],
      ["/requests", "Search", "q"],
      ["/requests", "Model", "model"]
    ] as const) {
      await opened(page, path)
      const field = page.getByRole(name === "Model" ? "combobox" : "textbox", { name, exact: true })
      await field.click()
      await page.keyboard.type("sim")
      await expect.poll(() => searchOf(page)[parameter]).toBe("sim")
      await page.keyboard.type("2/deep")
      await expect.poll(() => searchOf(page)[parameter]).toBe("sim2/deep")
      expect(await field.inputValue()).toBe("sim2/deep")
    }
    expect(errors).toEqual([])
  })

  it("of models suggests their ids, of which a part is enough to choose one, and says what it matches", async () => {
    const { errors, page } = await at().signIn()
    await opened(page, "/requests")
    await page.getByRole("combobox", { name: "Model", exact: true }).click()
    await page.keyboard.type("2/d")
    await page.getByText(/^"Model" matches whole ids/).waitFor()
    expect(await page.getByRole("option").allInnerTexts()).toEqual(["sim2/deep"])
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect.poll(() => searchOf(page)["model"]).toBe("sim2/deep")
    await page.getByRole("button", { name: "Clear the filters" }).waitFor()
    expect(await page.getByText(/^"Model" matches whole ids/).count()).toBe(0)
    expect(errors).toEqual([])
  })

  it("that is in the address shows a key and a provider that are not among those to choose from", async () => {
    const { page } = await at().signIn()
    await opened(page, "/requests?key=00000000-0000-7000-8000-0000deadbeef&provider=gone")
    const fieldOf = (name: string) => page.locator("main").getByRole("combobox", { name, exact: true })
    await expect.poll(() => fieldOf("Key").inputValue()).toBe("deadbeef")
    expect(await fieldOf("Provider").inputValue()).toBe("gone")
    await page.getByRole("button", { name: "Clear the filters" }).click()
    await expect.poll(() => fieldOf("Key").inputValue()).toBe("")
  })

  it("that is typed shows what is filtered after going back, and nothing once the filters are cleared", async () => {
    const { page } = await at().signIn()
    await opened(page, "/requests?model=sim/none")
    const field = page.getByRole("combobox", { name: "Model", exact: true })
    await field.fill("sim/best")
    await expect.poll(() => searchOf(page)["model"]).toBe("sim/best")
    await page.goBack()
    await expect.poll(() => field.inputValue()).toBe("sim/none")
    await page.getByRole("button", { name: "Clear the filters" }).click()
    await expect.poll(() => field.inputValue()).toBe("")
  })

  it("that nothing matches is cleared by a button, which leaves the focus in a field", async () => {
    const { errors, page } = await at().signIn()
    for (const [path, name] of [
      ["/requests?model=sim/none&q=none", "Search"],
      ["/models?q=none&provider=sim&sort=quality", "Name"]
    ] as const) {
      await opened(page, path)
      await page.getByRole("button", { name: "Clear the filters" }).focus()
      await page.keyboard.press("Enter")
      const field = page.getByRole("textbox", { name, exact: true })
      await expect.poll(() => field.and(page.locator(":focus")).count()).toBe(1)
      await expect.poll(() => searchOf(page)).toEqual(name === "Name" ? { sort: "quality" } : {})
    }
    await page.route("**/api/models?*", (route) =>
      route.fulfill({ json: { items: [], has_more: false, next_cursor: null } })
    )
    await page.goto(`${at().service.url}/dashboard/p/${at().projectId}/models`)
    await page.getByText("No model can be called yet").waitFor()
    expect(errors).toEqual([])
  })

  const link = (page: Page, name: string) => page.getByRole("navigation").getByRole("link", { name, exact: true })
  const shown = (page: Page, heading: string) =>
    page.getByRole("heading", { name: heading, exact: true, level: 1 }).waitFor()

  it("of the calls stays while another tab of the page is looked at, which opens nothing of it", async () => {
    const { errors, page } = await at().signIn()
    await opened(page, "/requests?model=sim/none&range=7d&request=00000000-0000-7000-8000-0000deadbeef")
    await page.getByRole("dialog").waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    for (const name of ["Refused", "In flight", "Calls"]) await page.getByRole("tab", { name }).click()
    await expect.poll(() => searchOf(page)).toEqual({ model: "sim/none", range: "7d" })
    expect(await page.getByRole("combobox", { name: "Model", exact: true }).inputValue()).toBe("sim/none")
    expect(errors).toEqual([])
  })

  it("is as it was left when a person comes back to its page, and is gone where they ask for the page itself", async () => {
    const { errors, page } = await at().signIn()
    const pages = [
      ["Requests", "/requests?status=error&q=sim&since=2026-01-02", { status: "error", q: "sim", since: "2026-01-02" }],
      ["Models", "/models?q=sim&sort=quality&model=sim/best", { q: "sim", sort: "quality" }],
      ["Activity", "/activity?days=90&by=key", { days: "90", by: "key" }]
    ] as const
    for (const [name, path, kept] of pages) {
      await page.evaluate(
        `history.pushState(null, "", ${JSON.stringify(`/dashboard/p/${at().projectId}${path}`)}); dispatchEvent(new PopStateEvent("popstate"))`
      )
      await shown(page, name)
      await page.getByRole("link", { name: "Skip to the content" }).waitFor({ state: "attached" })
      if (path.includes("model=")) {
        await page.getByRole("dialog").waitFor()
        await page.keyboard.press("Escape")
        await page.getByRole("dialog").waitFor({ state: "detached" })
      }
      await link(page, "Keys").click()
      await shown(page, "Keys")
      await link(page, name).click()
      await shown(page, name)
      expect([name, searchOf(page)]).toEqual([name, kept])
      await link(page, "Keys").click()
      await shown(page, "Keys")
      await page.keyboard.press("g")
      await page.keyboard.press({ Requests: "r", Models: "m", Activity: "a" }[name])
      await shown(page, name)
      expect([name, searchOf(page)]).toEqual([name, kept])
    }
    await link(page, "Activity").click()
    await expect.poll(() => searchOf(page)).toEqual({})
    expect(errors).toEqual([])
  })

  it("of days is that of all pages which have one, and of the same page in another project", async () => {
    const { api, signIn } = at()
    const other = await api<{ readonly id: string }>("POST", "/api/me/projects", { name: "another" })
    const { errors, page } = await signIn()
    await page.getByRole("radiogroup", { name: "Range" }).getByText("90 d").click()
    await expect.poll(() => searchOf(page)).toEqual({ days: "90" })
    await link(page, "Requests").click()
    await shown(page, "Requests")
    expect(searchOf(page)).toEqual({})
    await link(page, "Activity").click()
    await shown(page, "Activity")
    expect(searchOf(page)).toEqual({ days: "90" })
    await page.getByRole("radiogroup", { name: "Group by" }).getByText("key").click()
    await page.getByRole("button", { name: /^Project: / }).click()
    await page.getByRole("menuitem", { name: "another" }).click()
    await page.getByRole("button", { name: "Project: another" }).waitFor()
    const { pathname } = new URL(page.url())
    expect([pathname, searchOf(page)]).toEqual([`/dashboard/p/${other.id}/activity`, { days: "90" }])
    await link(page, "Overview").click()
    await shown(page, "Overview")
    expect(searchOf(page)).toEqual({ days: "90" })
    await page.getByRole("radiogroup", { name: "Range" }).getByText("30 d").click()
    await expect.poll(() => searchOf(page)).toEqual({ days: "30" })
    await page.locator("main").getByRole("link", { name: "Activity" }).click()
    await shown(page, "Activity")
    expect(searchOf(page)).toEqual({ days: "30" })
    expect(errors).toEqual([])
  })
})
