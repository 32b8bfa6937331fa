import { describe, expect, it } from "vitest"
import { hasChromium } from "../support/Chromium.ts"
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
    const { errors, page } = await at().signIn()
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
    await retry.waitFor()
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
})
