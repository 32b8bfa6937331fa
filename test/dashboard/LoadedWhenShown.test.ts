import { describe, expect, it } from "vitest"
import { hasChromium } from "../support/Chromium.ts"
import { journey } from "./Journey.ts"

describe.skipIf(!hasChromium)("what is loaded when it is first shown", () => {
  const at = journey()

  it("is shown as soon as it is there: no timer is waited for", async () => {
    const { projectId, service } = at()
    const { errors, page } = await at().signIn()
    // from the start: what the page keeps of its timers is this clock's
    await page.clock.install()
    await page.goto(`${service.url}/dashboard/p/${projectId}/keys`)
    const create = page.getByText("Create key", { exact: true }).first()
    await create.waitFor()
    // timers stand still
    await page.clock.pauseAt(Date.now() + 60_000)
    await create.dispatchEvent("click")
    await page.getByRole("dialog").getByRole("textbox", { name: "Name", exact: true }).waitFor()
    expect(errors).toEqual([])
  })
})
