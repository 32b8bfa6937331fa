import { describe, expect, it } from "vitest"
import type { Started } from "../../support/Chat.ts"
import { hasChromium } from "../../support/Chromium.ts"
import { journey, polling } from "../Journey.ts"

describe.skipIf(!hasChromium)("a question that was edited", () => {
  const at = journey()

  it("is shown beside the answers that it had, and they beside it", async () => {
    const { api, projectId, service, signedIn } = at()
    const { id } = await api<{ readonly id: string }>("POST", "/api/chat/conversations", { project_id: projectId })
    const path = `/api/chat/conversations/${id}`
    const ended = () =>
      expect.poll(async () => (await api<{ readonly running: boolean }>("GET", path)).running, polling).toBe(false)
    const asked = { content: "Say ONE", model: "sim/fast", artifacts: false }
    const { assistant_message, user_message } = await api<Started>("POST", `${path}/messages`, asked)
    await ended()
    await api("POST", `${path}/messages/${assistant_message.id}/retry`, {})
    await ended()
    await api("POST", `${path}/messages/${user_message.id}/edit`, { content: "Say TWO" })
    await ended()
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/chat/${id}`)
    const button = (name: string) => page.getByRole("button", { name, exact: true })
    const shown = async () => [
      await page.locator(".chat-question").innerText(),
      await page
        .getByTestId("question")
        .locator("p", { hasText: /^\d\/\d$/ })
        .innerText(),
      await page.getByTestId("answer-text").innerText(),
      await page
        .getByTestId("answer")
        .locator("p", { hasText: /^\d\/\d$/ })
        .innerText(),
      (await button("Edit").count()) + (await button("Retry").count())
    ]
    const now = ["Say TWO", "2/2", "TWO", "3/3", 2]
    await button("Retry").waitFor()
    expect(await shown()).toEqual(now)
    await button("Previous version").click()
    expect(await shown()).toEqual(["Say ONE", "1/2", "ONE", "2/3", 0])
    await button("Previous version").click()
    expect(await shown()).toEqual(["Say ONE", "1/2", "ONE", "1/3", 0])
    await button("Next version of the question").click()
    expect(await shown()).toEqual(now)
    await button("Previous version of the question").click()
    expect(await shown()).toEqual(["Say ONE", "1/2", "ONE", "2/3", 0])
    await button("Next version").click()
    expect(await shown()).toEqual(now)

    // what is written anew is shown at once
    await button("Previous version of the question").click()
    const { messages } = await api<{ readonly messages: ReadonlyArray<{ readonly id: string }> }>("GET", path)
    await api("POST", `${path}/messages/${messages[0]?.id}/edit`, { content: "Say THREE" })
    await page.evaluate(`void dispatchEvent(new Event("online"))`)
    await page.getByTestId("answer-text").getByText("THREE").waitFor()
    await button("Retry").waitFor()
    expect(await shown()).toEqual(["Say THREE", "3/3", "THREE", "4/4", 2])
    expect(errors).toEqual([])
  })
})
