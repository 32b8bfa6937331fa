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

  it("to the new page where the page that it began on has gone", async () => {
    const { errors, page } = await at().signIn()
    await open(page, "/routing?new=1", "Routing")
    await page.getByRole("dialog").getByRole("textbox", { name: "Slug" }).fill("focused")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "auto:focused" }).waitFor()
    await hasFocus(page.getByRole("main"))
    expect(errors).toEqual([])
  })

  it("and so does a button that goes, here to the version that it has activated", async () => {
    const { api, projectId } = at()
    const { errors, page } = await at().signIn()
    const path = `/api/projects/${projectId}/routing-configurations`
    await api("POST", path, { slug: "versions", alpha: 0.2 })
    await open(page, "/routing/versions", "auto:versions")
    await page.getByRole("textbox", { name: "Highest input price" }).fill("7")
    await page.getByRole("button", { name: "Save as a new version" }).click()
    const saved = page.getByText("Saved.", { exact: true })
    await saved.waitFor()
    const versions = page.getByRole("region", { name: "Versions" })
    await versions.getByRole("button", { name: "Differences" }).click()
    await versions.getByText("max_input_price_microusd_per_million").waitFor()
    await versions.getByRole("button", { name: "Activate" }).focus()
    await page.keyboard.press("Enter")
    await hasFocus(versions.getByText("v1", { exact: true }))
    // neither is said of the version that is shown now
    expect(await saved.count()).toBe(0)
    expect(await versions.getByText("the same settings").count()).toBe(0)
    expect(errors).toEqual([])
  })

  it("and so does what a row stood in, where it goes with what was pressed in it", async () => {
    const { projectId, signIn, signedIn } = at()
    await signIn()
    const { errors, page } = await signedIn()
    const running = ["first", "second"]
    await page.route("**/in-flight?*", (route) => {
      const items = running.map((id) => ({
        id,
        key_id: id,
        key_name: "default",
        requested_model: id,
        held_microusd: 1,
        billing_mode: "managed",
        started_at: "2026-01-01T00:00:00.000Z"
      }))
      return route.fulfill({ json: { items, has_more: false, next_cursor: null } })
    })
    await page.route("**/in-flight/*/stop", (route) => {
      running.shift()
      return route.fulfill({ status: 204 })
    })
    await page.goto(`${at().service.url}/dashboard/p/${projectId}/requests?tab=running`)
    await page.getByRole("button", { name: "Stop the call of first" }).focus()
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Stop the call of first" }).waitFor({ state: "detached" })
    await hasFocus(page.getByRole("table", { name: "Calls in flight" }))
    await page.goto(`${at().service.url}/dashboard/settings?tab=sessions`)
    const ends = page.getByRole("button", { name: "End", exact: true })
    await ends.first().focus()
    const before = await ends.count()
    await page.keyboard.press("Enter")
    await expect.poll(() => ends.count()).toBe(before - 1)
    await hasFocus(page.getByRole("region", { name: "Your sessions" }).locator("[tabindex]"))
    expect(errors).toEqual([])
  })

  it("and so do questions and answers that come in the place of a button", async () => {
    const { api, projectId, service } = at()
    const { errors, page } = await at().signIn()
    const { id } = await api<{ readonly id: string }>("POST", `/api/projects/${projectId}/credentials`, {
      provider: "openai",
      label: "asked about",
      secret: "secret-of-it"
    })
    await open(page, `/providers?credential=${id}`, "Providers")
    const remove = page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true })
    await remove.focus()
    await page.keyboard.press("Enter")
    // a second press of the key deletes nothing
    await hasFocus(page.getByRole("button", { name: "Keep" }))
    await page.keyboard.press("Enter")
    await hasFocus(remove)
    await page.goto(`${service.url}/dashboard/settings?tab=sessions`)
    await page.getByRole("button", { name: "Make a sign-in link" }).focus()
    await page.keyboard.press("Enter")
    await hasFocus(page.locator(".secret"))
    expect(errors).toEqual([])
  })

  it("not while a field in it is wrong: that has the focus", async () => {
    const { errors, page } = await at().signIn()
    await open(page, "/routing?new=1", "Routing")
    const slug = page.getByRole("dialog").getByRole("textbox", { name: "Slug" })
    await slug.fill("Not one")
    await page.getByRole("button", { name: "Create configuration" }).last().click()
    await page.getByText("a-z, 0-9 and '-'").waitFor()
    await hasFocus(slug)
    await page.goto(`${at().service.url}/dashboard/settings?tab=members`)
    const person = page.getByRole("textbox", { name: "Id of the person" })
    await person.fill("nobody")
    await page.getByRole("button", { name: "Add", exact: true }).click()
    await page.getByRole("alert").waitFor()
    await hasFocus(person)
    expect(errors).toEqual([])
  })

  it("and has it first in the first field of its form", async () => {
    const { errors, page } = await at().signIn()
    const firstFields = [
      ["/keys", "Keys", "Create key", "textbox", "Name"],
      ["/routing", "Routing", "Create configuration", "textbox", "Slug"],
      ["/providers", "Providers", "Add credential", "combobox", "Provider"],
      ["/analyses", "Token doctor", "New analysis", "combobox", "Calls of"],
      ["/analyses", "Token doctor", "Switch on", "switch", "Collect calls that opt in"]
    ] as const
    for (const [path, heading, button, role, field] of firstFields) {
      await open(page, path, heading)
      await page.getByRole("button", { name: button }).first().click()
      await hasFocus(page.getByRole("dialog").getByRole(role, { name: field }))
      // a list that opened by itself would cover what is below it
      expect([button, await page.getByRole("listbox").count()]).toEqual([button, 0])
    }
    await open(page, "/keys", "Keys")
    await page.getByRole("table", { name: "Keys of this project" }).getByRole("row").nth(1).click()
    await page.getByRole("button", { name: "Rotate" }).click()
    await hasFocus(page.getByRole("combobox", { name: "The current secret stops working" }))
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
