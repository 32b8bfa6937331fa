import type { Locator, Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { hasChromium } from "../support/Chromium.ts"
import { journey } from "./Journey.ts"

interface Dialog {
  readonly link: string
  readonly title: string
  readonly open: (page: Page) => Promise<void>
  readonly field: string
  readonly typed: string
}

const press = (name: string) => (page: Page) => page.getByRole("button", { name, exact: true }).first().click()
const newProject = async (page: Page) => {
  await page.getByRole("button", { name: /^Project: / }).click()
  await page.getByRole("menuitem", { name: "New project" }).click()
}

const dialogs: ReadonlyArray<Dialog> = [
  { link: "Keys", title: "Create key", open: press("Create key"), field: "Name", typed: "ci" },
  {
    link: "Routing",
    title: "Create routing configuration",
    open: press("Create configuration"),
    field: "Slug",
    typed: "fast"
  },
  { link: "Providers", title: "Add credential", open: press("Add credential"), field: "Label", typed: "second" },
  {
    link: "Token doctor",
    title: "New analysis",
    open: press("New analysis"),
    field: "Maximum conversations",
    typed: "7"
  },
  {
    link: "Token doctor",
    title: "Collection of calls",
    open: press("Switch on"),
    field: "Share of conversations",
    typed: "7 %"
  },
  { link: "Credits", title: "Add credit", open: press("Add credit"), field: "Amount", typed: "$77" },
  { link: "Credits", title: "New project", open: newProject, field: "Name", typed: "mobile app" }
]

describe.skipIf(!hasChromium)("a dialog with a form", () => {
  const at = journey()
  const question = (page: Page) => page.getByRole("dialog", { name: "Leave without saving?" })
  const goTo = (page: Page, link: string) => page.getByRole("link", { name: link, exact: true }).first().click()
  const closed = (dialog: Locator) => dialog.waitFor({ state: "detached" })

  it("is closed at once without changes, and with some only by a person's word", { timeout: 120_000 }, async () => {
    const { errors, page } = await at().signIn()
    for (const { field, link, open, title, typed } of dialogs) {
      await goTo(page, link)
      const dialog = page.getByRole("dialog", { name: title })
      const input = dialog.getByRole("textbox", { name: field, exact: true })
      await open(page)
      const before = await input.inputValue()
      await input.focus()
      await page.keyboard.press("Escape")
      await closed(dialog)
      expect([title, await question(page).count()]).toEqual([title, 0])

      await open(page)
      await input.fill(typed)
      await page.keyboard.press("Escape")
      await question(page).getByRole("button", { name: "Stay" }).click()
      await closed(question(page))
      expect([title, await input.inputValue()]).toEqual([title, typed])
      await expect.poll(() => input.and(page.locator(":focus")).count()).toBe(1)
      await page.mouse.click(5, 400)
      await question(page).waitFor()
      await page.keyboard.press("Escape")
      await closed(question(page))
      expect([title, await input.inputValue()]).toEqual([title, typed])
      await dialog.getByRole("button", { name: "Close" }).click()
      await question(page).getByRole("button", { name: "Leave without saving" }).click()
      await closed(dialog)
      await closed(question(page))

      await open(page)
      expect([title, await input.inputValue()]).toEqual([title, before])
      await page.keyboard.press("Escape")
      await closed(dialog)
    }
    expect(errors).toEqual([])
  })

  it("asks before the page before and the browser's end of it, and not once it is taken", async () => {
    const { errors, page } = await at().signIn()
    await goTo(page, "Routing")
    await press("Create configuration")(page)
    const dialog = page.getByRole("dialog", { name: "Create routing configuration" })
    await dialog.getByRole("textbox", { name: "Slug" }).fill("kept")
    await page.goBack()
    await question(page).getByRole("button", { name: "Stay" }).click()
    await closed(question(page))
    expect(await dialog.getByRole("textbox", { name: "Slug" }).inputValue()).toBe("kept")
    const asked = page.waitForEvent("dialog")
    const reloading = page.evaluate("location.reload()")
    await (await asked).dismiss()
    await reloading
    await dialog.getByRole("button", { name: "Create configuration" }).click()
    await page.waitForURL("**/routing/kept")
    await closed(dialog)
    expect(await question(page).count()).toBe(0)

    await goTo(page, "Providers")
    await press("Add credential")(page)
    const credential = page.getByRole("dialog", { name: "Add credential" })
    await credential.getByRole("combobox", { name: "Provider" }).fill("openai")
    await credential.getByRole("textbox", { name: "Label" }).fill("kept")
    await credential.getByLabel("Secret").first().fill("secret-of-the-first")
    await credential.getByRole("button", { name: "Add credential" }).click()
    await closed(credential)
    expect(await question(page).count()).toBe(0)
    expect(errors).toEqual([])
  })

  it("stays open while it is sent, and a question about what cannot be undone too", async () => {
    const { errors, page } = await at().signIn()
    let release = () => {}
    const hold = async (path: string) => {
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      await page.route(path, async (route) => {
        if (route.request().method() === "POST") await released
        await route.continue()
      })
    }
    await goTo(page, "Keys")
    await hold("**/keys")
    await press("Create key")(page)
    const dialog = page.getByRole("dialog", { name: "Create key" })
    await dialog.getByRole("textbox", { name: "Name" }).fill("slow")
    await page.keyboard.press("Enter")
    await dialog.locator("button[data-loading]").waitFor()
    await page.keyboard.press("Escape")
    await page.mouse.click(5, 400)
    await page.goBack()
    // its answer has the secret
    await question(page).getByRole("button", { name: "Stay" }).click()
    expect(await dialog.count()).toBe(1)
    release()
    await page.getByTestId("secret").waitFor()
    await press("I have saved it")(page)

    await page.getByRole("row", { name: /slow/ }).click()
    await press("Revoke")(page)
    await hold("**/revoke")
    const revoke = page.getByRole("dialog", { name: "Revoke slow" })
    await revoke.getByRole("textbox").fill("slow")
    await revoke.getByRole("button", { name: "Revoke permanently" }).click()
    await revoke.locator("button[data-loading]").waitFor()
    await revoke.getByRole("textbox").focus()
    await page.keyboard.press("Escape")
    expect(await revoke.count()).toBe(1)
    release()
    await closed(revoke)
    expect(errors).toEqual([])
  })
})

describe.skipIf(!hasChromium)("signing out", () => {
  const at = journey()

  it("asks where something is not saved or not sent, and leaves nothing of it in the browser", async () => {
    const { errors, page } = await at().signIn()
    const question = page.getByRole("dialog", { name: "Leave without saving?" })
    const signOut = async () => {
      await page.getByRole("button", { name: "You" }).click()
      await page.getByRole("menuitem", { name: "Sign out" }).click()
    }
    await page.getByRole("link", { name: "Settings", exact: true }).first().click()
    const name = page.getByRole("textbox", { name: "Name", exact: true })
    await expect.poll(() => name.inputValue()).not.toBe("")
    await name.fill("not saved")
    await signOut()
    await question.getByRole("button", { name: "Stay" }).click()
    await question.waitFor({ state: "detached" })
    expect(await name.inputValue()).toBe("not saved")
    await page.getByRole("link", { name: "Chat", exact: true }).click()
    await question.getByRole("button", { name: "Leave without saving" }).click()
    await page.getByRole("textbox", { name: "Message" }).fill("for my eyes")
    await signOut()
    await question.getByRole("button", { name: "Leave without saving" }).click()
    await page.getByText("Open a sign-in link of this service").waitFor()
    // the next person in this tab may be another one
    expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.toContain("for my eyes")
    expect(errors).toEqual([])
  })
})
