import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { hasChromium } from "../support/Chromium.ts"
import { journey } from "./Journey.ts"

const menu = /assets\/UserMenuItems-.*js/

describe.skipIf(!hasChromium)("a page whose service is replaced while it is open", () => {
  const at = journey()

  const loaded = (page: Page) => page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
  /** The page then has the name of another build's first file. */
  const replace = async (page: Page) => {
    await page.evaluate(
      "document.querySelector('script[type=module]').setAttribute('src', '/dashboard/assets/index-before.js')"
    )
    await page.route(menu, (route) => route.fulfill({ status: 404, json: {} }))
  }

  it("is loaded anew when it needs a file that is not there any more", async () => {
    const { page } = await at().signIn()
    await replace(page)
    const again = page.waitForEvent("load")
    await page.getByRole("button", { name: "You", exact: true }).click()
    await again
    await page.unroute(menu)
    await loaded(page)
    await page.getByRole("button", { name: "You", exact: true }).click()
    await page.getByRole("menuitem", { name: "Sign out" }).waitFor()
  })

  it("says so where the service does not answer, and loads the file when asked to", async () => {
    const { page } = await at().signIn()
    const menu = /assets\/UserMenuItems-.*js/
    await page.route(menu, (route) => route.abort())
    await page.getByRole("button", { name: "You", exact: true }).click()
    const alert = page.getByRole("alert")
    await alert.getByText("Not available right now").waitFor()
    await page.unroute(menu)
    await alert.getByRole("button", { name: "Retry" }).click()
    await page.getByRole("menuitem", { name: "Sign out" }).waitFor()
    expect(await alert.count()).toBe(0)
  })
})
