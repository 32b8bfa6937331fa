import { describe, expect, it } from "vitest"
import { hasChromium, holdAnswers } from "../support/Chromium.ts"
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

  it("need no file any more once they are known", async () => {
    const { projectId, service, signedIn } = at()
    const { errors, page, requests } = await signedIn()
    const known = await holdAnswers(page, `**/api/projects/${projectId}/alerts`, "GET")
    await page.goto(`${service.url}/dashboard/p/${projectId}/alerts`)
    await known.given
    await page.getByRole("heading", { name: "Alert history" }).waitFor()
    const before = requests.length
    known.release()
    await page.getByRole("textbox", { name: "Webhook URL" }).waitFor()
    expect(requests.slice(before).filter((url) => url.includes("/assets/"))).toEqual([])
    expect(errors).toEqual([])
  })

  it("are each one of its own, above 0, and the one that is not has the focus", async () => {
    const { projectId, service, signedIn } = at()
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${projectId}/alerts`)
    const add = page.getByRole("button", { name: "Add threshold" })
    await add.click()
    await add.click()
    const second = page.getByRole("textbox", { name: "At" }).last()
    const save = page.getByRole("button", { name: "Save", exact: true })
    for (const [amount, error] of [
      ["10", "As one above"],
      ["0", "Above 0"]
    ] as const) {
      await second.fill(amount)
      await save.click()
      await page.getByText(error, { exact: true }).waitFor()
      await expect.poll(() => second.and(page.locator(":focus")).count()).toBe(1)
    }
    expect(await page.getByRole("alert").count()).toBe(0)
    await second.fill("11")
    await save.click()
    await page.getByText("Saved.").waitFor()
    expect(errors).toEqual([])
  })
})
