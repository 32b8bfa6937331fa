import { describe, expect, it } from "vitest"
import { money } from "../../src/dashboard/parts/format.ts"
import { hasChromium, holdAnswers, settled } from "../support/Chromium.ts"
import { type Journey, journey, polling } from "./Journey.ts"

interface Activity {
  readonly by_model: ReadonlyArray<{ readonly model: string; readonly spend_microusd: number }>
}

const attentionOf = async ({ signIn }: Journey) => {
  const { errors, page } = await signIn()
  return { errors, page, attention: page.locator(".block").filter({ hasText: "Attention" }) }
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

  it("says whose balance pays once that is known", async () => {
    const { api, service, signIn } = at()
    const { id } = await api<{ readonly id: string }>("POST", "/api/me/projects", { name: "paid by whom" })
    const { errors, page } = await signIn()
    const held = await holdAnswers(page, "**/api/me/projects?*", "GET")
    const balance = page.waitForResponse("**/api/me/balance")
    await page.goto(`${service.url}/dashboard/p/${id}`)
    await (await balance).finished()
    // the figures are there
    await page.getByText("No calls finished in this period.").waitFor()
    const ofPayer = page.getByText("Available", { exact: true }).or(page.getByText(/It is paid from/))
    expect(await ofPayer.allInnerTexts()).toEqual([])
    // what anybody may know does not wait for it, and stays where it is
    const calls = page.getByText("Calls, 24 h", { exact: true })
    const place = await calls.boundingBox({ timeout: 10_000 })
    held.release()
    await expect.poll(() => ofPayer.allInnerTexts()).toHaveLength(2)
    expect(await calls.boundingBox()).toEqual(place)
    expect(errors).toEqual([])
  })

  it("sends the first message of a project also where the button is clicked twice", async () => {
    const { api, service, signedIn } = at()
    const { id } = await api<{ readonly id: string }>("POST", "/api/me/projects", { name: "new" })
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${id}`)
    // the second click reaches the button that takes its place
    await page.getByRole("button", { name: "Send", exact: true }).dblclick()
    await page.getByTestId("call-summary").waitFor()
    const read = () => api<{ readonly items: ReadonlyArray<unknown> }>("GET", `/api/projects/${id}/requests`)
    await expect.poll(async () => (await read()).items.length, polling).toBe(1)
    expect(errors).toEqual([])
  })

  it("offers the first message of a project that was created on the page of another", async () => {
    const { errors, page } = await at().signIn()
    await at()
      .service.post("/v1/chat/completions", { model: "sim/fast", messages: [{ role: "user", content: "Hello" }] })
      .then((answer) => answer.text())
    await page.reload()
    await page.getByRole("region", { name: "Attention" }).getByText(/\w/).first().waitFor()
    const first = page.getByRole("region", { name: "Your first call" })
    await first.waitFor({ state: "detached" })
    await page.getByRole("button", { name: /^Project: / }).click()
    await page.getByRole("menuitem", { name: "New project" }).click()
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("next")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Project: next" }).waitFor()
    await first.waitFor()
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
    const refused = () => api<{ readonly items: ReadonlyArray<object> }>("GET", `/api/projects/${projectId}/refusals`)
    // the page reads them once
    await expect.poll(async () => (await refused()).items.length, polling).toBe(1)
    const { errors, page } = await signIn()
    const attention = page.locator(".block").filter({ hasText: "Attention" })
    await attention.getByText(/Key nearly spent has spent \d+(\.\d+)? % of its limit/).waitFor()
    await attention.getByText("1 request was refused in the last 24 hours.").waitFor()
    expect(errors).toEqual([])
  })

  it("names the models that fail, also where they are still tried, and leads to the calls that failed", async () => {
    const { projectId, service, signedIn } = at()
    const { errors, page } = await signedIn()
    const failing = { "sim/best": { failure: 0.75 }, "sim/deep": { failure: 0.9, open_for_ms: 20_000 } } as const
    await page.route("**/api/models?*", async (route) => {
      const response = await route.fetch()
      const body = (await response.json()) as {
        readonly items: ReadonlyArray<{ readonly id: keyof typeof failing; readonly health: object }>
      }
      const items = body.items.map((model) => ({ ...model, health: { ...model.health, ...failing[model.id] } }))
      return route.fulfill({ response, json: { ...body, items } })
    })
    await page.goto(`${service.url}/dashboard/p/${projectId}`)
    const attention = page.locator(".block").filter({ hasText: "Attention" }).getByRole("listitem")
    await attention.getByText("sim/deep fails and is not tried for 20 s: failed calls").waitFor()
    await attention.filter({ hasText: "sim/best fails 75 %" }).getByRole("link", { name: "failed calls" }).click()
    await page.getByRole("heading", { name: "Requests", exact: true }).waitFor()
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ status: "error", model: "sim/best" })
    expect(errors).toEqual([])
  })

  it("asks every minute for what changes seldom, and for nothing while nobody sees it", async () => {
    const { projectId, service, signedIn } = at()
    const { page, requests } = await signedIn()
    await page.clock.install()
    await page.goto(`${service.url}/dashboard/p/${projectId}`)
    await page
      .locator(".block")
      .filter({ hasText: "Attention" })
      .getByRole("listitem")
      .or(page.getByText("Nothing needs attention"))
      .first()
      .waitFor()
    await settled(page)
    requests.length = 0
    for (let step = 0; step < 8; step += 1) {
      const refused = page.waitForResponse("**/refusals?*")
      await page.clock.fastForward(16_000)
      await refused
    }
    for (const path of ["near_limit", "/api/models?", "/api/me/projects?"]) {
      const times = requests.filter((url) => url.includes(path)).length
      expect([path, times > 0, times <= 3]).toEqual([path, true, true])
    }
    await settled(page)
    await page.evaluate(
      "Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' }); document.dispatchEvent(new Event('visibilitychange'))"
    )
    requests.length = 0
    await page.clock.fastForward(120_000)
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    expect(requests).toEqual([])
  })

  it("says what needs attention when it comes up, and not only when the page is opened", async () => {
    const { api, service, signedIn } = at()
    const { id } = await api<{ readonly id: string }>("POST", "/api/me/projects", { name: "watched" })
    const { api_key } = await api<{ readonly api_key: string }>("POST", `/api/projects/${id}/keys`, { name: "app" })
    const { errors, page } = await signedIn()
    await page.clock.install()
    await page.goto(`${service.url}/dashboard/p/${id}`)
    const attention = page.locator(".block").filter({ hasText: "Attention" })
    await attention.getByText("Nothing needs attention").waitFor()
    const body = { model: "sim/none", messages: [{ role: "user", content: "hi" }] }
    await (await service.post("/v1/chat/completions", body, { authorization: `Bearer ${api_key}` })).text()
    const refused = () => api<{ readonly items: ReadonlyArray<object> }>("GET", `/api/projects/${id}/refusals`)
    await expect.poll(async () => (await refused()).items.length, polling).toBe(1)
    await page.clock.fastForward(20_000)
    await attention.getByText("1 request was refused in the last 24 hours.").waitFor({ timeout: 10_000 })
    // what was read stays where it cannot be read anew
    await page.route("**/refusals?*", (route) => route.fulfill({ status: 500, json: {} }))
    const failed = page.waitForResponse("**/refusals?*")
    await page.clock.fastForward(20_000)
    await (await failed).finished()
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    expect(await attention.getByText("1 request was refused in the last 24 hours.").count()).toBe(1)
    expect(errors).toEqual([])
  })
})

describe.skipIf(!hasChromium)("the overview of a project with a limit", () => {
  const at = journey()
  const spend = async () => {
    const { api, projectId, service } = at()
    const body = { model: "sim/best", messages: [{ role: "user", content: "Write 60 words." }] }
    expect((await service.post("/v1/chat/completions", body)).status).toBe(200)
    const spent = async () =>
      (await api<{ readonly spent_microusd: number }>("GET", `/api/projects/${projectId}`)).spent_microusd
    await expect.poll(spent, polling).toBeGreaterThan(0)
    return spent()
  }

  it("says when the limit is nearly used and when it is used up, and leads to where it is changed", async () => {
    const { api, projectId } = at()
    const spent = await spend()
    const calm = await attentionOf(at())
    await calm.attention
      .getByText(/^Nothing needs attention: the balance lasts for a day and more, the project is not/)
      .waitFor()

    await api("PATCH", `/api/projects/${projectId}`, { spend_limit_microusd: Math.ceil(spent / 0.9) })
    const near = await attentionOf(at())
    await near.attention.getByText(/^The project has spent (90|89\.9) % of its limit of \$/).waitFor()
    await near.attention.getByRole("link", { name: "Change the limit" }).click()
    await near.page.getByRole("textbox", { name: "Spend limit" }).waitFor()

    await api("PATCH", `/api/projects/${projectId}`, { spend_limit_microusd: spent, limit_reset: "month" })
    const used = await attentionOf(at())
    await used.attention
      .getByText(
        `The project's limit of ${money(spent)} a month is used up: calls are refused (402) until the next month.`
      )
      .waitFor()
    expect([...calm.errors, ...near.errors, ...used.errors]).toEqual([])
  })

  it("names who may change it to who may not", async () => {
    const { api, projectId, service, signedIn } = at()
    const { items } = await api<{ readonly items: ReadonlyArray<{ readonly name: string }> }>(
      "GET",
      `/api/projects/${projectId}/members`
    )
    const { errors, page } = await signedIn()
    // the same project in the eyes of another person
    await page.route(/\/api\/(me\/)?projects(\/[^/]+)?(\?.*)?$/, async (route) => {
      const answer = await route.fetch()
      const body = await answer.text()
      const seen = body
        .replaceAll('"role":"owner"', '"role":"viewer"')
        .replaceAll(/"account_id":"[^"]+"/g, '"account_id":"00000000-0000-7000-8000-000000000001"')
      await route.fulfill({ response: answer, body: seen })
    })
    await page.goto(`${service.url}/dashboard/p/${projectId}`)
    const attention = page.locator(".block").filter({ hasText: "Attention" })
    await attention.getByText(`${items[0]?.name} can change it.`).waitFor()
    expect(await attention.getByRole("link", { name: "Change the limit" }).count()).toBe(0)
    expect(errors).toEqual([])
  })
})

describe.skipIf(!hasChromium)("the overview of an account with little balance", () => {
  const at = journey({ env: { GATEWAY_BOOTSTRAP_CREDIT_MICROUSD: "20000" } })

  it("says that the balance is low and when it is used up, and leads to where credit is added", async () => {
    const low = await attentionOf(at())
    await low.attention.getByText("$0.02 of the balance is left, barely enough for one long answer.").waitFor()
    await low.attention.getByRole("link", { name: "Add credit" }).click()
    await low.page.getByRole("dialog", { name: "Add credit" }).waitFor()

    const used = await at().signIn()
    await used.page.route("**/api/me/balance", async (route) => {
      const answer = await route.fetch()
      await route.fulfill({
        response: answer,
        json: { ...(await answer.json()), available_microusd: -5, held_microusd: 0 }
      })
    })
    await used.page.reload()
    await used.page.getByText("The balance is used up: calls are refused (402).").waitFor()
    expect([...low.errors, ...used.errors]).toEqual([])
  })
})
