import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { hasChromium, holdAnswers } from "../support/Chromium.ts"
import { journey, polling } from "./Journey.ts"

interface Policy {
  readonly default_alpha: number
  readonly managed_by_configuration: boolean
  readonly policy_version: number
}

const calls = 32

describe.skipIf(!hasChromium)("the actions of a report", () => {
  const at = journey(async () => {
    const config = join(await mkdtemp(join(tmpdir(), "actions-")), "config.json")
    // answers that are as good cost a fraction
    await writeFile(config, JSON.stringify({ models: { "sim/balanced": { quality: 0.87 } } }))
    return { env: { GATEWAY_CONFIG: config } }
  })
  const policy = () => at().api<Policy>("GET", `/api/projects/${at().projectId}/policy`)

  it("are shown before they are applied, and undone; and cheaper models are asked only for a quoted price", async () => {
    const { errors, page } = await at().signIn()
    const { managed_by_configuration: _, policy_version: __, ...before } = await policy()
    await at().api("PUT", `/api/projects/${at().projectId}/policy`, { ...before, default_alpha: 1 })
    for (const n of Array.from({ length: calls }, (_, index) => index)) {
      await at()
        .service.post("/v1/chat/completions", { model: "auto", messages: [{ role: "user", content: `Hello, ${n}!` }] })
        .then((answer) => answer.text())
    }
    const go = (name: string) => page.getByRole("link", { name, exact: true }).click()
    const alpha = page.getByRole("slider", { name: "Alpha: 0 is cheapest, 1 is best" })
    await go("Token doctor")
    await page.getByRole("button", { name: "New analysis" }).click()
    await page.getByRole("button", { name: "Begin" }).click()
    await page.getByTestId("headline").waitFor(polling)

    const action = page.getByTestId("action").filter({ has: page.getByRole("button", { name: "Preview" }) })
    // the saving of a hypothesis is none of the sums, and not of calls that were read
    expect(await action.innerText()).toMatch(
      /May save up to \$0\.\d+ on the calls that were ranked again: a hypothesis/
    )
    expect(await action.innerText()).not.toContain("on the calls that were read")
    await action.getByRole("button", { name: "Preview" }).click()
    const preview = page.getByTestId("preview")
    await preview.getByText("After", { exact: true }).first().waitFor()
    // it is where a double click on "Preview" has its second one
    await page.getByRole("button", { name: "Apply", exact: true }).hover()
    await page.mouse.down({ clickCount: 2 })
    await page.mouse.up({ clickCount: 2 })
    expect((await policy()).default_alpha).toBe(1)
    // where there is little room, a value still has its line
    const size = page.viewportSize()
    await page.setViewportSize({ width: 390, height: 800 })
    const values = await preview
      .locator("dd dd")
      .evaluateAll((all) => all.map((each) => (each as unknown as { clientHeight: number }).clientHeight))
    expect(values.length).toBe(2)
    expect(Math.max(...values)).toBeLessThan(30)
    if (size !== null) await page.setViewportSize(size)
    const report = new URL(page.url()).pathname
    await go("Policy")
    await expect.poll(() => alpha.getAttribute("aria-valuenow")).toBe("1")
    await page.goBack()
    expect(new URL(page.url()).pathname).toBe(report)
    await action.getByRole("button", { name: "Preview" }).click()
    await preview.waitFor()
    // what another user changes meanwhile is seen before it is applied
    await at().api("PUT", `/api/projects/${at().projectId}/policy`, {
      ...before,
      default_alpha: 1,
      excluded_models: ["sim/none"]
    })
    await page.getByRole("button", { name: "Apply", exact: true }).click()
    await page.getByText("preview the action again").waitFor()
    expect((await policy()).default_alpha).toBe(1)
    const again = action.getByRole("button", { name: "Preview" })
    await expect.poll(() => again.and(page.locator(":focus")).count()).toBe(1)
    await again.click()
    await preview.waitFor()
    expect(await page.getByText("preview the action again").count()).toBe(0)
    await page.getByRole("button", { name: "Apply", exact: true }).click()
    await page.getByText(/^Done /).waitFor()
    expect((await policy()).default_alpha).toBeLessThan(1)
    await go("Policy")
    await expect.poll(() => alpha.getAttribute("aria-valuenow"), { timeout: 10_000 }).not.toBe("1")
    await page.goBack()
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByText(/^Reverted /).waitFor()
    expect((await policy()).default_alpha).toBe(1)

    await action.getByRole("button", { name: "Preview" }).click()
    await page.getByRole("button", { name: "Apply to 50 % and measure for 7 days" }).click()
    const receipt = page.getByTestId("receipt")
    await receipt.getByText(/^Measured with 50 % of the conversations until /).waitFor()
    expect((await policy()).default_alpha).toBeLessThan(1)
    await receipt.getByText(/^0 conversations with the change/).waitFor(polling)
    await page.getByRole("button", { name: "Undo" }).click()
    await receipt.getByText("A user undid the action.").waitFor()
    expect((await policy()).default_alpha).toBe(1)

    await page.getByRole("button", { name: "Test cheaper models" }).click()
    await page.getByRole("button", { name: "Show the cost" }).click()
    // nothing was collected
    await page.getByTestId("quote").getByText("Nothing can be asked").waitFor()
    expect(errors).toEqual([])
  })

  it("show what a replay has found about a cheaper model, with what it could not compare", async () => {
    const { errors, page } = await at().signedIn()
    const question = {
      incumbent: "sim/best",
      candidate: "sim/fast",
      delta: 0.05,
      pairs: 100,
      wins: 20,
      losses: 30,
      ties: 50,
      mean: -0.1,
      e_value: 0.2,
      sensitivity_lo: 0.9,
      placebo_mean: 0,
      saving_per_call_microusd: 120,
      pairs_needed: null,
      cost_to_know_microusd: null
    }
    const questions = [
      { ...question, verdict: "worse", failed: 8, left_out: 25 },
      {
        ...question,
        candidate: "sim2/fast",
        verdict: "insufficient_data",
        pairs_needed: 60,
        cost_to_know_microusd: 900
      }
    ]
    await page.route(/\/api\/analyses\/[^/]+$/, async (route) => {
      const answered = await route.fetch()
      const analysis = (await answered.json()) as { readonly report: object | null }
      const segment = { class: "code", calls: 300, spent_microusd: 40_000, served: [], questions }
      const report = analysis.report && { ...analysis.report, segments: [segment] }
      await route.fulfill({ response: answered, json: { ...analysis, report } })
    })
    await page.goto(`${at().service.url}/dashboard/p/${at().projectId}/analyses`)
    await page.getByRole("button", { name: "New analysis" }).click()
    await page.getByRole("button", { name: "Begin" }).click()
    await page.getByRole("heading", { name: "Code: 300 calls, $0.04" }).waitFor(polling)
    const worse = page.getByRole("group", { name: "sim/fast in place of sim/best" })
    expect(await worse.locator("p").allTextContents()).toEqual([
      "sim/fast in place of sim/best: worse, $0.00012 less per call",
      "100 prompts compared: 20 answered better, 30 worse (of them 8 not answered), 50 without a difference. Up to 0.05 worse on average counts as not worse; the average is -0.100.",
      "Left out: 25 prompts, because of a rate limit, an outage or timeout, a cancellation, money or the judge."
    ])
    const undecided = page.getByRole("group", { name: "sim2/fast in place of sim/best" })
    expect(await undecided.locator("p").nth(0).textContent()).toContain("not decided: too few prompts")
    expect(await undecided.locator("p").nth(2).textContent()).toBe(
      "About 60 more prompts would decide it, for about $0.0009."
    )
    expect(errors).toEqual([])
  })

  it("begin with an analysis whose button stays where it is when the estimate comes", async () => {
    const { errors, page } = await at().signedIn()
    const held = await holdAnswers(page, "**/analyses/estimate", "POST")
    await page.goto(`${at().service.url}/dashboard/p/${at().projectId}/analyses`)
    await page.getByRole("button", { name: "New analysis" }).click()
    await held.given
    const begin = page.getByRole("dialog").getByRole("button", { name: "Begin" })
    // once the dialog has come to rest
    await begin.click({ trial: true })
    const before = await begin.boundingBox()
    held.release()
    await page.getByTestId("estimate").waitFor()
    expect(await begin.boundingBox()).toEqual(before)
    expect(errors).toEqual([])
  })

  it("spend on a replay only by the button that says so, however often its cost is asked for", async () => {
    const { errors, page } = await at().signedIn()
    await page.goto(`${at().service.url}/dashboard/p/${at().projectId}/analyses`)
    await page.getByRole("button", { name: "New analysis" }).click()
    await page.getByRole("button", { name: "Begin" }).click()
    await page.getByTestId("headline").waitFor(polling)
    const confirmed: Array<boolean> = []
    await page.route("**/api/analyses/*/replay", async (route) => {
      const { confirm, max_spend_microusd } = route.request().postDataJSON() as {
        readonly confirm: boolean
        readonly max_spend_microusd: number
      }
      confirmed.push(confirm)
      const question = { class: "chat", incumbent: "sim/best", candidate: "sim/fast", pairs: 190, cost_microusd: 1_900 }
      await route.fulfill({
        json: {
          analysis_id: crypto.randomUUID(),
          started: confirm,
          judge_model: "sim/deep",
          questions: [
            { ...question, saving_per_call_microusd: 10, payback_calls: 190, payback_days: 1, advised: true }
          ],
          cost_microusd: 1_900,
          max_spend_microusd
        }
      })
    })
    await page.getByRole("button", { name: "Test cheaper models" }).click()
    const dialog = page.getByRole("dialog")
    const show = dialog.getByRole("button", { name: "Show the cost" })
    // once the dialog stands still
    await show.hover()
    const box = await show.boundingBox()
    const place = { x: (box?.x ?? 0) + 20, y: (box?.y ?? 0) + 10 }
    await page.mouse.click(place.x, place.y)
    const start = dialog.getByRole("button", { name: "Start, for $1.00 at most" })
    await start.waitFor()
    await page.mouse.click(place.x, place.y)
    await show.click()
    await start.waitFor()
    expect(confirmed).not.toContain(true)
    await start.click()
    await dialog.waitFor({ state: "detached" })
    expect(confirmed.filter((each) => each)).toEqual([true])
    expect(errors).toEqual([])
  })
})
