import type { Locator, Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { hasChromium } from "../support/Chromium.ts"
import { journey } from "./Journey.ts"

describe.skipIf(!hasChromium)("a dialog gives the focus back", () => {
  const at = journey()
  const open = async (page: Page, path: string, heading: string) => {
    await page.goto(`${at().service.url}/dashboard/p/${at().projectId}${path}`)
    await page.getByRole("heading", { name: heading, exact: true, level: 1 }).waitFor()
  }
  const hasFocus = (of: Locator) => expect.poll(() => of.and(of.page().locator(":focus")).count()).toBe(1)
  const opened = async (page: Page) => {
    await page.getByRole("dialog").waitFor()
    await expect.poll(() => page.evaluate("document.activeElement.closest('[role=dialog]') !== null")).toBe(true)
  }
  const closed = (page: Page) => page.getByRole("dialog").waitFor({ state: "hidden" })

  it("to the row that it belongs to, opened by the keyboard or the mouse", async () => {
    const { errors, page } = await at().signIn()
    await open(page, "/keys", "Keys")
    const row = page.getByRole("table", { name: "Keys of this project" }).getByRole("row").nth(1)
    await row.focus()
    await page.keyboard.press("Enter")
    await opened(page)
    await page.keyboard.press("Escape")
    await closed(page)
    await hasFocus(row)
    await row.click()
    await opened(page)
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click()
    await closed(page)
    await hasFocus(row)
    expect(errors).toEqual([])
  })

  it("to the button that began it, also after a second dialog", async () => {
    const { errors, page } = await at().signIn()
    await open(page, "/keys", "Keys")
    const button = page.getByRole("button", { name: "Create key" })
    await expect.poll(() => button.isEnabled()).toBe(true)
    await button.focus()
    await page.keyboard.press("Enter")
    await opened(page)
    await page.keyboard.press("Escape")
    await closed(page)
    await hasFocus(button)
    await page.keyboard.press("Enter")
    await opened(page)
    await page.keyboard.type("by the keyboard")
    await page.keyboard.press("Enter")
    const saved = page.getByRole("button", { name: "I have saved it" })
    await saved.focus()
    await page.keyboard.press("Enter")
    await closed(page)
    await hasFocus(button)
    expect(errors).toEqual([])
  })

  it("to the button that began it, also where the form is sent by a click", async () => {
    const { errors, page } = await at().signIn()
    await open(page, "/keys", "Keys")
    const button = page.getByRole("button", { name: "Create key" })
    await button.click()
    await opened(page)
    await page.keyboard.type("by the mouse")
    // while it is sent its button is disabled, and a disabled button loses the focus
    await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click()
    await page.getByRole("button", { name: "I have saved it" }).click()
    await closed(page)
    await hasFocus(button)
    expect(errors).toEqual([])
  })

  it("and the line that the keys of the palette have reached stays in view", async () => {
    const { errors, page } = await at().signIn()
    await page.setViewportSize({ width: 1280, height: 500 })
    await page.keyboard.press("Control+k")
    const palette = page.getByRole("dialog", { name: "Go to" })
    await palette.getByRole("option", { name: "Overview" }).waitFor()
    const isInView = () =>
      palette.getByRole("option", { selected: true }).evaluate((line) => {
        const box = line.closest("[role=listbox]")?.getBoundingClientRect()
        const { bottom, top } = line.getBoundingClientRect()
        return box !== undefined && top >= box.top - 1 && bottom <= box.bottom + 1
      })
    for (const key of [...Array(11).fill("ArrowDown"), ...Array(11).fill("ArrowUp")]) {
      await page.keyboard.press(key)
      await expect.poll(isInView).toBe(true)
    }
    expect(errors).toEqual([])
  })
})
