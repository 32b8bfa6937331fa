import OpenAI from "openai"
import type { Locator } from "playwright-core"
import { describe, expect, it } from "vitest"
import { hasChromium, holdAnswers } from "../support/Chromium.ts"
import { journey, polling } from "./Journey.ts"

describe.skipIf(!hasChromium)("a key", () => {
  const at = journey()
  const hasFocus = (of: Locator) => expect.poll(() => of.and(of.page().locator(":focus")).count()).toBe(1)

  const callWith = (apiKey: string) =>
    new OpenAI({ apiKey, baseURL: `${at().service.url}/v1`, maxRetries: 0 }).chat.completions
      .create({ model: "sim/fast", messages: [{ role: "user", content: "hi" }] })
      .then(
        () => 200,
        (error: unknown) => (error instanceof OpenAI.APIError ? (error.status ?? 0) : Promise.reject(error))
      )

  it("is created, shown once, used, rotated with a grace and revoked", async () => {
    const { errors, page } = await at().signedIn()
    await page.goto(`${at().service.url}/dashboard/p/${at().projectId}/keys`)
    await page.getByRole("table", { name: "Keys of this project" }).waitFor()

    await page.keyboard.press("c")
    await page.getByRole("textbox", { name: "Name" }).fill("ci")
    await page.getByRole("textbox", { name: "Spend limit" }).fill("0.5")
    await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click()
    const secret = await page.getByTestId("secret").innerText()
    expect(secret).toMatch(/^mrg_sk_\w{38}$/)
    // closed only by the person's word that it is saved
    await page.keyboard.press("Escape")
    expect(await page.getByTestId("secret").isVisible()).toBe(true)
    expect(await callWith(secret)).toBe(200)
    await page.getByRole("button", { name: "I have saved it" }).click()
    await page.getByTestId("secret").waitFor({ state: "detached" })
    expect(await page.content()).not.toContain(secret)

    await page.getByRole("row", { name: /^ci/ }).click()
    await page.getByText("reached first").waitFor()
    await page.getByRole("button", { name: "Rotate" }).click()
    await page.getByRole("dialog", { name: "Rotate ci" }).getByRole("button", { name: "Rotate" }).click()
    const next = await page.getByTestId("secret").innerText()
    expect([await callWith(secret), await callWith(next)]).toEqual([200, 200])
    await page.getByRole("button", { name: "I have saved it" }).click()

    await page.getByRole("row", { name: /^ci/ }).click()
    await page.getByRole("button", { name: "Revoke" }).click()
    const end = page.getByRole("button", { name: "Revoke permanently" })
    expect(await end.isDisabled()).toBe(true)
    await page.getByRole("textbox", { name: "Type the name: ci" }).fill("ci")
    await end.click()
    await page.getByText("permanently.").waitFor()
    expect([await callWith(secret), await callWith(next)]).toEqual([401, 401])
    expect(errors).toEqual([])
  })

  it("is deleted once it is revoked, also as the only one of the last page", async () => {
    const { api, service, signedIn } = at()
    const project = await api<{ readonly id: string }>("POST", "/api/me/projects", { name: "many keys" })
    const keys = `/api/projects/${project.id}/keys`
    const { id } = await api<{ readonly id: string }>("POST", keys, { name: "oldest" })
    for (let count = 1; count <= 20; count++) await api("POST", keys, { name: `key ${count}` })
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${project.id}/keys?page=2&key=${id}`)
    const drawer = page.getByRole("dialog", { name: "oldest", exact: true })
    await drawer.getByRole("button", { name: "Revoke" }).waitFor()
    // one that may be in use is revoked first
    expect(await drawer.getByRole("button", { name: "Delete" }).count()).toBe(0)
    await api("POST", `/api/keys/${id}/revoke`)
    await page.reload()
    await drawer.getByRole("button", { name: "Delete" }).click()
    await drawer.getByRole("button", { name: "Delete permanently" }).click()
    await drawer.waitFor({ state: "detached" })
    await page.getByRole("row", { name: /^key 20/ }).waitFor()
    const left = await api<{ readonly items: ReadonlyArray<{ readonly name: string }> }>("GET", `${keys}?limit=100`)
    expect(left.items.map(({ name }) => name)).toEqual(Array.from({ length: 20 }, (_, at) => `key ${20 - at}`))
    expect(errors).toEqual([])
  })

  it("has the limit that was typed, and none that was rounded to it", async () => {
    const { api, projectId, service, signedIn } = at()
    const { errors, page } = await signedIn()
    const limitOf = async (name: string) => {
      const { items } = await api<{
        readonly items: ReadonlyArray<{ readonly name: string; readonly spend_limit_microusd: number | null }>
      }>("GET", `/api/projects/${projectId}/keys?limit=100`)
      return items.find((key) => key.name === name)?.spend_limit_microusd
    }
    await page.goto(`${service.url}/dashboard/p/${projectId}/keys?new=1`)
    const dialog = page.getByRole("dialog")
    const limit = dialog.getByRole("textbox", { name: "Spend limit" })
    await dialog.getByRole("textbox", { name: "Name" }).fill("rounded")
    for (const typed of ["0.0000004", "0.0000015", "1.00000049"]) {
      await limit.fill("")
      await limit.pressSequentially(typed)
      await dialog.getByRole("button", { name: "Create key" }).click()
      await dialog.getByText("An amount in dollars, of at most 6 decimals").waitFor()
      await hasFocus(limit)
    }
    expect(await limitOf("rounded")).toBeUndefined()
    await limit.fill("")
    await limit.pressSequentially("1234.000001")
    await dialog.getByRole("button", { name: "Create key" }).click()
    await page.getByRole("button", { name: "I have saved it" }).click()
    expect(await limitOf("rounded")).toBe(1_234_000_001)

    await page.getByRole("row", { name: /^rounded/ }).click()
    await limit.fill("")
    await limit.pressSequentially("0.0000004")
    await dialog.getByRole("button", { name: "Save" }).click()
    await dialog.getByText("An amount in dollars, of at most 6 decimals").waitFor()
    expect(await limitOf("rounded")).toBe(1_234_000_001)
    expect(errors).toEqual([])
  })

  it("says its whole name where the column cuts it", async () => {
    const { api, projectId, service, signedIn } = at()
    const name = `deployment of the search service, region ${"north ".repeat(20)}`.trim()
    await api("POST", `/api/projects/${projectId}/keys`, { name })
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${projectId}/keys`)
    const cell = page.getByRole("cell", { name }).first()
    expect(await cell.evaluate((box) => box.scrollWidth > box.clientWidth)).toBe(true)
    await page.getByTitle(name, { exact: true }).waitFor()
    expect(errors).toEqual([])
  })

  it("is shown also to a person who presses Escape while it is created, or gets its new secret", async () => {
    const { api, projectId, service, signIn } = at()
    const { page } = await signIn()
    const pressEscapeBeforeAnswer = async (path: string, click: () => Promise<void>) => {
      let answer = () => {}
      const asked = new Promise<void>((resolve) => {
        void page.route(path, async (route) => {
          if (route.request().method() !== "POST") return route.continue()
          await new Promise<void>((go) => {
            answer = go
            resolve()
          })
          return route.continue()
        })
      })
      await click()
      await asked
      await page.keyboard.press("Escape")
      answer()
      await page.getByTestId("secret").waitFor()
      await page.keyboard.press("Escape")
      expect(await page.getByTestId("secret").isVisible()).toBe(true)
      await page.getByRole("button", { name: "I have saved it" }).click()
    }
    await page.goto(`${service.url}/dashboard/p/${projectId}/keys?new=1`)
    await page.getByRole("textbox", { name: "Name" }).fill("slow")
    await pressEscapeBeforeAnswer("**/api/projects/*/keys", () =>
      page.getByRole("dialog").getByRole("button", { name: "Create key" }).click()
    )
    const { items } = await api<{ readonly items: ReadonlyArray<{ readonly id: string }> }>(
      "GET",
      `/api/projects/${projectId}/keys`
    )
    await page.goto(`${service.url}/dashboard/p/${projectId}/keys?key=${items[0]?.id}`)
    await page.getByRole("button", { name: "Rotate" }).click()
    const asking = page.getByRole("dialog", { name: "Rotate slow" })
    await asking.waitFor()
    // only the dialog in front closes
    await page.keyboard.press("Escape")
    await asking.waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Rotate" }).click()
    await pressEscapeBeforeAnswer("**/api/keys/*/rotate", () => asking.getByRole("button", { name: "Rotate" }).click())
  })

  it("keeps what is not changed, its expiry to the millisecond, and says until when its last secret works", async () => {
    const { api, projectId, service, signedIn } = at()
    const { id } = await api<{ readonly id: string }>("POST", `/api/projects/${projectId}/keys`, { name: "before" })
    const expires_at = new Date(Date.now() + 86_400_000).toISOString().replace(/\d\d\.\d{3}Z$/, "37.123Z")
    await api("PATCH", `/api/keys/${id}`, { expires_at })
    await api("POST", `/api/keys/${id}/rotate`, { grace_seconds: 3_600 })
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${projectId}/keys?key=${id}`)
    const drawer = page.getByRole("dialog", { name: "before" })
    await drawer.getByText(/before the last rotation works until \d+ \w+ \d{4}, \d\d:\d\d:\d\d\.$/).waitFor()
    await drawer.getByRole("textbox", { name: "Name" }).fill("after")
    await drawer.getByRole("button", { name: "Save" }).click()
    const changed = page.getByRole("dialog", { name: "after" })
    await changed.getByText("Saved.").waitFor()
    const expiry = async () => (await api<{ readonly expires_at: string }>("GET", `/api/keys/${id}`)).expires_at
    expect(await expiry()).toBe(expires_at)
    await changed.getByLabel("Expires (UTC)").fill("2031-02-03T04:05")
    await changed.getByRole("button", { name: "Save" }).click()
    await expect.poll(expiry).toBe("2031-02-03T04:05:00.000Z")
    expect(errors).toEqual([])
  })

  it("says how often it was called today and which limit is reached first once that is known", async () => {
    const { api, projectId, service, signedIn } = at()
    const { id } = await api<{ readonly id: string }>("POST", `/api/projects/${projectId}/keys`, {
      name: "known",
      spend_limit_microusd: 1_000
    })
    const { errors, page } = await signedIn()
    const activity = await holdAnswers(page, "**/activity?*", "GET")
    const project = await holdAnswers(page, `**/api/projects/${projectId}`, "GET")
    await page.goto(`${service.url}/dashboard/p/${projectId}/keys?key=${id}`)
    const called = page
      .getByRole("row", { name: /known/, includeHidden: true })
      .getByRole("cell", { includeHidden: true })
      .nth(3)
    await Promise.all([activity.given, project.given])
    const limits = page.getByRole("table", { name: "Limits that apply to this key" })
    await limits.getByText("This key").waitFor()
    // what follows from all other answers is shown
    await limits.getByText("The balance").waitFor()
    expect([await called.innerText(), await limits.getByText("reached first").count()]).toEqual(["", 0])
    activity.release()
    project.release()
    await limits.getByText("reached first").waitFor()
    await expect.poll(() => called.innerText()).toBe("0")
    expect(errors).toEqual([])
  })

  it("is in a list that was asked for before it was created", async () => {
    const { projectId, service, signIn } = at()
    const { errors, page } = await signIn()
    const list = /\/keys\?page/
    const listed = await holdAnswers(page, list, "GET")
    await page.goto(`${service.url}/dashboard/p/${projectId}/keys?new=1`)
    await page.getByRole("textbox", { name: "Name" }).fill("meanwhile")
    await listed.given
    const again = page.waitForRequest(list)
    await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click()
    await again
    listed.release()
    await page.getByRole("button", { name: "I have saved it" }).click()
    await page.getByRole("row", { name: /^meanwhile/ }).waitFor()
    expect(errors).toEqual([])
  })

  it("shows its limit whole at the width of a phone, and which calls are counted", async () => {
    const { api, projectId, service, signedIn } = at()
    await api("POST", `/api/projects/${projectId}/keys`, { name: "large", spend_limit_microusd: 12_345_000_000 })
    const { page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${projectId}/keys`)
    await page.getByRole("columnheader", { name: "Calls today" }).waitFor()
    await page.setViewportSize({ width: 390, height: 800 })
    const limit = page.getByRole("row", { name: /^large/ }).getByText("$12,345.00")
    const [cell, text] = await limit.evaluate((each) => {
      const range = each.ownerDocument.createRange()
      range.selectNodeContents(each)
      const right = (of: { getBoundingClientRect: () => { readonly right: number } }) =>
        of.getBoundingClientRect().right
      return [right(each.closest(".grid-cell") ?? each), right(range)]
    })
    expect(text).toBeLessThanOrEqual(cell ?? 0)
  })

  it("whose limit is reached refuses a call, says why, and works when the limit is raised", async () => {
    const { api, projectId, service } = at()
    const key = await api<{ readonly id: string; readonly api_key: string }>(
      "POST",
      `/api/projects/${projectId}/keys`,
      {
        name: "tight",
        spend_limit_microusd: 1
      }
    )
    expect(await callWith(key.api_key)).toBe(402)
    const { errors, page } = await at().signedIn()
    await expect
      .poll(
        async () => (await api<{ items: ReadonlyArray<unknown> }>("GET", `/api/projects/${projectId}/refusals`)).items
      )
      .toHaveLength(1)
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    await page.goto(`${service.url}/dashboard/p/${projectId}/requests?tab=refused`)
    const row = page.getByRole("row", { name: /spend_limit_exceeded/ })
    await row.waitFor()
    await page.route(/\/api\/(keys\/[^/]+|me\/balance|projects\/[^/]+)$/, async (route) => {
      await released
      await route.continue()
    })
    await row.click()
    await page.getByText(/It needed \$[\d.]+; \$0.000001 was left in the key/).waitFor()
    const raise = page.getByRole("link", { name: "Raise this limit" })
    // a click that is under way must not miss it
    const early = await raise.boundingBox()
    release()
    await page.getByText(/^\$[\d.]+ of \$0.000001$/).waitFor()
    expect(await raise.boundingBox()).toEqual(early)
    await raise.click()
    const limit = page.getByRole("textbox", { name: "Spend limit" })
    await limit.fill("1")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("$1.00").first().waitFor()
    await expect.poll(() => callWith(key.api_key), polling).toBe(200)
    expect(errors).toEqual([])
  })
})
