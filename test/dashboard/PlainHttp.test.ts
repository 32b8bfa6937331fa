import { describe, expect, it, onTestFinished } from "vitest"
import { hasChromium, launchChromium, openPage } from "../support/Chromium.ts"
import { journey } from "./Journey.ts"

/** A name that the browser does not know as its own machine: over http it offers such a page less. */
const host = "gateway.test"

describe.skipIf(!hasChromium)("the dashboard over http at another machine", () => {
  const at = journey()

  it("creates a key, and copies what is shown", async () => {
    const { api, projectId } = at()
    const browser = await launchChromium([`--host-resolver-rules=MAP ${host} 127.0.0.1`])
    onTestFinished(() => browser.close())
    const { page } = await openPage(browser)
    const url = new URL((await api<{ readonly url: string }>("POST", "/api/session/links")).url)
    url.hostname = host
    await page.goto(url.href)
    await page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    expect(await page.evaluate("isSecureContext")).toBe(false)

    await page.goto(`${url.origin}/dashboard/p/${projectId}/keys?new=1`)
    await page.getByRole("textbox", { name: "Name" }).fill("ci")
    await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click()
    const secret = await page.getByTestId("secret").innerText()
    await page.getByRole("button", { name: "Copy the key" }).click()
    await page.getByTitle("Copied").waitFor()
    await page.getByRole("button", { name: "I have saved it" }).click()

    await page.goto(`${url.origin}/dashboard/p/${projectId}/requests`)
    const search = page.getByRole("textbox", { name: "Search" })
    await search.focus()
    await page.keyboard.press("Control+v")
    expect(await search.inputValue()).toBe(secret)
  })
})
