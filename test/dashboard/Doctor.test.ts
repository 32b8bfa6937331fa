import { describe, expect, it } from "vitest"
import { hasChromium, holdAnswers } from "../support/Chromium.ts"
import { journey, polling } from "./Journey.ts"

interface Capture {
  readonly enabled: boolean
  readonly sampling_rate: number
  readonly samples_stored: number
}
interface Analysis {
  readonly status: string
  readonly report: { readonly method: { readonly seed: number } }
  readonly actions_taken: ReadonlyArray<{ readonly action_id: string; readonly undone_at: string | null }>
}

/** As many as show that a tool is never called. */
const calls = 32
const tool = { type: "function", function: { name: "look_up", description: "Finds a customer by name. ".repeat(40) } }
const prompt = "How many calls does this make?"

describe.skipIf(!hasChromium)("the token doctor", () => {
  const at = journey()
  const address = () => `${at().service.url}/dashboard/p/${at().projectId}/analyses`
  const capture = () => at().api<Capture>("GET", `/api/projects/${at().projectId}/capture`)
  const ask = (more: object) =>
    at()
      .service.post("/v1/chat/completions", {
        model: "sim/fast",
        temperature: 0,
        messages: [{ role: "user", content: prompt }],
        ...more
      })
      .then((answer) => answer.text())
  const analysisOf = (url: string) =>
    at().api<Analysis>("GET", `/api/analyses/${new URL(url).pathname.split("/").at(-1)}`)

  it("collects with consent, finds what is wasted, notes what was done about it, and erases", {
    timeout: 120_000
  }, async () => {
    const { errors, page } = await at().signedIn()
    await page.goto(address())
    await page.getByText("No analysis yet").waitFor()

    // nothing is collected before a user has read what it means
    await page.getByRole("button", { name: "Switch on" }).click()
    expect((await page.getByTestId("content-warning").innerText()).length).toBeGreaterThan(40)
    await page.getByRole("textbox", { name: "Share of conversations" }).fill("100")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Needed to switch it on").waitFor()
    expect(await capture()).toMatchObject({ enabled: false })
    await page.getByRole("checkbox", { name: "I have read this and may decide it for this project" }).check()
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByTestId("collection").getByText("on", { exact: true }).waitFor()
    expect(await capture()).toMatchObject({ enabled: true, sampling_rate: 1 })

    for (const _ of Array.from({ length: 3 })) await ask({})
    for (const _ of Array.from({ length: calls })) await ask({ token_doctor: true, tools: [tool] })
    await expect.poll(async () => (await capture()).samples_stored, polling).toBe(calls)

    await page.goto(`${address()}?tab=samples`)
    const samples = page.getByRole("table", { name: "Samples" })
    await samples.getByRole("row").nth(1).click()
    await page.getByRole("dialog").getByText(prompt, { exact: true }).waitFor()
    await page.getByRole("button", { name: "Erase this sample" }).click()
    // one click erases nothing, and the focus is on the way back
    const keep = page.getByRole("button", { name: "Keep" })
    await expect.poll(() => keep.and(page.locator(":focus")).count()).toBe(1)
    expect((await capture()).samples_stored).toBe(calls)
    await keep.click()
    await page.getByRole("button", { name: "Erase this sample" }).click()
    await page.getByRole("button", { name: "Erase permanently" }).click()
    await page.getByText(`${calls - 1} stored`).waitFor()
    expect((await capture()).samples_stored).toBe(calls - 1)

    await page.getByRole("button", { name: "New analysis" }).click()
    await page
      .getByTestId("estimate")
      .getByText(`It would read ${calls - 1} collected calls of 1 conversation`)
      .waitFor()
    await page.getByTestId("estimate").getByText("It costs $0").waitFor()
    await page.getByRole("button", { name: "Begin" }).click()
    await page.getByTestId("headline").waitFor(polling)
    // the seed is given to the interface again, as a number
    const { report } = await analysisOf(page.url())
    expect(report.method.seed).toBeGreaterThan(999)
    await page.getByText(String(report.method.seed), { exact: true }).waitFor()
    const cause = page.getByRole("article", { name: "The same request is sent again" })
    expect(await cause.first().innerText()).toMatch(/\$0\.\d+ · \d+(\.\d+)? %/)
    await cause
      .first()
      .getByText(/examples$/)
      .click()
    await cause.first().getByRole("link").first().waitFor()

    // the evidence leads to the place in the call
    const unused = page.getByRole("article", { name: "Tools are offered and never called" })
    await unused.getByText(/examples$/).click()
    const analysis = page.url()
    await unused.getByRole("link").first().click()
    const place = page.getByRole("dialog").locator("[aria-current=location]")
    await place.getByText("Block 1", { exact: true }).waitFor()
    expect(await place.innerText()).toContain("look_up")
    await page.goto(analysis)

    const undone: Array<string> = []
    page.on("request", (request) => request.url().endsWith("/undo") && undone.push(request.url()))
    await page.getByRole("button", { name: "I have done this" }).first().click()
    await page.getByText(/^Done /).waitFor()
    // the button is in the same place, where a double click has its second one
    await page.getByRole("button", { name: "Undo" }).hover()
    await page.mouse.down({ clickCount: 2 })
    await page.mouse.up({ clickCount: 2 })
    expect(await analysisOf(page.url())).toMatchObject({
      status: "succeeded",
      actions_taken: [{ action_id: "duplicate", undone_at: null }]
    })
    await page.reload()
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByText(/^Reverted /).waitFor()
    expect(undone).toHaveLength(1)
    expect((await analysisOf(page.url())).actions_taken[0]?.undone_at).not.toBeNull()

    await page.getByRole("link", { name: "All analyses" }).click()
    await page.getByRole("table", { name: "Analyses" }).getByText("succeeded").waitFor()
    // a list that was asked for before shows nothing of what is erased
    const listed = await holdAnswers(page, /capture\/samples\?/, "GET")
    await page.getByRole("tab", { name: "Samples" }).click()
    await listed.given
    await page.getByRole("button", { name: "Erase" }).click()
    const target = page.getByRole("combobox", { name: "What" })
    await expect.poll(() => target.and(page.locator(":focus")).count()).toBe(1)
    await page.getByRole("button", { name: "Erase permanently" }).click()
    await page.getByText("Needed", { exact: true }).waitFor()
    await page.getByRole("checkbox", { name: "I understand that this cannot be undone" }).check()
    await page.getByRole("button", { name: "Erase permanently" }).click()
    await page.getByText("0 stored").waitFor()
    listed.release()
    expect((await capture()).samples_stored).toBe(0)
    // its button has nothing to erase any more
    await page.getByRole("dialog").waitFor({ state: "detached" })
    await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("MAIN")
    await page.getByText("Nothing is collected yet").waitFor()
    expect(await page.getByText("Switch the collection on").count()).toBe(0)

    await page.getByRole("button", { name: "Change" }).click()
    await page.getByRole("switch", { name: "Collect calls that opt in" }).click()
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByTestId("collection").getByText("off", { exact: true }).waitFor()
    expect(await capture()).toMatchObject({ enabled: false })
    await page.getByText("Switch the collection on").waitFor()
    expect(errors).toEqual([])
  })

  it("begins an analysis of what was typed, however short ago", async () => {
    const { errors, page } = await at().signedIn()
    await page.goto(address())
    await page.getByRole("button", { name: "New analysis" }).click()
    await page.getByTestId("estimate").waitFor()
    await page.getByRole("textbox", { name: "Maximum conversations" }).fill("7")
    await page.keyboard.press("Enter")
    await page.waitForURL(/analyses\/[0-9a-f-]+$/)
    expect(await analysisOf(page.url())).toMatchObject({ requested_count: 7 })
    // a project has one at a time
    await expect.poll(async () => (await analysisOf(page.url())).status, polling).not.toMatch(/queued|running/)
    expect(errors).toEqual([])
  })

  it("shows how far an analysis is, and stops it", async () => {
    const { errors, page } = await at().signedIn()
    const { id } = await at().api<{ readonly id: string }>("POST", `/api/projects/${at().projectId}/analyses`, {})
    // a real one ends too soon to be looked at
    let isCancelled = false
    await page.route(`**/api/analyses/${id}`, async (route) => {
      const answer = await route.fetch()
      const running = { status: "running", report: null, progress: { phase: "load", done: 30, total: 120 } }
      await route.fulfill({ response: answer, json: { ...(await answer.json()), ...(isCancelled ? {} : running) } })
    })
    page.on("request", (request) => {
      isCancelled ||= request.method() === "POST" && request.url().endsWith(`/api/analyses/${id}/cancel`)
    })
    await page.goto(`${address()}/${id}`)
    await page.getByText("reading calls: 30 of 120 conversations").waitFor()
    expect(await page.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("25")
    await page.getByRole("button", { name: "Cancel" }).click()
    await page.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" })
    expect(isCancelled).toBe(true)
    expect(errors).toEqual([])
  })

  it("does not overwrite settings that another user has changed", async () => {
    const { page } = await at().signedIn()
    await page.goto(address())
    await page.getByRole("button", { name: "Switch on" }).click()
    const before = await at().api<Capture & { readonly config_version: number }>(
      "GET",
      `/api/projects/${at().projectId}/capture`
    )
    await at().api("PUT", `/api/projects/${at().projectId}/capture`, { ...before, retention_days: 7 })
    await page.getByRole("checkbox", { name: "I have read this and may decide it for this project" }).check()
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Changed elsewhere").waitFor()
    expect(await capture()).toMatchObject({ enabled: false, retention_days: 7 })
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByTestId("collection").getByText("on", { exact: true }).waitFor()
  })
})
