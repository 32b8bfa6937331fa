import { describe, expect, it } from "vitest"
import { hasChromium, settled } from "../support/Chromium.ts"
import { journey, polling } from "./Journey.ts"

describe.skipIf(!hasChromium)("the requests of a project", () => {
  const at = journey()
  const call = (model: string, more: object = {}) =>
    at().service.post("/v1/chat/completions", { model, messages: [{ role: "user", content: "hi" }], ...more })

  it("can be stopped while they run: what was held is shown, and what has come is charged", async () => {
    const { errors, page } = await at().signedIn()
    const running = await call("sim/stall-mid", { stream: true })
    const id = running.headers.get("x-request-id")
    await page.goto(`${at().service.url}/dashboard/p/${at().projectId}/requests?tab=running`)
    const row = page.getByRole("row").filter({ hasText: "sim/stall-mid" })
    await row.getByText(/^\$0\.\d+$/).waitFor()
    await row.getByRole("button", { name: "Stop the call of sim/stall-mid" }).click()
    expect(await running.text()).toContain("call_stopped")
    await page.getByText("No call is running").waitFor()

    await page.goto(`${at().service.url}/dashboard/requests/${id}`)
    await page.getByText("cancelled").first().waitFor()
    expect(await page.getByTestId("hold").innerText()).toMatch(
      /^Held \$0\.\d+ → settled ≈ \$0\.\d+ → released \$0\.\d+$/
    )
    expect(errors).toEqual([])
  })

  it("count on how long they have been running", async () => {
    const { projectId, service, signedIn } = at()
    const running = await call("sim/stall-mid", { stream: true })
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${projectId}/requests?tab=running`)
    const row = page.getByRole("row").filter({ hasText: "sim/stall-mid" })
    const started = () => row.getByRole("cell").first().innerText()
    const first = await started()
    expect(first).toMatch(/^\d+ s ago$/)
    await expect.poll(started, polling).not.toBe(first)
    await row.getByRole("button").click()
    await running.text()
    expect(errors).toEqual([])
  })

  it("stay chosen by the keyboard while newer ones come above them", async () => {
    const { api, service, signedIn } = at()
    const { id } = await api<{ readonly id: string }>("POST", "/api/me/projects", { name: "followed" })
    const key = await api<{ readonly api_key: string }>("POST", `/api/projects/${id}/keys`, { name: "followed" })
    const ask = async (model: string) => {
      const body = { model, messages: [{ role: "user", content: "hi" }] }
      await (await service.post("/v1/chat/completions", body, { authorization: `Bearer ${key.api_key}` })).text()
    }
    await ask("sim/best")
    await ask("sim/fast")
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${id}/requests?live=1`)
    const rows = page.getByRole("table", { name: "Calls" }).getByRole("row")
    const chosen = page.locator(".grid-row[data-active]")
    await expect.poll(() => rows.nth(2).innerText(), polling).toContain("sim/best")
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await expect.poll(() => chosen.innerText()).toContain("sim/best")
    await ask("sim2/deep")
    await expect.poll(() => rows.nth(1).innerText(), polling).toContain("sim2/deep")
    expect(await chosen.innerText()).toContain("sim/best")
    await page.keyboard.press("Enter")
    await page.getByRole("dialog").getByRole("heading", { name: "Why sim/best" }).waitFor()
    expect(errors).toEqual([])
  })

  it("are all listed while the list follows them, also those that came too fast for one request", async () => {
    const { api, service, signedIn } = at()
    const project = await api<{ readonly id: string }>("POST", "/api/me/projects", { name: "busy" })
    const key = await api<{ readonly api_key: string }>("POST", `/api/projects/${project.id}/keys`, { name: "busy" })
    const calls = async (number: number) => {
      const body = { model: "sim/fast", messages: [{ role: "user", content: "hi" }] }
      for (let made = 0; made < number; made += 1) {
        await (await service.post("/v1/chat/completions", body, { authorization: `Bearer ${key.api_key}` })).text()
      }
    }
    await calls(3)
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${project.id}/requests?live=1`)
    const rows = async () => Number(await page.getByRole("table", { name: "Calls" }).getAttribute("aria-rowcount")) - 1
    await expect.poll(rows, polling).toBe(3)
    await calls(60)
    await expect.poll(rows, polling).toBe(63)
    // a list that was scrolled down follows again where another filter begins it anew
    await page.getByRole("table", { name: "Calls" }).hover()
    await page.mouse.wheel(0, 1_500)
    await page
      .getByRole("row", { name: /sim\/fast/ })
      .first()
      .waitFor()
    await page.getByRole("combobox", { name: "Status" }).click()
    await page.getByRole("option", { name: "success" }).click()
    await page.waitForURL(/status=success/)
    await expect.poll(rows, polling).toBe(63)
    await calls(1)
    await expect.poll(rows, polling).toBe(64)
    expect(errors).toEqual([])
  })

  it("say what was excluded and why, at which alpha, and are found by a part of their id", async () => {
    const { api, projectId, service, signedIn } = at()
    await api("PUT", `/api/projects/${projectId}/policy`, { excluded_models: ["sim/best"], default_alpha: 0 })
    const answer = await call("auto")
    const id = answer.headers.get("x-request-id") ?? ""
    await answer.text()
    await (await call("sim/fast")).text()
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${projectId}/requests`)
    const rows = page.getByRole("table", { name: "Calls" }).getByRole("row")
    await expect.poll(() => rows.count(), polling).toBeGreaterThan(2)
    await page.keyboard.press("/")
    await page.keyboard.type(id.slice(0, 18).toUpperCase())
    await expect.poll(() => rows.count(), polling).toBe(2)
    expect(new URL(page.url()).searchParams.get("q")).toBe(id.slice(0, 18).toUpperCase())
    await rows.last().click()
    await page.getByText("alpha 0.00").waitFor()
    expect(await page.getByTestId("excluded").innerText()).toContain("the project's policy: 1")
    await page.goto(`${service.url}/dashboard/p/${projectId}`)
    const saved = await page.getByTestId("savings").innerText()
    expect(saved).toMatch(/^Saved ≈ \$0\.\d+ in 7 d, compared with sending everything to sim/)
    expect(errors).toEqual([])
  })

  it("of a row of the activity are those of its days", async () => {
    const { projectId, service, signedIn } = at()
    await (await call("sim/fast")).text()
    const { errors, page, requests } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${projectId}/activity?days=7`)
    const first = new Date(Date.now() - 6 * 86_400_000).toISOString().slice(0, 10)
    await page.getByRole("row").filter({ hasText: "sim/fast" }).getByRole("link", { name: "Open" }).click()
    await page.getByRole("table", { name: "Calls" }).getByText("sim/fast").first().waitFor()
    const asked = requests.filter((url) => /\/requests\?/.test(url) && url.includes("/api/")).map((url) => new URL(url))
    expect(asked.at(-1)?.searchParams.get("from")).toBe(`${first}T00:00:00.000Z`)
    expect(asked.at(-1)?.searchParams.get("model")).toBe("sim/fast")
    const shown = page.getByRole("combobox", { name: "Time" })
    expect(await shown.inputValue()).toBe(`from ${first}`)
    await shown.click()
    await page.getByRole("option", { name: "last hour" }).click()
    await page.waitForURL(/range=1h/)
    expect(new URL(page.url()).searchParams.has("since")).toBe(false)
    expect(errors).toEqual([])
  })

  it("name as having answered only a model that has, and no usage where there was none", async () => {
    const answer = await call("sim/cut")
    expect(answer.status).toBe(502)
    await answer.text()
    const { errors, page } = await at().signedIn()
    await page.goto(`${at().service.url}/dashboard/requests/${answer.headers.get("x-request-id")}`)
    await page.getByText("Last tried").waitFor()
    await page.getByText("$0 charged: a call that fails costs nothing").waitFor()
    expect(await page.getByText("Answered", { exact: true }).count()).toBe(0)
    expect(await page.getByText("the provider reported,").count()).toBe(0)
    expect(errors).toEqual([])
  })

  it("show how each attempt has ended, whole within its row", async () => {
    const answer = await call("sim/unreachable")
    expect(answer.status).toBe(502)
    await answer.text()
    const { errors, page } = await at().signedIn()
    await page.goto(`${at().service.url}/dashboard/p/${at().projectId}/requests`)
    const row = page.getByRole("table", { name: "Calls" }).getByRole("row").filter({ hasText: "sim/unreachable" })
    const tried = row.getByRole("cell").getByText("unreachable ×2", { exact: true })
    await tried.waitFor()
    expect(await tried.getAttribute("title")).toBe("sim/unreachable: provider_unreachable")
    expect(await tried.evaluate((chip) => chip.scrollWidth - chip.clientWidth)).toBe(0)
    const cell = row.getByRole("cell").filter({ has: page.getByText("unreachable ×2", { exact: true }) })
    expect(await cell.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0)
    expect(errors).toEqual([])
  })

  it("that were refused say of what is left only what is known, and one output cap that fits", async () => {
    const { api, projectId, service, signIn } = at()
    const keyOf = (name: string, more: object = {}) =>
      api<{ readonly api_key: string; readonly id: string }>("POST", `/api/projects/${projectId}/keys`, {
        name,
        ...more
      })
    const busy = await keyOf("busy")
    await api("PATCH", `/api/keys/${busy.id}`, {
      rate_limits: { requests_per_minute: null, tokens_per_minute: null, concurrent_requests: 1 }
    })
    const callWith = ({ api_key }: { readonly api_key: string }, model: string, more: object = {}) =>
      service.post(
        "/v1/chat/completions",
        { model, messages: [{ role: "user", content: "hi" }], ...more },
        { authorization: `Bearer ${api_key}` }
      )
    const running = await callWith(busy, "sim/stall-mid", { stream: true })
    expect((await callWith(busy, "sim/fast")).status).toBe(429)
    await running.body?.cancel()
    const tight = await keyOf("tight", { spend_limit_microusd: 500 })
    expect((await callWith(tight, "sim/deep", { max_tokens: 1_000 })).status).toBe(402)
    const { errors, page } = await signIn()
    const rowOf = (name: string) =>
      page.getByRole("table", { name: "Refused requests" }).getByRole("row").filter({ hasText: name })
    await expect
      .poll(async () => {
        await page.goto(`${service.url}/dashboard/p/${projectId}/requests?tab=refused`)
        await page.getByRole("table", { name: "Refused requests" }).waitFor()
        return (await rowOf("busy").count()) + (await rowOf("tight").count())
      }, polling)
      .toBe(2)
    const dialog = page.getByRole("dialog")
    await rowOf("busy").click()
    await dialog.getByText("It fits after 1.0 s.").waitFor()
    expect(await dialog.innerText()).not.toContain("—")
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    await rowOf("tight").click()
    await dialog.getByText("Raise this limit").waitFor()
    await settled(page)
    expect((await dialog.innerText()).match(/max_tokens/g)).toHaveLength(1)
    expect(errors).toEqual([])
  })
})
