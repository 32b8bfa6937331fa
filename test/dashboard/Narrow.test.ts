import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { closeProfile, closeProfiles, hasChromium, openPage, settled, sharedChromium } from "../support/Chromium.ts"
import { type SeededService, seededService, signedInProfile } from "./Seeded.ts"

const phone = { width: 360, height: 740 }

describe.skipIf(!hasChromium)("on a small screen", () => {
  let seeded: SeededService
  let browser: Browser
  const longSlug = "a".repeat(60)
  beforeAll(async () => {
    ;[seeded, browser] = await Promise.all([seededService(), sharedChromium()])
    const of = `/api/projects/${seeded.projectId}`
    await seeded.api("POST", `${of}/routing-configurations`, { slug: longSlug, alpha: 0.2 })
    await seeded.api("POST", `${of}/credentials`, {
      provider: "openai",
      label: "the first",
      secret: "secret-of-the-first"
    })
  })
  afterAll(async () => {
    await closeProfiles(browser)
    await seeded.stop()
  })

  const signIn = async (viewport: { readonly width: number; readonly height: number }) => {
    const watched = await openPage(browser, {
      viewport,
      storageState: await signedInProfile(seeded.service, seeded.api)
    })
    onTestFinished(() => closeProfile(watched.page))
    return watched
  }
  const open = async (page: Page, path: string) => {
    await page.goto(`${seeded.url}/dashboard${path}`)
    await page.locator("main").getByRole("heading", { level: 1 }).waitFor()
    await settled(page)
  }
  const callOf = (model: string, more: object = {}) =>
    seeded.service.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "hi" }], ...more })

  /** Columns whose header is cut, and what is wider than the box that it stands in. */
  const cutIn = (page: Page) =>
    page.evaluate<ReadonlyArray<string>>(`(() => {
      const wide = document.documentElement.scrollWidth - innerWidth
      return [
        ...(wide > 0 ? [\`the page by \${wide} px\`] : []),
        ...[...document.querySelectorAll(".grid-table")].flatMap((table) => [
          ...(table.scrollWidth > table.clientWidth ? [\`\${table.ariaLabel} by \${table.scrollWidth - table.clientWidth} px\`] : []),
          ...[...table.querySelectorAll("[role=columnheader]")]
            .filter((header) => header.scrollWidth > header.clientWidth)
            .map((header) => \`\${table.ariaLabel}: \${header.textContent}\`)
        ])
      ]
    })()`)

  it("has the rest of a ledger's row behind it", async () => {
    const { accounts } = await seeded.api<{ readonly accounts: ReadonlyArray<{ readonly id: string }> }>(
      "GET",
      "/api/me"
    )
    const note = `For the pilot in the north, as agreed: ${"one more word ".repeat(10)}`.trim()
    const once = { "idempotency-key": crypto.randomUUID() }
    await seeded.api(
      "POST",
      `/api/admin/accounts/${accounts[0]?.id}/credits`,
      { amount_microusd: 1_500_000, note },
      once
    )
    const { errors, page } = await signIn(phone)
    await open(page, "/credits")
    const ledger = page.getByRole("table", { name: "Ledger" })
    await ledger.getByRole("row", { name: "$1.50" }).click()
    const detail = page.getByRole("dialog", { name: "Ledger entry" })
    await detail.getByText(note).waitFor()
    await detail.getByText("$1.50", { exact: true }).waitFor()
    // the way back of a phone closes it
    await page.goBack()
    await detail.waitFor({ state: "detached" })
    await ledger.getByRole("row", { name: /usage/ }).first().click()
    await detail.getByRole("link").click()
    await page.waitForURL(/requests\/[0-9a-f-]{36}$/)
    expect(errors).toEqual([])
  })

  it("has room for the longest names and the largest amounts", async () => {
    const name = "w".repeat(200)
    const { id } = await seeded.api<{ readonly id: string }>("POST", "/api/me/projects", { name })
    const limits = { spend_limit_microusd: 123_456_789_012_345 }
    const key = await seeded.api<{ readonly id: string }>("POST", `/api/projects/${id}/keys`, { name, ...limits })
    const { errors, page } = await signIn(phone)
    await open(page, `/p/${id}/keys`)
    await page.getByRole("button", { name: /^Project: / }).click()
    const item = page.getByRole("menuitem", { name, exact: true })
    await item.waitFor()
    const cut = await item.evaluate((line) =>
      [line, ...line.querySelectorAll("*")]
        .filter(({ clientWidth, scrollWidth }) => scrollWidth > clientWidth)
        .map((each) => each.ownerDocument.defaultView?.getComputedStyle(each).textOverflow)
    )
    expect(cut).toEqual(["ellipsis"])
    await open(page, `/p/${id}/keys?key=${key.id}`)
    await page
      .getByRole("table", { name: "Limits that apply to this key" })
      .getByText("$123,456,789.012345")
      .first()
      .waitFor()
    const drawer = page.getByRole("dialog")
    expect(await drawer.evaluate(({ clientWidth, scrollWidth }) => scrollWidth - clientWidth)).toBe(0)
    expect(errors).toEqual([])
  })

  it("says what a key has spent of what, which call failed, and a threshold whole", async () => {
    const of = `/api/projects/${seeded.projectId}`
    await (await callOf("sim/fail")).text()
    await seeded.api("PUT", `${of}/alerts`, {
      webhook_url: null,
      thresholds: [{ type: "spend", amount_microusd: 1_250_500_000, period: "month" }]
    })
    const { errors, page } = await signIn(phone)
    await open(page, `${seeded.paths["keys"]}`)
    const spent = (name: RegExp) => page.getByRole("row", { name }).getByRole("cell").nth(1)
    await expect.poll(() => spent(/^ci/).innerText()).toMatch(/^\$0\s+of \$5\.00$/)
    const unlimited = spent(/^default/)
    expect(await unlimited.innerText()).toMatch(/no limit$/)
    expect(await unlimited.evaluate((cell) => cell.scrollWidth <= cell.clientWidth)).toBe(true)

    await open(page, `${seeded.paths["requests"]}`)
    const calls = page.getByRole("table", { name: "Calls" }).getByRole("row")
    await calls.filter({ hasText: "sim/fail" }).getByRole("img", { name: "error" }).waitFor()
    const routed = calls.filter({ hasText: "auto →" }).first()
    expect(await routed.innerText()).toMatch(/sim/)
    expect(await routed.innerText()).not.toContain("→")
    expect(await routed.getByRole("img").count()).toBe(0)

    await open(page, `${seeded.paths["alerts"]}`)
    const amount = page.getByRole("textbox", { name: "At" })
    await expect.poll(() => amount.inputValue()).toBe("$1250.5")
    expect(await amount.evaluate((field) => field.scrollWidth <= field.clientWidth)).toBe(true)
    expect(errors).toEqual([])
  })

  it("a list has all that it shows in view", { timeout: 120_000 }, async () => {
    // it is ended after 20 seconds, which all these pages take on a busy machine
    const begin = () => callOf("sim/stall-mid", { stream: true })
    const { errors, page } = await signIn(phone)
    const lists = ["keys", "requests", "refused", "routing", "models", "analyses", "samples", "credits", "audit"]
    const paths = {
      ...Object.fromEntries(lists.map((name) => [name, seeded.paths[name] ?? ""])),
      running: `/p/${seeded.projectId}/requests?tab=running`,
      credentials: `/p/${seeded.projectId}/providers`,
      people: "/admin",
      projects: "/admin?tab=projects",
      configuration: `/p/${seeded.projectId}/routing/${longSlug}`
    }
    const problems: Array<string> = []
    for (const [name, path] of Object.entries(paths)) {
      const shown = name === "running" ? await begin() : undefined
      await open(page, path)
      if (name !== "configuration") await page.getByRole("table").first().waitFor()
      for (const cut of await cutIn(page)) problems.push(`${name}: ${cut}`)
      await shown?.body?.cancel()
    }
    expect([...problems, ...errors].join("\n")).toBe("")
    const running = await begin()
    await open(page, paths["running"])
    const row = page.getByRole("row").filter({ hasText: "sim/stall-mid" })
    expect(await row.getByText("sim/stall-mid", { exact: true }).isVisible()).toBe(true)
    await row.getByRole("button", { name: "Stop the call of sim/stall-mid" }).click()
    await running.text()
  })

  it("says whole what a collection stores, and which it is", async () => {
    const { errors, page } = await signIn({ width: 390, height: 844 })
    await open(page, seeded.paths["analyses"] ?? "")
    await page.getByRole("button", { name: "Change" }).click()
    const choice = page.getByRole("dialog").getByRole("radiogroup", { name: "What is stored" })
    await choice.getByRole("radio", { name: "Requests and responses as they were sent", checked: true }).waitFor()
    await choice.getByText("No text, only sizes and what tells blocks apart").click()
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page.getByTestId("collection").getByText("without their text", { exact: false }).waitFor()
    expect(errors).toEqual([])
  })

  it("a long name is shown whole in what it opens", async () => {
    const model = `sim/${"x".repeat(150)}`
    await (await callOf(model)).text()
    const { page } = await signIn(phone)
    const refused = page.getByRole("row").filter({ hasText: "model_not_found" }).first()
    await expect
      .poll(async () => {
        await open(page, seeded.paths["refused"] ?? "")
        await refused.click()
        return page.getByRole("dialog").innerText()
      })
      .toContain(model)
    const drawer = page.getByRole("dialog")
    expect(await drawer.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0)
  })

  it("every page can be gone to, whatever its width", async () => {
    const { page } = await signIn(phone)
    await open(page, "/")
    for (const width of [360, 767, 768, 769, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      const link = page.getByRole("link", { name: "Keys", exact: true })
      const burger = page.getByRole("button", { name: "Open the navigation" })
      await expect
        .poll(async () => [await link.isVisible(), await burger.isVisible()].join(), { message: `${width}` })
        .toBe(width < 768 ? "false,true" : "true,false")
    }
    await page.setViewportSize(phone)
    await page.getByRole("button", { name: "Open the navigation" }).focus()
    await page.keyboard.press("Enter")
    await page.getByRole("link", { name: "Keys", exact: true }).focus()
    // what it covers is not reached by a key, and a key closes it
    expect(await page.getByRole("radio", { name: "7 d" }).count()).toBe(0)
    await page.keyboard.press("Escape")
    await page.getByRole("link", { name: "Keys", exact: true }).waitFor({ state: "hidden" })
    expect(await page.locator(":focus").getAttribute("aria-label")).toBe("Open the navigation")
    await page.getByRole("radio", { name: "7 d" }).waitFor({ state: "attached" })
  })
})
