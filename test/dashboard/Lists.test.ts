import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { hasChromium } from "../support/Chromium.ts"
import { answersTaken, journey } from "./Journey.ts"

/** The pages of a list of so many, as the service answers them. */
const listOf = (page: Page, path: string, length: number, itemOf: (number: number, id: string) => object) =>
  page.route(new RegExp(`${path}(\\?|$)`), (route) => {
    const query = new URL(route.request().url()).searchParams
    const from = Number(query.get("cursor") ?? 0)
    const to = Math.min(length, from + Number(query.get("limit") ?? 20))
    const items = Array.from({ length: to - from }, (_, index) => {
      const number = from + index + 1
      return itemOf(number, `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`)
    })
    return route.fulfill({
      json: { items, has_more: to < length, next_cursor: to < length ? String(to) : null }
    })
  })

const at2026 = "2026-01-01T00:00:00.000Z"

const refusalOf = (id: string) => ({
  id,
  key_id: id,
  key_name: "default",
  endpoint: "chat",
  requested_model: "auto",
  status: 402,
  code: "insufficient_balance",
  message: "The balance does not cover it.",
  scope: "account",
  reason: "exhausted",
  needed_microusd: 1,
  remaining_microusd: 0,
  held_microusd: 0,
  remaining_requests: null,
  remaining_tokens: null,
  retry_after_ms: null,
  refused_at: at2026
})

