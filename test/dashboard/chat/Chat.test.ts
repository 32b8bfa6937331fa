import type { Locator, Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { closeProfile, hasChromium, holdAnswers, openPage } from "../../support/Chromium.ts"
import { journey, polling } from "../Journey.ts"

describe.skipIf(!hasChromium)("conversations", () => {
  const at = journey()
  const choose = async (page: Page, model: string) => {
    await page.getByRole("combobox", { name: "Model" }).fill(model)
    await page.getByRole("option", { name: model, exact: true }).click()
  }
  const send = async (page: Page, text: string) => {
    await page.getByRole("textbox", { name: "Message" }).fill(text)
    await page.keyboard.press("Control+Enter")
  }
  const hasFocus = (of: Locator) => expect.poll(() => of.and(of.page().locator(":focus")).count()).toBe(1)
  const answer = (page: Page) => page.getByTestId("answer-text").last()

  it("are asked, answered, asked again, edited, forked, renamed and deleted", async () => {
    const { errors, page } = await at().signedIn()
    await page.goto(`${at().service.url}/dashboard/chat`)
    await choose(page, "sim/fast")
    await send(page, "What is a gateway?")
    await page.waitForURL(/\/chat\/[0-9a-f-]{36}$/)
    await page.getByRole("button", { name: "Retry" }).waitFor()
    const first = await answer(page).innerText()
    expect(first.length).toBeGreaterThan(5)
    expect(await page.getByTestId("answer-summary").last().innerText()).toMatch(/^sim\/fast · .*\$0\.\d+$/)
    await page.getByRole("navigation", { name: "Conversations" }).getByText("What is a gateway?").waitFor()

    const messages = page.getByRole("region", { name: "Messages" })
    await page.getByRole("button", { name: "Retry" }).click()
    await page.getByText("2/2").waitFor()
    await hasFocus(messages)
    await page.getByRole("button", { name: "Previous version" }).click()
    expect(await answer(page).innerText()).toBe(first)

    // what is pressed goes, and the focus stays where a person works
    await page.getByRole("button", { name: "Edit" }).click()
    await hasFocus(page.getByRole("textbox", { name: "Edited message" }))
    await page.keyboard.press("Escape")
    await hasFocus(page.getByRole("button", { name: "Edit" }))
    await page.getByRole("button", { name: "Retry" }).click()
    await page.getByText("3/3").waitFor()
    await page.getByRole("button", { name: "Edit" }).waitFor()
    await hasFocus(messages)
    await page.getByRole("button", { name: "Edit" }).click()
    await page.getByRole("textbox", { name: "Edited message" }).fill("And what is a router?")
    await page.keyboard.press("Control+Enter")
    await page.getByTestId("question").getByText("And what is a router?").waitFor()
    await page.getByRole("button", { name: "Fork" }).waitFor()
    await hasFocus(messages)

    const before = page.url()
    await page.getByRole("button", { name: "Fork" }).click()
    await page.waitForURL((url) => url.href !== before)
    await page.getByTestId("question").getByText("And what is a router?").waitFor()
    await page.getByRole("button", { name: "Rename" }).click()
    await page.getByRole("textbox", { name: "Title" }).fill("A forked one")
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page.getByRole("heading", { name: "A forked one" }).waitFor()
    await hasFocus(page.getByRole("button", { name: "Rename" }))
    await page.keyboard.press("Enter")
    expect(await page.getByRole("textbox", { name: "Title" }).inputValue()).toBe("A forked one")
    await page.getByRole("textbox", { name: "Title" }).fill("Not this")
    await page.keyboard.press("Escape")
    await page.getByRole("heading", { name: "A forked one" }).waitFor()
    await hasFocus(page.getByRole("button", { name: "Rename" }))

    await page.getByRole("button", { name: "Delete" }).click()
    await page.getByText("The conversation is deleted.").waitFor()
    await hasFocus(page.getByRole("button", { name: "Undo" }))
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "A forked one" }).waitFor()
    expect(errors).toEqual([])
  })

  it("are deleted once by a double click, and restored", async () => {
    const { api, projectId, service, signedIn } = at()
    const { id } = await api<{ readonly id: string }>("POST", "/api/chat/conversations", { project_id: projectId })
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/chat/${id}`)
    const deleted: Array<string> = []
    page.on("request", (request) => request.method() === "DELETE" && deleted.push(request.url()))
    await page.getByRole("button", { name: "Delete" }).dblclick()
    await page.getByRole("button", { name: "Undo" }).click()
    await page.waitForURL(`**/chat/${id}`)
    expect(deleted).toHaveLength(1)
    expect(errors).toEqual([])
  })

  it("take what is typed where they are opened, and bring up no keyboard of a phone", async () => {
    const { api, browser, projectId, service } = at()
    const { id } = await api<{ readonly id: string }>("POST", "/api/chat/conversations", { project_id: projectId })
    await api("PATCH", `/api/chat/conversations/${id}`, { title: "Opened by its link" })
    const { errors, page } = await at().signIn()
    const message = page.getByRole("textbox", { name: "Message" })
    await page.getByRole("link", { name: "Chat", exact: true }).click()
    await hasFocus(message)
    await page.getByRole("link", { name: "Opened by its link" }).click()
    await page.waitForURL(`**/chat/${id}`)
    await page.getByRole("heading", { name: "Opened by its link" }).waitFor()
    await hasFocus(message)
    // who works elsewhere meanwhile stays there
    const held = await holdAnswers(page, `**/conversations/${id}/events*`, "GET")
    await page.reload()
    await held.given
    await page.getByRole("button", { name: "API calls of this page" }).focus()
    held.release()
    await message.waitFor()
    await hasFocus(page.getByRole("button", { name: "API calls of this page" }))
    expect(errors).toEqual([])

    const phone = await openPage(browser, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
    const { url } = await api<{ readonly url: string }>("POST", "/api/session/links")
    await phone.page.goto(url)
    await phone.page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    await phone.page.goto(`${service.url}/dashboard/chat/${id}`)
    await phone.page.getByRole("textbox", { name: "Message" }).waitFor()
    expect(await phone.page.evaluate("document.activeElement.tagName")).toBe("BODY")
    await closeProfile(phone.page)
  })

  it("begin with questions that simulated models answer with an artifact, too", async () => {
    const { errors, page } = await at().signedIn()
    await page.goto(`${at().service.url}/dashboard/chat`)
    await page.getByRole("button", { name: /^Write a SQL query/ }).click()
    await page.getByRole("list", { name: "Artifacts of this answer" }).getByRole("button").waitFor()
    await page.getByRole("button", { name: "Retry" }).waitFor()
    expect(await answer(page).innerText()).not.toContain("not valid")
    expect(errors).toEqual([])
  })

  it("are asked at the alpha that the page names, or at that of the routing configuration", async () => {
    const { api, projectId, service, signedIn } = at()
    await api("POST", `/api/projects/${projectId}/routing-configurations`, {
      slug: "cheap",
      models: ["sim/*"],
      alpha: 0.1
    })
    const { errors, page } = await signedIn()
    const used = async () => {
      const path = `/api/projects/${projectId}/requests?limit=3`
      const { items } = await api<{ readonly items: ReadonlyArray<{ readonly alpha: number }> }>("GET", path)
      return items.map(({ alpha }) => alpha)
    }
    await page.goto(`${service.url}/dashboard/chat`)
    await choose(page, "auto:cheap")
    const field = page.getByRole("group", { name: "Alpha" })
    const slider = field.getByRole("slider")
    const shown = async () => [
      await field.getByText(/^alpha/).innerText(),
      await slider.getAttribute("aria-valuetext"),
      await field.getByRole("button").count()
    ]
    const answered = async (count: number) => {
      await expect.poll(() => page.getByRole("link", { name: "Why?" }).count()).toBe(count)
      // while an answer runs nothing is sent
      await page.getByRole("button", { name: "Retry" }).waitFor()
    }
    await expect.poll(shown).toEqual(["alpha: default", "default", 0])
    await send(page, "Which one?")
    await page.waitForURL(/\/chat\/[0-9a-f-]{36}$/)
    await answered(1)
    // it may be the alpha at which the slider stands
    await slider.click()
    await expect.poll(shown).toEqual(["alpha: 0.50", "0.50", 1])
    await slider.press("End")
    await expect.poll(shown).toEqual(["alpha: 1.00", "1.00", 1])
    await send(page, "And now?")
    await answered(2)
    await field.getByRole("button", { name: "Default" }).click()
    await hasFocus(slider)
    await expect.poll(shown).toEqual(["alpha: default", "default", 0])
    await send(page, "And then?")
    await answered(3)
    await expect.poll(used).toEqual([0.1, 1, 0.1])
    expect(errors).toEqual([])
  })

  it("begin with questions whose lines have room within their frames at the width of a phone", async () => {
    const { errors, page } = await at().signedIn()
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${at().service.url}/dashboard/chat`)
    const longest = page.getByRole("button", { name: /^Write a regular expression/ })
    await longest.waitFor()
    const { height, room } = await longest.evaluate((button) => {
      const text = button.ownerDocument.createRange()
      text.selectNodeContents(button)
      const [frame, lines] = [button.getBoundingClientRect(), text.getBoundingClientRect()]
      return { height: lines.height, room: Math.min(lines.top - frame.top, frame.bottom - lines.bottom) }
    })
    expect(height).toBeGreaterThan(24)
    expect(room).toBeGreaterThanOrEqual(4)
    expect(errors).toEqual([])
  })

  it("are written without the browser: two tabs and a reload show the same, and either can stop it", async () => {
    const { errors, page } = await at().signedIn()
    const { api, projectId, service } = at()
    const { id } = await api<{ readonly id: string }>("POST", "/api/chat/conversations", { project_id: projectId })
    // a model that begins and never ends is not offered
    const question = { content: "Write slowly", model: "sim/stall-mid", artifacts: false }
    await api("POST", `/api/chat/conversations/${id}/messages`, question)
    await page.goto(`${service.url}/dashboard/chat/${id}`)
    await expect.poll(async () => (await answer(page).innerText()).length, polling).toBeGreaterThan(0)
    const second = await page.context().newPage()
    await second.goto(page.url())
    await expect.poll(() => answer(second).innerText(), polling).toBe(await answer(page).innerText())
    await page.reload()
    await expect.poll(() => answer(page).innerText(), polling).toBe(await answer(second).innerText())
    await second.getByRole("button", { name: "Stop" }).click()
    for (const each of [page, second]) {
      await each.getByText("Stopped. The text generated so far is charged.").waitFor()
    }
    expect(await answer(page).innerText()).toBe(await answer(second).innerText())
    expect(errors).toEqual([])
  })
})
