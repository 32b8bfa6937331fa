import { afterAll, describe, expect, it } from "vitest"
import { configOf, startTalker, type Talker } from "../support/Chat.ts"
import { hasChromium } from "../support/Chromium.ts"
import { journey, polling } from "./Journey.ts"

describe.skipIf(!hasChromium)("a provider that fails", () => {
  let talker: Talker
  const at = journey(async () => {
    talker = await startTalker()
    const { providers } = configOf(talker)
    const config = {
      providers: providers.map(({ models, ...provider }) => ({
        ...provider,
        // the cheapest is tried first
        models: models
          .filter(({ id }) => id !== "acme/small")
          .map((model) => (model.id === "acme/large" ? model : { ...model, outputPriceMicroUsdPerMillion: 1 }))
      }))
    }
    return { config, env: { PROVIDER_KEY: "sk-upstream", SIMULATED_PROVIDERS: "off" } }
  })
  afterAll(() => talker.stop())

  it("is shown as it happens, in the list of calls, and with the same attempts in the call's detail", {
    timeout: 60_000
  }, async () => {
    const { errors, page } = await at().signedIn()
    const { api, projectId, service } = at()
    await api("PUT", `/api/projects/${projectId}/policy`, { default_alpha: 0 })
    await page.goto(`${service.url}/dashboard/chat`)
    await page.getByRole("textbox", { name: "Message" }).fill("Who answers?")
    await page.keyboard.press("Control+Enter")
    const trail = page.getByTestId("answer").locator(".chip")
    // the second model has been asked, and has said nothing
    const talk = await talker.talk(0)
    await trail.getByText("acme/large running").waitFor()
    const before = await trail.allInnerTexts()
    expect(before.length).toBeGreaterThan(1)
    expect(new Set(before.slice(0, -1))).toEqual(new Set(["acme/status-500 provider_error"]))
    expect(await trail.first().getAttribute("data-kind")).toBe("failed")

    talk.say("The large one.")
    talk.finish()
    await trail.getByText("acme/large success").waitFor()
    await expect.poll(() => page.getByTestId("answer-summary").innerText(), polling).toMatch(/^acme\/large · /)
    expect(await trail.allInnerTexts()).toEqual([...before.slice(0, -1), "acme/large success"])

    await page.getByRole("link", { name: "Why?" }).click()
    const attempts = page.getByRole("main").locator("ol > li")
    await attempts.first().waitFor()
    const told = await attempts.allInnerTexts()
    expect(told.map((text) => text.includes("acme/large"))).toEqual(before.map((text) => text.includes("acme/large")))
    expect(await attempts.locator(".chip").allInnerTexts()).toEqual([
      ...before.slice(1).map(() => "provider_error"),
      "ok"
    ])
    expect(told[0]).toContain("$0")

    await page.goto(`${service.url}/dashboard/p/${projectId}/requests`)
    const row = page.getByRole("table", { name: "Calls" }).getByRole("row").last()
    await row.getByText("acme/large").waitFor()
    const failed = before.length - 1
    expect(await row.locator(".chip").allInnerTexts()).toEqual([failed === 1 ? "error" : `error ×${failed}`, "ok"])
    expect(errors).toEqual([])
  })
})
