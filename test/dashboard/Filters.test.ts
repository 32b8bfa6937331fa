import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { hasChromium } from "../support/Chromium.ts"
import { journey } from "./Journey.ts"

describe.skipIf(!hasChromium)("a filter that is typed", () => {
  const at = journey()
  const opened = async (page: Page, path: string) => {
    await page.goto(`${at().service.url}/dashboard/p/${at().projectId}${path}`)
    await page.locator("main").getByRole("textbox").first().waitFor()
  }
  const searchOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)

  it("takes effect while a person goes on typing in the same field", async () => {
    const { errors, page } = await at().signIn()
    for (const [path, name, parameter] of [
      ["/models", "Name", "q"],
      ["/requests", "Search", "q"],
      ["/requests", "Model", "model"]
    ] as const) {
      await opened(page, path)
      const field = page.getByRole("textbox", { name, exact: true })
      await field.click()
      await page.keyboard.type("sim")
      await expect.poll(() => searchOf(page)[parameter]).toBe("sim")
      await page.keyboard.type("2/deep")
      await expect.poll(() => searchOf(page)[parameter]).toBe("sim2/deep")
      expect(await field.inputValue()).toBe("sim2/deep")
    }
    expect(errors).toEqual([])
  })

  it("shows a key and a provider that are not among those to choose from", async () => {
    const { page } = await at().signIn()
    await opened(page, "/requests?key=00000000-0000-7000-8000-0000deadbeef&provider=gone")
    const fieldOf = (name: string) => page.locator("main").getByRole("combobox", { name, exact: true })
    await expect.poll(() => fieldOf("Key").inputValue()).toBe("deadbeef")
    expect(await fieldOf("Provider").inputValue()).toBe("gone")
    await page.getByRole("button", { name: "Clear the filters" }).click()
    await expect.poll(() => fieldOf("Key").inputValue()).toBe("")
  })

  it("shows what is filtered after going back, and nothing once the filters are cleared", async () => {
    const { page } = await at().signIn()
    await opened(page, "/requests?model=sim/none")
    const field = page.getByRole("textbox", { name: "Model", exact: true })
    await field.fill("sim/best")
    await expect.poll(() => searchOf(page)["model"]).toBe("sim/best")
    await page.goBack()
    await expect.poll(() => field.inputValue()).toBe("sim/none")
    await page.getByRole("button", { name: "Clear the filters" }).click()
    await expect.poll(() => field.inputValue()).toBe("")
  })
})
