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
})