describe.skipIf(!hasChromium)("a list that is longer than one request answers", () => {
  const at = journey()

  it("of all projects is read to its end", async () => {
    const { api, signedIn } = at()
    for (let number = 1; number <= 100; number += 1)
      await api("POST", "/api/me/projects", { name: `project ${number}` })
    const { errors, page } = await signedIn()
    await page.goto(`${at().service.url}/dashboard/admin?tab=projects`)
    const table = page.getByRole("table", { name: "Projects" })
    await table.getByRole("row").filter({ hasText: "project 100" }).waitFor()
    await table.hover()
    // the first project is the oldest, and the last of the list
    const oldest = table.getByRole("row").filter({ hasText: /^default/ })
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 20_000)
        return oldest.count()
      })
      .toBe(1)
    expect(errors).toEqual([])
  })

  it("of people is read to its end", async () => {
    const { errors, page } = await at().signIn()
    await listOf(page, "/api/admin/users", 150, (number, id) => ({
      id,
      account_id: id,
      name: `person ${number}`,
      issuer: null,
      subject: null,
      is_operator: false,
      created_at: at2026
    }))
    await page.goto(`${at().service.url}/dashboard/admin`)
    const table = page.getByRole("table", { name: "People" })
    await table.getByRole("row").filter({ hasText: "person 1" }).first().waitFor()
    await table.hover()
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 20_000)
        return table.getByRole("row").filter({ hasText: "person 150" }).count()
      })
      .toBe(1)
    expect(errors).toEqual([])
  })

  it("of people is asked once for a page that fails, says why, and goes on when asked to", async () => {
    const { errors, page } = await at().signIn()
    await listOf(page, "/api/admin/users", 150, (number, id) => ({
      id,
      account_id: id,
      name: `person ${number}`,
      issuer: null,
      subject: null,
      is_operator: false,
      created_at: at2026
    }))
    let asked = 0
    const next = /\/api\/admin\/users\?.*cursor=/
    await page.route(next, (route) => {
      asked += 1
      const error = { type: "server_error", code: "internal_error", message: "This page failed.", param: null }
      return route.fulfill({ status: 500, json: { error } })
    })
    await page.goto(`${at().service.url}/dashboard/admin`)
    const table = page.getByRole("table", { name: "People" })
    await table.getByRole("row").filter({ hasText: "person 1" }).first().waitFor()
    await table.hover()
    await page.mouse.wheel(0, 20_000)
    await table.getByRole("alert").getByText("This page failed.").waitFor()
    // what moves afterwards asks no more
    await page.mouse.wheel(0, -400)
    await page.mouse.wheel(0, 20_000)
    await answersTaken(page, "/api/admin/users")
    expect(asked).toBe(1)
    await page.unroute(next)
    await table.getByRole("button", { name: "Retry" }).click()
    await table.hover()
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 20_000)
        return table.getByRole("row").filter({ hasText: "person 150" }).count()
      })
      .toBe(1)
    expect(errors).toEqual([])
  })

  it("keeps its rows behind the head that stays above them", async () => {
    const { page } = await at().signedIn()
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme })
      await page.goto(`${at().service.url}/dashboard/admin`)
      const table = page.getByRole("table", { name: "People" })
      const head = table.getByRole("row").first()
      await head.waitFor()
      const [own, around] = await Promise.all(
        [head, page.locator(".block", { has: table })].map((each) =>
          each.evaluate((element) => element.ownerDocument.defaultView?.getComputedStyle(element).backgroundColor)
        )
      )
      expect(own).toBe(around)
    }
  })

  it("of payments goes on with those before", async () => {
    const { api, signedIn } = at()
    for (let number = 1; number <= 21; number += 1) {
      await api("POST", "/api/me/checkout", { credit_amount_cents: 1_000 + number })
    }
    const { errors, page } = await signedIn()
    await page.goto(`${at().service.url}/dashboard/credits`)
    const payments = page.getByRole("region", { name: "Payments" }).getByRole("table")
    await payments.getByText("$10.21").waitFor()
    await page.getByRole("button", { name: "Earlier payments" }).click()
    await payments.getByText("$10.01").waitFor()
    expect(await page.getByRole("button", { name: "Earlier payments" }).count()).toBe(0)
    expect(errors).toEqual([])
  })

  it("of members is read whole, and who may help is found among all of them", async () => {
    const { projectId, service, signIn } = at()
    const { errors, page } = await signIn()
    await listOf(page, "/members", 150, (number, id) => ({
      user_id: id,
      name: `person ${number}`,
      role: number === 150 ? "owner" : "viewer",
      is_account_owner: number === 150,
      created_at: at2026
    }))
    await page.goto(`${service.url}/dashboard/settings?tab=members`)
    const rows = page.getByRole("region", { name: "Members" }).getByRole("row")
    await rows.filter({ hasText: "person 150" }).getByText("owner, pays").waitFor()
    expect(await rows.count()).toBe(151)

    await page.route("**/api/me", async (route) => {
      const response = await route.fetch()
      return route.fulfill({ response, json: { ...(await response.json()), accounts: [] } })
    })
    await listOf(page, "/refusals", 1, (_, id) => refusalOf(id))
    await page.goto(`${service.url}/dashboard/p/${projectId}/requests?tab=refused`)
    await page.getByRole("table", { name: "Refused requests" }).getByText("insufficient_balance").click()
    await page.getByText("person 150 can add credit.").waitFor()
    expect(errors).toEqual([])
  })

  it("of refused requests opens each by its address, and says which it does not have", async () => {
    const { projectId, service, signIn } = at()
    const { errors, page } = await signIn()
    await listOf(page, "/refusals", 150, (number, id) => ({ ...refusalOf(id), code: `code_${number}` }))
    const open = (number: number) =>
      page.goto(
        `${service.url}/dashboard/p/${projectId}/requests?tab=refused&request=00000000-0000-7000-8000-${String(number).padStart(12, "0")}`
      )
    for (const number of [1, 150]) {
      await open(number)
      await page
        .getByRole("dialog", { name: `402 code_${number}` })
        .getByText("It needed")
        .waitFor()
    }
    await open(151)
    const dialog = page.getByRole("dialog", { name: "Refused request" })
    await dialog.getByText("There is no such refused request").waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    expect(new URL(page.url()).searchParams.has("request")).toBe(false)
    expect(errors).toEqual([])
  })

  it("of sessions ends one by a double click, not the next that comes in its place", async () => {
    const { signIn, signedIn } = at()
    await signIn()
    await signIn()
    const { errors, page } = await signedIn()
    await page.goto(`${at().service.url}/dashboard/settings?tab=sessions`)
    const ends = page.getByRole("button", { name: "End", exact: true })
    let ended = 0
    page.on("request", (request) => {
      if (request.method() === "DELETE") ended += 1
    })
    await ends.first().waitFor()
    const before = await ends.count()
    const box = await ends.first().boundingBox()
    if (box === null) throw new Error("it is in view")
    await page.mouse.click(box.x + 5, box.y + 5)
    await expect.poll(() => ends.count()).toBe(before - 1)
    await page.mouse.down({ clickCount: 2 })
    await page.mouse.up({ clickCount: 2 })
    await ends.first().click()
    await expect.poll(() => ends.count()).toBe(before - 2)
    expect(ended).toBe(2)
    expect(errors).toEqual([])
  })

  it("of running calls stops one by a double click, not the next that comes in its place", async () => {
    const { projectId, service, signedIn } = at()
    const { errors, page } = await signedIn()
    const stopped: Array<string> = []
    const running = ["first", "second", "third"]
    await page.route("**/in-flight?*", (route) => {
      const items = running
        .filter((id) => !stopped.includes(id))
        .map((id) => ({
          id,
          key_id: id,
          key_name: "default",
          requested_model: id,
          held_microusd: 1,
          billing_mode: "managed",
          started_at: at2026
        }))
      return route.fulfill({ json: { items, has_more: false, next_cursor: null } })
    })
    await page.route("**/in-flight/*/stop", (route) => {
      stopped.push(new URL(route.request().url()).pathname.split("/").at(-2) ?? "")
      return route.fulfill({ status: 204 })
    })
    await page.goto(`${service.url}/dashboard/p/${projectId}/requests?tab=running`)
    const box = await page.getByRole("button", { name: "Stop the call of first" }).boundingBox()
    if (box === null) throw new Error("it is in view")
    await page.mouse.click(box.x + 5, box.y + 5)
    await page.getByRole("button", { name: "Stop the call of first" }).waitFor({ state: "detached" })
    await page.mouse.down({ clickCount: 2 })
    await page.mouse.up({ clickCount: 2 })
    await page.getByRole("button", { name: "Stop the call of third" }).click()
    await page.getByRole("button", { name: "Stop the call of third" }).waitFor({ state: "detached" })
    expect(stopped).toEqual(["first", "third"])
    expect(errors).toEqual([])
  })

  it("of sessions is read whole", async () => {
    const { errors, page } = await at().signIn()
    await listOf(page, "/api/sessions", 150, (number, id) => ({
      id,
      transport: "bearer",
      address: `10.0.0.${number}`,
      user_agent: null,
      is_current: number === 150,
      created_at: at2026,
      seen_at: at2026,
      expires_at: at2026
    }))
    await page.goto(`${at().service.url}/dashboard/settings?tab=sessions`)
    const rows = page.getByRole("region", { name: "Your sessions" }).getByRole("row")
    await rows.filter({ hasText: "10.0.0.150" }).getByText("this one").waitFor()
    expect(await rows.count()).toBe(151)
    expect(errors).toEqual([])
  })

  it("of credentials is read whole, also where its pages are short", async () => {
    const { projectId, service, signedIn } = at()
    const { errors, page } = await signedIn()
    const found = (number: number, id: string) => ({
      id,
      project_id: projectId,
      provider: "sim",
      label: `credential ${number}`,
      masked_secret: "…abcd",
      allowed_models: null,
      created_at: at2026,
      updated_at: at2026
    })
    await page.route(/\/credentials\?/, (route) => {
      const number = Number(new URL(route.request().url()).searchParams.get("cursor") ?? 1)
      const id = `00000000-0000-7000-8000-00000000000${number}`
      return route.fulfill({
        json: { items: [found(number, id)], has_more: number < 3, next_cursor: number < 3 ? `${number + 1}` : null }
      })
    })
    await page.goto(`${service.url}/dashboard/p/${projectId}/providers`)
    await page.getByRole("table", { name: "Credentials" }).getByText("credential 3").click()
    await page.getByRole("dialog", { name: "sim: credential 3" }).waitFor()
    expect(errors).toEqual([])
  })

  it("of models has how many each provider lists, without those that only their id calls", async () => {
    const { api, projectId, service, signedIn } = at()
    const { items } = await api<{
      readonly items: ReadonlyArray<{ readonly provider: string; readonly listed: boolean }>
    }>("GET", `/api/models?limit=100&project_id=${projectId}`)
    const ofSim = items.filter(({ provider }) => provider === "sim")
    const listed = ofSim.filter((each) => each.listed).length
    expect(listed).toBeLessThan(ofSim.length)
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${projectId}/providers`)
    const providers = page.getByRole("region", { name: "Providers of this gateway" })
    await providers.getByText(`${listed} models`, { exact: true }).first().waitFor()
    expect(await providers.getByText(`${ofSim.length} models`, { exact: true }).count()).toBe(0)
    expect(errors).toEqual([])
  })

  it("of running calls goes on where it is scrolled to", async () => {
    const { projectId, service, signIn } = at()
    const { errors, page } = await signIn()
    await listOf(page, "/in-flight", 150, (number, id) => ({
      id,
      key_id: id,
      key_name: "default",
      requested_model: `model ${number}`,
      held_microusd: 1,
      billing_mode: "managed",
      started_at: at2026
    }))
    await page.goto(`${service.url}/dashboard/p/${projectId}/requests?tab=running`)
    const table = page.getByRole("table", { name: "Calls in flight" })
    await table.getByText("model 1", { exact: true }).waitFor()
    await table.hover()
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 20_000)
        return table.getByText("model 150", { exact: true }).count()
      })
      .toBe(1)
    expect(errors).toEqual([])
  })

  it("of routing configurations is read whole", async () => {
    const { api, projectId, service, signedIn } = at()
    const path = `/api/projects/${projectId}/routing-configurations`
    for (let number = 1; number <= 105; number += 1) await api("POST", path, { slug: `route-${number}` })
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${projectId}/routing`)
    const table = page.getByRole("table", { name: "Routing configurations" })
    await table.getByText("auto:route-105").waitFor()
    expect(await table.getAttribute("aria-rowcount")).toBe("106")
    expect(errors).toEqual([])
  })

  it("of versions goes on with those before, and each is compared with the active one", async () => {
    const { api, projectId, service, signedIn } = at()
    const path = `/api/projects/${projectId}/routing-configurations`
    await api("POST", path, { slug: "often", alpha: 0 })
    for (let number = 2; number <= 60; number += 1) await api("PUT", `${path}/often`, { alpha: number / 100 })
    await api("POST", `${path}/often/activate`, { version: 1 })
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${projectId}/routing/often`)
    const versions = page.getByRole("region", { name: "Versions" })
    await versions.getByText("v60").waitFor()
    await versions.getByRole("button", { name: "Differences" }).first().click()
    await versions.getByText("alpha: 0 → 0.6").waitFor()
    await page.getByRole("button", { name: "Earlier versions" }).click()
    await versions.getByText("v1", { exact: true }).waitFor()
    expect(await page.getByRole("button", { name: "Earlier versions" }).count()).toBe(0)
    expect(errors).toEqual([])
  })

  it("of projects and models that a conversation may use is read whole", async () => {
    const { errors, page } = await at().signIn()
    await listOf(page, "/api/chat/models", 150, (number) => ({ id: `sim/model-${number}`, provider: "sim" }))
    await listOf(page, "/api/chat/projects", 150, (number, id) => ({ id, name: `payer ${number}` }))
    await page.goto(`${at().service.url}/dashboard/chat`)
    await page.getByRole("combobox", { name: "Paid by" }).click()
    await page.getByRole("option", { name: "payer 150", exact: true }).click()
    for (const name of ["Compare with", "Model"]) {
      await page.getByRole("combobox", { name, exact: true }).fill("model-150")
      await page.getByRole("option", { name: "sim/model-150" }).click()
    }
    expect(errors).toEqual([])
  })
})
