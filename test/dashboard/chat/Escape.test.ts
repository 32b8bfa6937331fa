import { describe, expect, it } from "vitest"
import { hasChromium } from "../../support/Chromium.ts"
import { journey } from "../Journey.ts"

const pressEscape = (isComposing: boolean): string =>
  `void document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", isComposing: ${isComposing}, bubbles: true }))`

describe.skipIf(!hasChromium)("the Escape that ends the choice of an input method", () => {
  const at = journey()

  it("stops no answer, and discards neither an edited question nor a title", async () => {
    const { api, projectId, service, signedIn } = at()
    const { id } = await api<{ readonly id: string }>("POST", "/api/chat/conversations", { project_id: projectId })
    const question = { content: "Write slowly", model: "sim/stall-mid", artifacts: false }
    await api("POST", `/api/chat/conversations/${id}/messages`, question)
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/chat/${id}`)
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor()
    const stops: Array<string> = []
    page.on("request", (request) => request.url().endsWith("/stop") && stops.push(request.url()))
    await page.getByRole("textbox", { name: "Message", exact: true }).focus()
    await page.evaluate(pressEscape(true))
    await page.evaluate(pressEscape(false))
    await page.getByText("Stopped. The text generated so far is charged.").waitFor()
    expect(stops).toHaveLength(1)

    for (const [button, field] of [
      ["Edit", "Edited message"],
      ["Rename", "Title"]
    ] as const) {
      await page.getByRole("button", { name: button, exact: true }).click()
      const edited = page.getByRole("textbox", { name: field })
      await edited.fill("Not lost")
      await page.evaluate(pressEscape(true))
      expect(await edited.inputValue()).toBe("Not lost")
      await page.evaluate(pressEscape(false))
      await edited.waitFor({ state: "detached" })
    }
    expect(errors).toEqual([])
  })
})
