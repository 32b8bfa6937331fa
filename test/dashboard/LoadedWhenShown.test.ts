import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { hasChromium, settled } from "../support/Chromium.ts"
import { journey } from "./Journey.ts"

describe.skipIf(!hasChromium)("what is loaded when it is first shown", () => {
  const at = journey()

  it("is shown as soon as it is there, without a pause", async () => {
    const { projectId, service } = at()
    const { errors, page } = await at().signIn()
    // before the page keeps them: once they are told to, no timer ends that is set for longer than this, and no interval
    await page.addInitScript(`{
      const { setInterval, setTimeout } = window
      window.setTimeout = (run, millis, ...values) =>
        window.arePausesEndless && millis > 50 ? 0 : setTimeout(run, millis, ...values)
      window.setInterval = (run, millis) => setInterval(() => window.arePausesEndless || run(), millis)
    }`)
    await page.goto(`${service.url}/dashboard/p/${projectId}/keys`)
    const create = page.getByText("Create key", { exact: true }).first()
    await create.waitFor()
    await page.evaluate("window.arePausesEndless = true")
    await create.click()
    await page.getByRole("dialog").getByRole("textbox", { name: "Name", exact: true }).waitFor()
    expect(errors).toEqual([])
  })

  it("leaves the page as it is where its code cannot be loaded, and is shown when it is asked for again", async () => {
    const { projectId, service } = at()
    const { errors, page } = await at().signedIn()
    await page.goto(`${service.url}/dashboard/p/${projectId}/policy`)
    const price = page.getByRole("textbox", { name: "Highest input price" })
    await price.fill("123")
    const files = "**/dashboard/**"
    await page.route(files, (route) => route.abort())
    const project = page.getByRole("button", { name: /^Project: / })
    await project.click()
    const alert = page.getByRole("alert")
    await alert.getByText("The service does not answer.").waitFor()
    // the button can be pressed again
    await alert.getByRole("button", { name: "Close" }).click()
    await alert.waitFor({ state: "detached" })
    await project.click()
    await alert.getByRole("button", { name: "Close" }).click()
    await page.keyboard.press("Control+k")
    const retry = alert.getByRole("button", { name: "Retry" })
    await retry.click()
    // what asks whether the service answers, and would load the page again
    await settled(page)
    await page.unroute(files)
    await retry.click()
    await page.getByRole("combobox", { name: "Page, project, model or request id" }).fill("activity")
    await page.keyboard.press("Escape")
    await alert.waitFor({ state: "detached" })
    expect(await price.inputValue()).toBe("$123")
    await project.click()
    await page.getByRole("menuitem", { name: "New project" }).waitFor()
    expect(errors).toEqual([])
  })

  it("is missed in its own place where it is a part of the page", async () => {
    const { errors, page } = await at().signIn()
    const part = /assets\/FirstCall-.*js/
    await page.route(part, (route) => route.abort())
    await page.reload()
    const alert = page.getByRole("main").getByRole("alert")
    await alert.getByText("The service does not answer.").waitFor()
    await page.unroute(part)
    await alert.getByRole("button", { name: "Retry" }).click()
    await page.getByRole("main").getByRole("textbox", { name: "Message" }).waitFor()
    expect(await alert.count()).toBe(0)
    expect(errors).toEqual([])
  })

  it("is loaded by a new page where the service answers and does not have it any more", async () => {
    const { errors, page } = await at().signIn()
    const palette = /assets\/Palette-.*js/
    await page.route(palette, (route) => route.fulfill({ status: 404, json: {} }))
    await page.keyboard.press("Control+k")
    const again = page.waitForEvent("load")
    await page.getByRole("alert").getByRole("button", { name: "Retry" }).click()
    await again
    await page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    expect(errors).toEqual([])
  })

  const held = async (page: Page, files: RegExp) => {
    const going: Array<() => void> = []
    await page.route(files, (route) => new Promise((go) => going.push(() => go(route.continue()))))
    return {
      asked: () => expect.poll(() => going.length).toBe(1),
      release: () => {
        for (const go of going) go()
      }
    }
  }

  it("leaves a person who has gone on to where they are when a menu comes late", async () => {
    const { projectId, service } = at()
    const { errors, page } = await at().signedIn()
    await page.goto(`${service.url}/dashboard/p/${projectId}/models`)
    const field = page.getByRole("textbox", { name: "Name" })
    await field.waitFor()
    const menu = await held(page, /assets\/UserMenuItems-.*js/)
    const button = page.getByRole("button", { name: "You", exact: true })
    await button.click()
    await menu.asked()
    await field.fill("fa")
    menu.release()
    // as the button of a menu that is there
    await button.and(page.locator("[aria-expanded]")).waitFor()
    await page.keyboard.type("st")
    expect([await field.inputValue(), await page.getByRole("menu").count()]).toEqual(["fast", 0])
    await button.click()
    await page.getByRole("menuitem", { name: "Sign out" }).waitFor()
    expect(errors).toEqual([])
  })

  it.each([
    ["You", /assets\/UserMenuItems-.*js/, "Sign out"],
    [/^Project: /, /assets\/ProjectMenu-.*js/, "New project"]
  ])("is shown though the page has become another one meanwhile (menu of %s)", async (name, files, item) => {
    const { errors, page } = await at().signIn()
    await page.getByRole("link", { name: "Credits", exact: true }).click()
    await page.getByRole("heading", { name: "Credits", exact: true }).waitFor()
    const menu = await held(page, files)
    await page.getByRole("button", { name, exact: true }).click()
    await menu.asked()
    // as an address does that leads on to another one
    await page.evaluate("history.back()")
    await page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    menu.release()
    await page.getByRole("menuitem", { name: item }).waitFor()
    expect(errors).toEqual([])
  })

  it("keeps the page from taking what is typed for it before it has come", async () => {
    const { projectId, service } = at()
    const { errors, page } = await at().signedIn()
    await page.goto(`${service.url}/dashboard/p/${projectId}/keys`)
    await page.getByRole("table", { name: "Keys of this project" }).waitFor()
    const palette = await held(page, /assets\/Palette-.*js/)
    await page.keyboard.press("Control+k")
    await palette.asked()
    await page.keyboard.type("credits")
    expect(page.url()).not.toContain("new=")
    palette.release()
    await page.getByRole("combobox", { name: "Page, project, model or request id" }).waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    await page.keyboard.press("c")
    await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).waitFor()
    expect(errors).toEqual([])
  })
})
