import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { closeProfiles, hasChromium, openPage, settled, sharedChromium } from "../support/Chromium.ts"
import { type Service, startService } from "../support/Service.ts"
import { polling } from "./Journey.ts"
import { printedLink } from "./Seeded.ts"

/** Of the design: what a first visit may ask the service for. */
const maxFiles = 9
const maxApiCalls = 4

describe.skipIf(!hasChromium)("the first run", () => {
  let service: Service
  let browser: Browser
  beforeAll(async () => {
    ;[service, browser] = await Promise.all([startService({ env: { SIMULATED_PROVIDERS: "on" } }), sharedChromium()])
  })
  afterAll(async () => {
    await closeProfiles(browser)
    await service.stop()
  })

  it("leads from the printed link to the first answer in two actions, and the balance falls by exactly its cost", async () => {
    const { errors, page, requests } = await openPage(browser, { reducedMotion: "no-preference" })
    const link = await printedLink(service)
    // one: the link
    await page.goto(link)
    const message = page.getByRole("textbox", { name: "Message" })
    await message.waitFor()
    expect(new URL(page.url()).hash).toBe("")
    expect(await page.evaluate("document.activeElement.tagName")).toBe("TEXTAREA")
    // two: Enter
    await page.keyboard.press("Enter")
    await page.getByTestId("call-summary").waitFor()
    expect((await page.getByTestId("answer").innerText()).length).toBeGreaterThan(10)
    const summary = await page.getByTestId("call-summary").innerText()
    const cost = Number(/\$([\d.]+)/.exec(summary)?.[1])
    expect(cost).toBeGreaterThan(0)
    expect(summary).toMatch(/^sim\S* · the best balance of quality and cost · /)

    // what the page shows of calls follows at once, before its next poll
    const calls = page.locator(".block").filter({ hasText: "Calls, 24 h" })
    await expect.poll(() => calls.last().innerText()).toMatch(/1$/)

    const chip = page.getByTestId("available")
    await expect.poll(() => chip.innerText(), polling).toBe(`$${(25 - cost).toFixed(6).replace(/0+$/, "")}`)

    await page.getByRole("link", { name: "Why this model?" }).click()
    await page.getByRole("heading", { name: /^Why sim/ }).waitFor()
    expect(await page.getByText("answered", { exact: true }).count()).toBe(1)
    expect(errors).toEqual([])
    expect(requests.every((url) => url.startsWith(service.url) || url.startsWith("data:"))).toBe(true)
  })

  it("works once: the same link signs nobody in again", async () => {
    const { page } = await openPage(browser)
    await page.goto(await printedLink(service))
    await page.getByText("This link does not work any more").waitFor()
    expect(await page.evaluate("localStorage.length")).toBe(0)
  })

  it("loads a page with few requests", async () => {
    const { page } = await openPage(browser)
    const api = await page.request.get(`${service.url}/dashboard/`)
    expect(api.status()).toBe(200)
    const files: Array<string> = []
    page.on("request", (request) => files.push(new URL(request.url()).pathname))
    await page.goto(`${service.url}/dashboard/`)
    await page.getByText("Open a sign-in link of this service").waitFor()
    await settled(page)
    const loaded = files.filter((path) => path.startsWith("/dashboard/"))
    expect(loaded.length).toBeLessThanOrEqual(maxFiles)
    expect(files.filter((path) => path.startsWith("/api/")).length).toBeLessThanOrEqual(maxApiCalls)
  })
})
