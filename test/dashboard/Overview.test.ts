import { describe, expect, it } from "vitest"
import { hasChromium } from "../support/Chromium.ts"
import { journey, polling } from "./Journey.ts"

interface Activity {
  readonly by_model: ReadonlyArray<{ readonly model: string; readonly spend_microusd: number }>
}

const models = ["sim/best", "sim/deep", "sim2/deep", "sim2/balanced", "sim/balanced", "sim/fast"]

describe.skipIf(!hasChromium)("the overview", () => {
  const at = journey()

  it("has each model's part of all that was spent, and says what the models cost that it does not name", async () => {
    const { api, projectId, service, signIn } = at()
    const ask = (model: string) =>
      service.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "Write 200 words." }] })
    for (const model of models) expect((await ask(model)).status).toBe(200)
    const read = () => api<Activity>("GET", `/api/projects/${projectId}/activity?days=7`)
    await expect.poll(async () => (await read()).by_model.length, polling).toBe(models.length)
    const { by_model } = await read()
    const whole = by_model.reduce((sum, { spend_microusd }) => sum + spend_microusd, 0)
    const { errors, page } = await signIn()
    const rows = page.getByRole("list", { name: "Spend by model" }).getByRole("listitem")
    await expect.poll(() => rows.count(), polling).toBe(models.length)
    const shown = await rows.allInnerTexts()
    by_model.slice(0, 5).forEach(({ model, spend_microusd }, place) => {
      expect(shown[place]).toContain(model)
      expect(shown[place]).toContain(`· ${Number(((100 * spend_microusd) / whole).toFixed(1))} %`)
    })
    expect(shown[5]).toContain("1 more model")
    expect(errors).toEqual([])
  })

  it("calls the range that begins at midnight what it is: in it are fewer hours than in 24", async () => {
    const { errors, page } = await at().signIn()
    const range = page.getByRole("radiogroup", { name: "Range" })
    await range.getByText("Today", { exact: true }).click()
    await page.waitForURL(/days=1/)
    expect(await range.getByText("24 h").count()).toBe(0)
    await page.getByText("Table", { exact: true }).click()
    const figures = page.getByRole("region", { name: "Calls over time" })
    expect(await figures.getByRole("columnheader").first().innerText()).toBe("UTC")
    expect(await figures.getByRole("row").count()).toBe(new Date().getUTCHours() + 2)
    expect(errors).toEqual([])
  })

  it("looks at every key for those that are near their limit", async () => {
    const { api, projectId, service, signIn } = at()
    const create = (name: string, more: object = {}) =>
      api<{ readonly id: string; readonly api_key: string }>("POST", `/api/projects/${projectId}/keys`, {
        name,
        ...more
      })
    const { api_key, id } = await create("nearly spent")
    const body = { model: "sim/best", messages: [{ role: "user", content: "Write 60 words." }] }
    expect((await service.post("/v1/chat/completions", body, { authorization: `Bearer ${api_key}` })).status).toBe(200)
    const spent = async () => (await api<{ readonly spent_microusd: number }>("GET", `/api/keys/${id}`)).spent_microusd
    await expect.poll(spent, polling).toBeGreaterThan(0)
    await api("PATCH", `/api/keys/${id}`, { spend_limit_microusd: Math.ceil(1.1 * (await spent())) })
    // newer ones are listed first
    for (let each = 0; each < 21; each++) await create(`other ${each}`)
    await service.post("/v1/chat/completions", { model: "sim/none", messages: [{ role: "user", content: "hi" }] })
    const { errors, page } = await signIn()
    const attention = page.locator(".block").filter({ hasText: "Attention" })
    await attention.getByText(/Key nearly spent has spent \d+(\.\d+)? % of its limit/).waitFor()
    await attention.getByText("1 request was refused in the last 24 hours.").waitFor(polling)
    expect(errors).toEqual([])
  })
})
