import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { hasChromium, holdAnswers } from "../support/Chromium.ts"
import { answersTaken, journey } from "./Journey.ts"

interface Change {
  readonly name: string
  /** Below `/dashboard`. */
  readonly path: string
  readonly answer: readonly [method: string, path: string]
  readonly begin: (page: Page) => Promise<void>
}

const press = async (page: Page, ...names: ReadonlyArray<string>) => {
  for (const name of names) await page.getByRole("button", { name, exact: true }).last().click()
}
const fill = (page: Page, name: string, text: string) => page.getByRole("textbox", { name, exact: true }).fill(text)

describe.skipIf(!hasChromium)("an answer that comes after a person has gone on", () => {
  const at = journey()
  const switchTo = async (page: Page, name: string) => {
    await page.getByRole("button", { name: /^Project: / }).click()
    await page.getByRole("menuitem", { name }).click()
    await page.getByRole("button", { name: `Project: ${name}` }).waitFor()
  }
  const goTo = async (page: Page, name: string) => {
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "Page, project, model or request id" }).fill(name)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name, exact: true }).waitFor()
  }

  it("says nothing of the project that is shown then", async () => {
    const { api, projectId, service, signedIn } = at()
    const { errors, page } = await signedIn()
    await api("POST", "/api/me/projects", { name: "the other" })
    await api("POST", `/api/projects/${projectId}/credentials`, {
      provider: "openai",
      label: "own",
      secret: "secret-of-it"
    })
    await page.goto(`${service.url}/dashboard/p/${projectId}/providers`)
    const held = await holdAnswers(page, "**/billing-mode", "PUT")
    await page.getByRole("radio", { name: "Own credentials" }).click()
    await held.given
    await switchTo(page, "the other")
    const own = page.getByRole("radio", { name: "Own credentials" })
    const balance = page.getByRole("radio", { name: "The balance of the account" })
    await expect.poll(() => balance.isEnabled()).toBe(true)
    expect([await balance.isChecked(), await own.isChecked()]).toEqual([true, false])
    // asked for once the answer has been kept
    const projects = page.waitForResponse("**/api/me/projects?*")
    held.release()
    await (await projects).finished()
    expect([await balance.isChecked(), await own.isChecked()]).toEqual([true, false])
    expect(errors).toEqual([])
  })

  it("leads nobody back", { timeout: 180_000 }, async () => {
    const { api, projectId, service, signedIn } = at()
    const of = `/api/projects/${projectId}`
    const page_ = `/p/${projectId}`
    const credential = await api<{ readonly id: string }>("POST", `${of}/credentials`, {
      provider: "openai",
      label: "deleted",
      secret: "secret-of-it"
    })
    await api("POST", `${of}/routing-configurations`, { slug: "deleted" })
    const conversation = await api<{ readonly id: string }>("POST", "/api/chat/conversations", {
      project_id: projectId
    })
    await api("POST", `/api/chat/conversations/${conversation.id}/messages`, { content: "Hello", model: "sim/fast" })
    const { id: other } = await api<{ readonly id: string }>("POST", "/api/me/projects", { name: "deleted" })
    const changes: ReadonlyArray<Change> = [
      {
        name: "a credential is added",
        path: `${page_}/providers?new=1`,
        answer: ["POST", "**/credentials"],
        begin: async (page) => {
          await page.getByRole("combobox", { name: "Provider" }).fill("openai")
          await fill(page, "Label", "added")
          await page.getByRole("dialog").locator("input[type=password]").fill("secret-of-it")
          await press(page, "Add credential")
        }
      },
      {
        name: "a credential is deleted",
        path: `${page_}/providers?credential=${credential.id}`,
        answer: ["DELETE", "**/api/credentials/*"],
        begin: (page) => press(page, "Delete", "Delete permanently")
      },
      {
        name: "a routing configuration is created",
        path: `${page_}/routing?new=1`,
        answer: ["POST", "**/routing-configurations"],
        begin: async (page) => {
          await fill(page, "Slug", "made")
          await press(page, "Create configuration")
        }
      },
      {
        name: "a routing configuration is deleted",
        path: `${page_}/routing/deleted`,
        answer: ["DELETE", "**/routing-configurations/*"],
        begin: (page) => press(page, "Delete", "Delete permanently")
      },
      {
        name: "an analysis is begun",
        path: `${page_}/analyses?new=1`,
        answer: ["POST", "**/analyses"],
        begin: (page) => press(page, "Begin")
      },
      {
        name: "a payment is begun",
        path: "/credits?buy=1",
        answer: ["POST", "**/checkout"],
        begin: (page) => press(page, "Continue to payment")
      },
      {
        name: "a conversation is begun",
        path: "/chat",
        answer: ["POST", "**/messages"],
        begin: async (page) => {
          await fill(page, "Message", "Hello")
          await press(page, "Send")
        }
      },
      {
        name: "a conversation is branched",
        path: `/chat/${conversation.id}`,
        answer: ["POST", "**/fork"],
        begin: (page) => press(page, "Fork")
      },
      {
        name: "a conversation is deleted",
        path: `/chat/${conversation.id}`,
        answer: ["DELETE", "**/conversations/*"],
        begin: (page) => press(page, "Delete")
      },
      {
        name: "a project is deleted",
        path: "/settings",
        answer: ["DELETE", "**/api/projects/*"],
        begin: async (page) => {
          await press(page, "Delete")
          await fill(page, "Type the name: deleted", "deleted")
          await press(page, "Delete permanently")
        }
      }
    ]
    const { errors, page } = await signedIn()
    const back: Array<string> = []
    for (const { answer, begin, name, path } of changes) {
      if (path === "/settings") {
        await page.goto(`${service.url}/dashboard/p/${other}`)
        await page.getByRole("link", { name: "Settings", exact: true }).click()
      } else await page.goto(`${service.url}/dashboard${path}`)
      const [method, asked] = answer
      const held = await holdAnswers(page, asked, method)
      await begin(page)
      await held.given
      await goTo(page, "Activity")
      held.release()
      await answersTaken(page, `curl -X ${method} `)
      if (!new URL(page.url()).pathname.endsWith("/activity")) back.push(`${name}: ${page.url()}`)
      await page.unrouteAll({ behavior: "wait" })
    }
    expect(back).toEqual([])
    expect(errors).toEqual([])
  })

  it("offers to undo the deletion of a conversation on the page that is shown then", async () => {
    const { api, projectId, service, signedIn } = at()
    const { id } = await api<{ readonly id: string }>("POST", "/api/chat/conversations", { project_id: projectId })
    await api("POST", `/api/chat/conversations/${id}/messages`, { content: "Not to be lost", model: "sim/fast" })
    const { errors, page } = await signedIn()
    await page.goto(`${service.url}/dashboard/chat/${id}`)
    const held = await holdAnswers(page, "**/conversations/*", "DELETE")
    await press(page, "Delete")
    await held.given
    await goTo(page, "Models")
    const name = page.getByRole("textbox", { name: "Name", exact: true })
    await name.focus()
    held.release()
    const undo = page.getByRole("button", { name: "Undo" })
    await undo.waitFor()
    await page.keyboard.type("fast")
    await page.waitForURL(/models\?q=fast$/)
    await undo.click()
    await page.waitForURL(`**/chat/${id}`)
    await page.getByTestId("question").getByText("Not to be lost").waitFor()
    await undo.waitFor({ state: "detached" })
    expect(errors).toEqual([])
  })
})
