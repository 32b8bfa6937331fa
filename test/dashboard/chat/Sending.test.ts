import type { Page, Route } from "playwright-core"
import { describe, expect, it } from "vitest"
import type { Detail } from "../../support/Chat.ts"
import { hasChromium } from "../../support/Chromium.ts"
import { journey, polling } from "../Journey.ts"

/** One pixel. */
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)

describe.skipIf(!hasChromium)("a question", () => {
  const at = journey()
  const opened = async (path = "") => {
    const watched = await at().signIn()
    await watched.page.goto(`${at().service.url}/dashboard/chat${path}`)
    await message(watched.page).waitFor()
    return watched
  }
  const message = (page: Page) => page.getByRole("textbox", { name: "Message", exact: true })
  const send = (page: Page) => page.getByRole("button", { name: "Send", exact: true })
  const retry = (page: Page) => page.getByRole("button", { name: "Retry" })
  const conversations = async () =>
    (await at().api<{ readonly items: ReadonlyArray<{ readonly id: string }> }>("GET", "/api/chat/conversations")).items
      .length
  const questions = async (page: Page) => {
    const id = new URL(page.url()).pathname.split("/").at(-1)
    const { messages } = await at().api<Detail>("GET", `/api/chat/conversations/${id}`)
    return messages.filter(({ role }) => role === "user").map(({ content }) => content)
  }
  const error = { type: "server_error", code: "store_unavailable", message: "Not now.", param: null }
  const refuse = (route: Route) => route.fulfill({ status: 503, json: { error } })
  /** The service has what was sent, and the browser does not learn of it. */
  const loseAnswer = async (route: Route) => {
    await route.fetch()
    await route.abort()
  }

  it("is asked once at a double click", async () => {
    const { errors, page } = await opened()
    const before = await conversations()
    await page.getByRole("button", { name: /^Explain what a hold is/ }).dblclick()
    await retry(page).waitFor()
    expect(await conversations()).toBe(before + 1)

    await message(page).fill("And a slice?")
    await send(page).dblclick()
    await expect.poll(() => page.getByTestId("question").count()).toBe(2)
    await retry(page).waitFor()
    expect(await page.getByRole("alert").count()).toBe(0)
    expect(await questions(page)).toHaveLength(2)

    const forked = page.url()
    await page.getByRole("button", { name: "Fork" }).last().dblclick()
    await page.waitForURL((url) => url.href !== forked)
    await retry(page).waitFor()
    expect(await conversations()).toBe(before + 2)
    expect(errors).toEqual([])
  })

  it("is asked once where a person sends it again because no answer came", async () => {
    const { page } = await opened()
    const before = await conversations()
    await message(page).fill("What is a router?")
    await page.route("**/messages", loseAnswer)
    await send(page).click()
    await page.getByRole("alert").getByText("unreachable").waitFor()
    await page.unroute("**/messages")
    await send(page).click()
    await retry(page).waitFor()
    expect([await conversations(), await questions(page)]).toEqual([before + 1, ["What is a router?"]])

    await message(page).fill("And a gateway?")
    await page.route("**/messages", loseAnswer)
    await send(page).click()
    await page.getByRole("alert").getByText("unreachable").waitFor()
    await page.unroute("**/messages")
    await send(page).click()
    await expect.poll(() => page.getByTestId("question").count()).toBe(2)
    await retry(page).waitFor()
    expect(await questions(page)).toEqual(["What is a router?", "And a gateway?"])
    // what was taken can be asked again
    await message(page).fill("And a gateway?")
    await send(page).click()
    await expect.poll(() => questions(page), polling).toHaveLength(3)
  })

  it("leaves one conversation however often it is refused", async () => {
    const { page } = await opened()
    const before = await conversations()
    await page.route("**/messages", refuse)
    for (const text of ["One", "Two", "Three"]) {
      await message(page).fill(text)
      const answered = page.waitForResponse("**/messages")
      await send(page).click()
      await answered
      await page.getByRole("alert").getByText("Not now.").waitFor()
    }
    await page.unroute("**/messages")
    await send(page).click()
    await retry(page).waitFor()
    expect([await conversations(), await questions(page)]).toEqual([before + 1, ["Three"]])
  })

  it("leaves what is written and attached meanwhile, in the conversation that it begins, too", async () => {
    const { errors, page } = await opened()
    const held = async (path: string) => {
      let release = () => {}
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      await page.route(
        path,
        async (route) => {
          await released
          await route.continue()
        },
        { times: 1 }
      )
      return release
    }
    const hasFocus = () => message(page).and(page.locator(":focus")).count()
    await message(page).fill("What is a router?")
    const releaseFirst = await held("**/messages")
    await page.keyboard.press("Control+Enter")
    await page.keyboard.type(" And a hold?")
    releaseFirst()
    await page.waitForURL(/\/chat\/[0-9a-f-]+$/)
    await retry(page).waitFor()
    expect([await message(page).inputValue(), await hasFocus()]).toEqual(["And a hold?", 1])
    expect(await questions(page)).toEqual(["What is a router?"])

    const images = page.getByRole("list", { name: "Images of the question" }).getByRole("listitem")
    const attach = async (name: string) => {
      const taken = page.waitForResponse("**/api/chat/images?*")
      await page.locator("input[type=file]").setInputFiles({ name, mimeType: "image/png", buffer: pixel })
      await taken
    }
    await attach("first.png")
    await expect.poll(() => send(page).isEnabled()).toBe(true)
    const releaseSecond = await held("**/messages")
    await send(page).click()
    await attach("second.png")
    await message(page).fill("Another one")
    releaseSecond()
    await expect.poll(() => page.getByTestId("question").count()).toBe(2)
    await expect.poll(() => images.allInnerTexts()).toEqual([expect.stringContaining("second.png")])
    expect(await message(page).inputValue()).toBe("Another one")
    await retry(page).waitFor()
    await page.reload()
    await expect.poll(() => message(page).inputValue()).toBe("Another one")
    await page.getByRole("link", { name: "New conversation" }).click()
    await page.getByRole("heading", { name: "New conversation" }).waitFor()
    expect(await message(page).inputValue()).toBe("")
    expect(errors).toEqual([])
  })

  it("that was edited stays as it was typed when the service refuses it", async () => {
    const { page } = await opened()
    await message(page).fill("What is a router?")
    await send(page).click()
    await retry(page).waitFor()
    await page.getByRole("button", { name: "Edit" }).click()
    const edited = page.getByRole("textbox", { name: "Edited message" })
    await edited.fill("What is a router, in ten sentences?")
    await page.route("**/edit", refuse)
    await page.getByRole("button", { name: "Save and send" }).dblclick()
    await page.getByRole("alert").getByText("Not now.").waitFor()
    expect(await edited.inputValue()).toBe("What is a router, in ten sentences?")
    await page.unroute("**/edit")
    await page.getByRole("button", { name: "Save and send" }).click()
    await page.getByTestId("question").getByText("in ten sentences?").waitFor()
    await edited.waitFor({ state: "detached" })
    expect(await questions(page)).toEqual(["What is a router, in ten sentences?"])
  })
})
