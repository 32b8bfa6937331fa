import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import type { Conversation, Started } from "../../support/Chat.ts"
import { hasChromium } from "../../support/Chromium.ts"
import { journey, polling } from "../Journey.ts"

describe.skipIf(!hasChromium)("a conversation that goes on elsewhere", () => {
  const at = journey()
  const ask = (id: string, content: string, model = "sim/fast") =>
    at().api<Started>("POST", `/api/chat/conversations/${id}/messages`, { content, model, artifacts: false })
  const ended = (id: string) =>
    expect
      .poll(async () => (await at().api<Conversation>("GET", `/api/chat/conversations/${id}`)).running, polling)
      .toBe(false)
  const message = (page: Page) => page.getByRole("textbox", { name: "Message", exact: true })
  const questions = (page: Page) => page.locator(".chat-question").allInnerTexts()
  const retry = (page: Page) => page.getByRole("button", { name: "Retry" })
  /** A tab that shows the answer to a question. */
  const opened = async (first: string) => {
    const { api, projectId, service, signedIn } = at()
    const { id } = await api<{ readonly id: string }>("POST", "/api/chat/conversations", { project_id: projectId })
    const begun = await ask(id, first)
    const { page } = await signedIn()
    await page.goto(`${service.url}/dashboard/chat/${id}`)
    await retry(page).waitFor()
    return { id, page, begun }
  }

  it("is shown whole in a tab that asks the next question", async () => {
    const { id, page } = await opened("Say FIRST")
    await ask(id, "Say SECOND")
    await ended(id)
    await message(page).fill("Say THIRD")
    await page.keyboard.press("Control+Enter")
    await expect.poll(() => questions(page), polling).toEqual(["Say FIRST", "Say SECOND", "Say THIRD"])
  })

  it("is followed by a tab whose question is refused because of it, which can stop it", async () => {
    const { id, page } = await opened("Say FIRST")
    await ask(id, "Write slowly", "sim/stall-mid")
    await message(page).fill("Say more")
    await page.keyboard.press("Control+Enter")
    await page.getByRole("alert").getByText("conversation_running").waitFor()
    await page.getByRole("button", { name: "Stop", exact: true }).click()
    await page.getByText("Stopped. The text generated so far is charged.").waitFor()
    expect([await questions(page), await message(page).inputValue()]).toEqual([
      ["Say FIRST", "Write slowly"],
      "Say more"
    ])
  })

  it("leaves what a person has edited where the question is another one by then", async () => {
    const { begun, id, page } = await opened("Say FIRST")
    await page.getByRole("button", { name: "Edit" }).click()
    const edited = page.getByRole("textbox", { name: "Edited message" })
    await edited.fill("Say MINE")
    const path = `/api/chat/conversations/${id}/messages/${begun.user_message.id}/edit`
    await at().api("POST", path, { content: "Say THEIRS" })
    await ended(id)
    await page.keyboard.press("Control+Enter")
    await page.getByRole("alert").getByText("not_found").waitFor()
    await page.getByTestId("answer-text").getByText("THEIRS").waitFor()
    expect(await edited.inputValue()).toBe("Say MINE")
    await page.getByRole("button", { name: "Save and send" }).click()
    await expect.poll(() => questions(page), polling).toEqual(["Say MINE"])
  })

  it("is read anew where an answer is asked for again that is no longer the last", async () => {
    const { id, page } = await opened("Say FIRST")
    await ask(id, "Say SECOND")
    await ended(id)
    await retry(page).click()
    await expect.poll(() => questions(page), polling).toEqual(["Say FIRST", "Say SECOND"])
  })
})
