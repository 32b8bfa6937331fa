import { describe, expect, it } from "vitest"
import { hasChromium } from "../support/Chromium.ts"
import { journey } from "./Journey.ts"

describe.skipIf(!hasChromium)("what a project may use", () => {
  const at = journey()
  const call = (model: string) =>
    at()
      .service.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "hi" }] })
      .then(async (response) => ({
        status: response.status,
        model: ((await response.json()) as { readonly model?: string }).model
      }))

  it("is simulated before it is saved, and a second tab does not overwrite it", async () => {
    const address = `${at().service.url}/dashboard/p/${at().projectId}/policy`
    const [first, second] = [await at().signIn(), await at().signIn()]
    for (const { page } of [first, second]) {
      await page.goto(address)
      await page.getByText("The same models stay eligible.").waitFor()
      await page.getByRole("combobox", { name: "Excluded models" }).fill("sim/best")
      await page.keyboard.press("Enter")
      await page.getByText("Eligible models: 6 → 5").waitFor()
    }
    expect((await call("sim/best")).status).toBe(200)
    await first.page.getByRole("button", { name: "Save version 2" }).click()
    await first.page.getByText("Rules (version 2)").waitFor()
    await first.page.getByText("Eligible models: 5 → 5").waitFor()
    expect((await call("sim/best")).status).toBe(404)

    await second.page.getByRole("button", { name: "Save version 2" }).click()
    await second.page.getByText("Changed elsewhere").waitFor()
    await second.page.getByRole("button", { name: "Retry" }).click()
    await second.page.getByText("Rules (version 2)").waitFor()

    // nothing would be left
    for (const provider of ["sim", "sim2"]) {
      await second.page.getByRole("combobox", { name: "Excluded providers" }).fill(provider)
      await second.page.keyboard.press("Enter")
    }
    await second.page.getByText("No eligible model would remain").waitFor()

    // one is saved, and the second click is not taken for another user's
    await first.page.getByRole("textbox", { name: "Exploration" }).fill("1")
    let saved = 0
    first.page.on("request", (request) => {
      if (request.method() === "PUT") saved += 1
    })
    await first.page.getByRole("button", { name: "Save version 3" }).dblclick()
    await first.page.getByText("Rules (version 3)").waitFor()
    expect(saved).toBe(1)
    expect([...first.errors, ...second.errors]).toEqual([])
  })

  it("is narrowed by a routing configuration, whose versions can be gone back to", async () => {
    const { errors, page } = await at().signedIn()
    await page.goto(`${at().service.url}/dashboard/p/${at().projectId}/routing`)
    for (const _ of [1, 2]) expect((await call("auto")).status).toBe(200)
    await page.reload()
    await page.getByTestId("curve-now").waitFor()
    await page.getByText("Table", { exact: true }).click()
    const figures = await page
      .getByRole("region", { name: "Cost and predicted quality by alpha" })
      .getByRole("row")
      .allInnerTexts()
    const costs = figures.slice(1).map((row) => Number(/\$([\d.]+)/.exec(row)?.[1]))
    expect(costs).toHaveLength(21)
    expect(costs).toEqual([...costs].sort((some, other) => some - other))
    expect(costs.at(-1)).toBeGreaterThan(costs[0] ?? 0)

    await page.getByRole("button", { name: "Cheap" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Create configuration" }).click()
    await page.getByRole("heading", { name: "auto:cheap" }).waitFor()
    await page.getByText("sim/fast: ", { exact: false }).waitFor()
    expect(await call("auto:cheap")).toEqual({ status: 200, model: "sim/fast" })

    await page.getByLabel("Choose among some models only").check({ force: true })
    await page.getByRole("combobox", { name: "Models" }).fill("sim/balanced")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Save as a new version" }).click()
    await page.getByText("Version 2 is active.").waitFor()
    expect((await call("auto:cheap")).model).toBe("sim/balanced")

    await page.getByRole("button", { name: "Differences" }).click()
    await page.getByText('models: ["sim/balanced"] → null').waitFor()
    await page.getByRole("button", { name: "Activate" }).click()
    await page.getByText("Version 1 is active.").waitFor()
    expect((await call("auto:cheap")).model).toBe("sim/fast")
    expect(errors).toEqual([])
  })

  it("is seen in the curve as it was saved, and its configurations in the chat, however short ago", async () => {
    const { errors, page } = await at().signIn()
    const go = (name: string) => page.getByRole("link", { name, exact: true }).click()
    expect((await call("auto")).status).toBe(200)
    await go("Routing")
    const now = page.getByTestId("curve-now")
    const before = await now.innerText()
    await go("Policy")
    await page.getByText("The same models stay eligible.").waitFor()
    await page.getByRole("switch", { name: "Own balance of quality and cost" }).check({ force: true })
    await page.getByRole("slider", { name: "Alpha: 0 is cheapest, 1 is best" }).press("End")
    await page.getByRole("button", { name: /^Save version/ }).click()
    await page
      .getByRole("button", { name: /^Save version/ })
      .and(page.locator("[data-disabled=true]:not([data-loading])"))
      .waitFor()
    await go("Routing")
    await expect.poll(() => now.innerText(), { timeout: 10_000 }).not.toBe(before)

    await go("Chat")
    const models = page.getByRole("combobox", { name: "Model", exact: true })
    await models.click()
    await page.getByRole("option", { name: "auto", exact: true }).waitFor()
    await page.keyboard.press("Escape")
    await go("Routing")
    await page.getByRole("button", { name: "Create configuration" }).click()
    await page.getByRole("textbox", { name: "Slug" }).fill("new")
    await page.getByRole("dialog").getByRole("button", { name: "Create configuration" }).click()
    await page.getByRole("heading", { name: "auto:new" }).waitFor()
    await go("Chat")
    await models.fill("auto:new")
    await page.getByRole("option", { name: "auto:new" }).waitFor({ timeout: 10_000 })
    expect(errors).toEqual([])
  })

  it("keeps its limits where what is typed in place of one is no number", async () => {
    const { api, projectId, service, signedIn } = at()
    const of = `/api/projects/${projectId}`
    const policyNow = () =>
      api<{
        readonly policy_version: number
        readonly managed_by_configuration: boolean
        readonly max_input_price_microusd_per_million: number | null
      }>("GET", `${of}/policy`)
    const { managed_by_configuration: _, policy_version: __, ...before } = await policyNow()
    const cap = 5_000_000
    await api("PUT", `${of}/policy`, { ...before, max_input_price_microusd_per_million: cap })
    const limits = { requests_per_minute: 7, tokens_per_minute: null, concurrent_requests: 2 }
    const key = await api<{ readonly id: string }>("POST", `${of}/keys`, { name: "limited" })
    await api("PATCH", `/api/keys/${key.id}`, { rate_limits: limits })
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${projectId}/policy`)
    for (const typed of ["-5", "-", "."]) {
      await page.getByRole("textbox", { name: "Highest input price" }).fill("")
      await page.keyboard.type(typed)
      await page
        .getByRole("button", { name: /^Save version/ })
        .and(page.locator(":not([data-disabled])"))
        .waitFor()
      await page.keyboard.press("Enter")
      await page.getByText("An amount in dollars").waitFor()
    }
    expect((await policyNow()).max_input_price_microusd_per_million).toBe(cap)
    await api("PUT", `${of}/policy`, before)
    await page.goto(`${service.url}/dashboard/p/${projectId}/keys?key=${key.id}`)
    await page.getByRole("textbox", { name: "Requests/min" }).fill("")
    await page.keyboard.type("-")
    await page.keyboard.press("Enter")
    await page.getByText("A whole number").waitFor()
    const { rate_limits } = await api<{ readonly rate_limits: object }>("GET", `/api/keys/${key.id}`)
    expect(rate_limits).toEqual(limits)
    expect(errors).toEqual([])
  })
})
