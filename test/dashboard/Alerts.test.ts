import { describe, expect, it } from "vitest"
import { hasChromium } from "../support/Chromium.ts"
import { journey } from "./Journey.ts"

describe.skipIf(!hasChromium)("the thresholds of a project", () => {
  const at = journey()

  it("are said to be saved, and to be without effect where they are part of a limit that there is none of", async () => {
    const { api, projectId, service, signIn } = at()
    const { errors, page } = await signIn()
    const open = () => page.goto(`${service.url}/dashboard/p/${projectId}/alerts`)
    const warning = page.getByText("The project has no spend limit yet")
    await open()
    await page.getByRole("button", { name: "Add threshold" }).click()
    expect(await warning.count()).toBe(0)
    await page.getByRole("combobox", { name: "Of" }).click()
    await page.getByRole("option", { name: "% of the project's limit" }).click()
    await warning.waitFor()
    await page.getByRole("textbox", { name: "At" }).fill("80")
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page.getByText("Saved.").waitFor()
    await page.getByRole("link", { name: "Set a limit" }).click()
    await page.getByRole("textbox", { name: "Spend limit" }).waitFor()
    await api("PATCH", `/api/projects/${projectId}`, { spend_limit_microusd: 5_000_000 })
    await open()
    await expect.poll(() => page.getByRole("textbox", { name: "At" }).inputValue()).toBe("80 %")
    expect(await warning.count()).toBe(0)
    await page.getByRole("button", { name: "Remove threshold 1" }).focus()
    await page.keyboard.press("Enter")
    await page.getByText("No thresholds yet").waitFor()
    expect(await page.locator(":focus").innerText()).toBe("Add threshold")
    expect(errors).toEqual([])
  })
})
