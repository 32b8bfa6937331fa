import { describe, expect, it } from "vitest"
import { hasChromium } from "../support/Chromium.ts"
import { journey, polling } from "./Journey.ts"

describe.skipIf(!hasChromium)("a name", () => {
  const at = journey()

  it("that is one long word leaves a dialog with its button to close it, and can be read whole", async () => {
    const { api, projectId, service, signedIn } = at()
    const name = "k".repeat(200)
    const key = await api<{ readonly id: string }>("POST", `/api/projects/${projectId}/keys`, { name })
    const { errors, page } = await signedIn()
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 })
      await page.goto(`${service.url}/dashboard/p/${projectId}/keys?key=${key.id}`)
      const drawer = page.getByRole("dialog", { name, exact: true })
      await drawer.getByRole("button", { name: "Revoke" }).click()
      const dialog = page.getByRole("dialog", { name: `Revoke ${name}` })
      await dialog.getByText(`Type the name: ${name}`).waitFor()
      for (const each of [drawer, dialog]) {
        expect(
          await each.evaluate((box) => {
            const { right } = box.getBoundingClientRect()
            const parts = [...box.querySelectorAll("h2, header, header button, label")]
            return parts.every(
              (part) => part.scrollWidth <= part.clientWidth && part.getBoundingClientRect().right <= right
            )
          })
        ).toBe(true)
      }
    }
    expect(errors).toEqual([])
  })

  it("is typed as it is shown where something is ended permanently, whatever white space it has", async () => {
    const { api, projectId, service, signedIn } = at()
    const key = await api<{ readonly id: string }>("POST", `/api/projects/${projectId}/keys`, { name: "two  spaces" })
    const project = await api<{ readonly id: string }>("POST", "/api/me/projects", { name: "a\u00a0cafe\u0301\t bar" })
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/p/${projectId}/keys?key=${key.id}`)
    await page.getByRole("button", { name: "Revoke" }).click()
    const field = page.getByRole("textbox", { name: /^Type the name: / })
    const revoke = page.getByRole("button", { name: "Revoke permanently" })
    await field.fill("twospaces")
    expect(await revoke.isDisabled()).toBe(true)
    await field.fill("two spaces")
    await revoke.click()
    await page.getByText("permanently.").waitFor()

    await page.goto(`${service.url}/dashboard/p/${project.id}`)
    await page.getByRole("link", { name: "Settings", exact: true }).click()
    await page.getByRole("button", { name: "Delete", exact: true }).click()
    await field.fill("a caf\u00e9 bar")
    await page.getByRole("button", { name: "Delete permanently" }).click()
    await page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    expect(errors).toEqual([])
  })

  it("of a project can be chosen in the menu however many there are", async () => {
    const { api, signIn } = at()
    for (let number = 1; number <= 105; number += 1)
      await api("POST", "/api/me/projects", { name: `project ${number}` })
    const { errors, page } = await signIn()
    await page.getByRole("button", { name: /^Project: / }).click()
    const menu = page.getByRole("menu")
    await menu.getByRole("menuitem", { name: "project 105" }).waitFor()
    await menu.hover()
    await page.mouse.wheel(0, 10_000)
    await expect
      .poll(async () => ((await menu.getByRole("menuitem", { name: "New project" }).boundingBox())?.y ?? 9_999) < 800)
      .toBe(true)
    await menu.getByRole("menuitem", { name: "project 1", exact: true }).click()
    await page.getByRole("button", { name: "Project: project 1", exact: true }).waitFor()
    expect(errors).toEqual([])
  })

  it("of a key stands wherever the key does, and can be chosen, however many there are", async () => {
    const { api, projectId, service, signIn } = at()
    const path = `/api/projects/${projectId}/keys`
    const oldest = await api<{ readonly api_key: string; readonly id: string }>("POST", path, { name: "the oldest" })
    for (let number = 1; number <= 200; number += 1) await api("POST", path, { name: `newer ${number}` })
    const call = (model: string) =>
      service.post(
        "/v1/chat/completions",
        { model, messages: [{ role: "user", content: "hi" }], stream: true },
        { authorization: `Bearer ${oldest.api_key}` }
      )
    const ended = await call("sim/fast")
    await ended.text()
    await (await call("sim/none")).text()
    const running = await call("sim/stall-mid")
    const { errors, page } = await signIn()
    const open = (under: string) => page.goto(`${service.url}/dashboard${under}`)
    const rowsOf = (table: string) =>
      page.getByRole("table", { name: table }).getByRole("row").filter({ hasText: "the oldest" })

    await open(`/p/${projectId}/requests?tab=running`)
    await rowsOf("Calls in flight").waitFor()
    await running.body?.cancel()
    await expect
      .poll(() => open(`/p/${projectId}/requests?tab=refused`).then(() => rowsOf("Refused requests").count()), polling)
      .toBe(1)
    await rowsOf("Refused requests").click()
    await page.getByRole("dialog").getByText("the oldest").waitFor()
    // the overview points out a key near its limit, however many newer ones there are
    await api("PATCH", `/api/keys/${oldest.id}`, { spend_limit_microusd: 1 })
    await open(`/p/${projectId}`)
    await page.getByText(/^Key the oldest has spent \d+ % of its limit\.$/).waitFor()
    await open(`/requests/${ended.headers.get("x-request-id")}`)
    await page.getByRole("link", { name: "the oldest", exact: true }).waitFor()

    await open(`/p/${projectId}/requests`)
    await rowsOf("Calls").first().waitFor()
    const field = page.locator("main").getByRole("combobox", { name: "Key", exact: true })
    await field.click()
    await field.fill("the old")
    await page.getByRole("option", { name: "the oldest", exact: true }).click()
    await page.waitForURL((url) => url.searchParams.get("key") === oldest.id)
    await page.reload()
    await expect.poll(() => field.inputValue(), polling).toBe("the oldest")

    await page.route("**/capture", async (route) => {
      const response = await route.fetch()
      return route.fulfill({ response, json: { ...(await response.json()), samples_stored: 1 } })
    })
    await open(`/p/${projectId}/analyses?tab=samples`)
    await page.getByRole("button", { name: "Erase" }).click()
    const dialog = page.getByRole("dialog", { name: "Erase samples" })
    await dialog.getByRole("combobox", { name: "What" }).click()
    await page.getByRole("option", { name: "Those of a key" }).click()
    await dialog.getByRole("combobox", { name: "Key" }).fill("the old")
    await page.getByRole("option", { name: "the oldest", exact: true }).click()
    expect(errors).toEqual([])
  })

  it("of a key stays with its calls when the key is deleted, and follows a change", async () => {
    const { api, projectId, service, signedIn } = at()
    const key = await api<{ readonly api_key: string; readonly id: string }>(
      "POST",
      `/api/projects/${projectId}/keys`,
      { name: "before" }
    )
    const answer = await service.post(
      "/v1/chat/completions",
      { model: "sim/fast", messages: [{ role: "user", content: "hi" }] },
      { authorization: `Bearer ${key.api_key}` }
    )
    await answer.text()
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/requests/${answer.headers.get("x-request-id")}`)
    await page.getByRole("link", { name: "before", exact: true }).click()
    const drawer = page.getByRole("dialog", { name: "before" })
    await drawer.getByRole("textbox", { name: "Name" }).fill("after")
    await drawer.getByRole("button", { name: "Save" }).click()
    await page.getByRole("dialog", { name: "after" }).waitFor()
    await page.goBack()
    await page.getByRole("link", { name: "after", exact: true }).waitFor()
    await api("DELETE", `/api/keys/${key.id}`)
    await page.goto(`${service.url}/dashboard/p/${projectId}/requests`)
    await page.getByRole("table", { name: "Calls" }).getByText("after", { exact: true }).waitFor()
    expect(errors).toEqual([])
  })
})
