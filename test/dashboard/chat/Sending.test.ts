import type { Locator, Page, Route } from "playwright-core"
import { describe, expect, it } from "vitest"
import type { Detail } from "../../support/Chat.ts"
import { hasChromium, holdAnswers } from "../../support/Chromium.ts"
import { pixelBytes } from "../../support/Pixel.ts"
import { answersTaken, journey, polling } from "../Journey.ts"

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

  /** Holds the requests to a path until the result is called. */
  const held = async (page: Page, path: string) => {
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route(path, async (route) => {
      await released
      await route.continue()
    })
    return release
  }
  const images = (page: Page) =>
    page.getByRole("list", { name: "Images of the question" }).getByRole("listitem").locator("p")
  const choose = (page: Page, name: string) =>
    page.locator("input[type=file]").setInputFiles({ name, mimeType: "image/png", buffer: pixelBytes })
  const attach = async (page: Page, name: string) => {
    const taken = page.waitForResponse("**/api/chat/images?*")
    await choose(page, name)
    await taken
  }

  it("is asked only once it is known which project is chosen", async () => {
    const { api, service } = at()
    const { id } = await api<{ readonly id: string }>("POST", "/api/me/projects", { name: "pays" })
    const { errors, page } = await at().signedIn()
    await page.goto(`${service.url}/dashboard/p/${id}`)
    await page.getByRole("button", { name: "Project: pays" }).waitFor()
    const release = await held(page, "**/api/me/projects?*")
    await page.goto(`${service.url}/dashboard/chat`)
    await answersTaken(page, "/api/chat/projects")
    expect(await page.getByRole("button", { name: /^Explain/ }).count()).toBe(0)
    release()
    await page.getByRole("button", { name: /^Explain/ }).click()
    await page.waitForURL(/\/chat\/[0-9a-f-]+$/)
    const conversation = new URL(page.url()).pathname.split("/").at(-1)
    expect((await api<Detail>("GET", `/api/chat/conversations/${conversation}`)).project_id).toBe(id)
    expect(errors).toEqual([])
  })

  it("is kept on the page where a tab has no room to store it", async () => {
    const { errors, page } = await opened()
    await message(page).fill("Short")
    await page.evaluate(`
      for (let size = 2 ** 22; size >= 1; ) {
        try { sessionStorage.setItem("room " + Math.random(), "x".repeat(size)) } catch { size /= 2 }
      }`)
    await message(page).fill("long ".repeat(100))
    expect((await message(page).inputValue()).length).toBe(500)
    expect(errors).toEqual([])
  })

  it("of two models is asked once it is known which these are", async () => {
    const { errors, page } = await opened()
    await page.getByRole("combobox", { name: "Compare with" }).fill("sim2/deep")
    await page.getByRole("option", { name: "sim2/deep", exact: true }).click()
    await message(page).fill("Hello")
    await page.keyboard.press("Control+Enter")
    await page.waitForURL(/with=/)
    const second = new URL(page.url()).searchParams.get("with")
    await page.getByRole("region", { name: "Conversation with sim2/deep" }).waitFor()
    await expect.poll(() => retry(page).count(), polling).toBe(2)
    const release = await held(page, `**/conversations/${second}/events*`)
    await page.reload()
    await retry(page).waitFor()
    expect(await message(page).count()).toBe(0)
    release()
    await page.getByText("auto and sim2/deep", { exact: true }).waitFor()
    await message(page).waitFor()
    expect(errors).toEqual([])
  })

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
    const hasFocus = () => message(page).and(page.locator(":focus")).count()
    await message(page).fill("What is a router?")
    const releaseFirst = await held(page, "**/messages")
    await page.keyboard.press("Control+Enter")
    await page.keyboard.type(" And a hold?")
    releaseFirst()
    await page.waitForURL(/\/chat\/[0-9a-f-]+$/)
    await retry(page).waitFor()
    expect([await message(page).inputValue(), await hasFocus()]).toEqual(["And a hold?", 1])
    expect(await questions(page)).toEqual(["What is a router?"])

    await attach(page, "first.png")
    await expect.poll(() => send(page).isEnabled()).toBe(true)
    const releaseSecond = await held(page, "**/messages")
    await send(page).click()
    await attach(page, "second.png")
    await message(page).fill("Another one")
    releaseSecond()
    await expect.poll(() => page.getByTestId("question").count()).toBe(2)
    await expect.poll(() => images(page).allInnerTexts()).toEqual(["second.png"])
    expect(await message(page).inputValue()).toBe("Another one")
    await retry(page).waitFor()
    await page.reload()
    await expect.poll(() => message(page).inputValue()).toBe("Another one")
    await page.getByRole("link", { name: "New conversation" }).click()
    await page.getByRole("heading", { name: "New conversation" }).waitFor()
    expect(await message(page).inputValue()).toBe("")
    expect(errors).toEqual([])
  })

  it("leaves the images that are attached while it begins a conversation to the next one", async () => {
    const { errors, page } = await opened()
    await attach(page, "of the first.png")
    await message(page).fill("What is this?")
    await expect.poll(() => send(page).isEnabled()).toBe(true)
    const releaseQuestion = await held(page, "**/messages")
    await send(page).click()
    await attach(page, "sent.png")
    const releaseImage = await held(page, "**/api/chat/images?*")
    await choose(page, "being sent.png")
    await page.getByText("being sent.png").waitFor()
    releaseQuestion()
    await page.waitForURL(/\/chat\/[0-9a-f-]+$/)
    await retry(page).waitFor()
    expect(await images(page).allInnerTexts()).toEqual(["sent.png", "being sent.png"])
    releaseImage()
    await message(page).fill("And these?")
    await expect.poll(() => send(page).isEnabled()).toBe(true)
    await send(page).click()
    await expect.poll(() => page.getByTestId("question").count()).toBe(2)
    await expect.poll(() => images(page).count()).toBe(0)
    const id = new URL(page.url()).pathname.split("/").at(-1)
    const { messages } = await at().api<Detail>("GET", `/api/chat/conversations/${id}`)
    const asked = messages.filter(({ role }) => role === "user")
    expect(asked.map((each) => each.images.map(({ filename }) => filename))).toEqual([
      ["of the first.png"],
      ["sent.png", "being sent.png"]
    ])
    await attach(page, "of the third.png")
    await page.getByRole("link", { name: "Credits", exact: true }).click()
    await page.getByRole("heading", { name: "Credits", exact: true }).waitFor()
    await page.goBack()
    await expect.poll(() => images(page).allInnerTexts()).toEqual(["of the third.png"])
    expect(errors).toEqual([])
  })

  it("of the examples takes along what is written and attached while it is sent, and nothing from before", async () => {
    const { errors, page } = await opened()
    const example = page.getByRole("button", { name: /^Explain what a hold is/ })
    const another = async () => {
      await page.getByRole("link", { name: "New conversation" }).click()
      await page.getByRole("heading", { name: "New conversation" }).waitFor()
    }
    const release = await held(page, "**/messages")
    await example.click()
    await message(page).fill("And a slice?")
    await attach(page, "of the slice.png")
    release()
    await page.waitForURL(/\/chat\/[0-9a-f-]+$/)
    await retry(page).waitFor()
    expect(await message(page).inputValue()).toBe("And a slice?")
    expect(await images(page).allInnerTexts()).toEqual(["of the slice.png"])
    await another()
    expect([await message(page).inputValue(), await images(page).count()]).toEqual(["", 0])

    await message(page).fill("For later")
    await attach(page, "for later.png")
    await example.click()
    await page.waitForURL(/\/chat\/[0-9a-f-]+$/)
    await retry(page).waitFor()
    expect([await message(page).inputValue(), await images(page).count()]).toEqual(["", 0])
    await another()
    expect(await message(page).inputValue()).toBe("For later")
    expect(await images(page).allInnerTexts()).toEqual(["for later.png"])
    await message(page).fill("")
    await page.getByRole("button", { name: "Remove for later.png" }).click()
    expect(errors).toEqual([])
  })

  it("leads to its conversation before the list of all is read again", async () => {
    const { errors, page } = await opened()
    await message(page).fill("What is a router?")
    const list = await holdAnswers(page, /\/api\/chat\/conversations(\?|$)/, "GET")
    await page.keyboard.press("Control+Enter")
    await list.given
    // what is written until then would stay behind
    await page.waitForURL(/\/chat\/[0-9a-f-]+$/, { timeout: 10_000 })
    list.release()
    await retry(page).waitFor()
    expect(errors).toEqual([])
  })

  it("that was kept is followed by what is typed before it is known who has written it", async () => {
    const { errors, page } = await opened()
    await message(page).fill("What is a router?")
    const release = await held(page, "**/api/me")
    await page.reload()
    await message(page).click()
    await page.keyboard.type("And a ")
    const known = page.waitForResponse("**/api/me")
    release()
    await (await known).finished()
    await expect.poll(() => message(page).inputValue()).toBe("What is a router?\nAnd a ")
    await page.keyboard.type("hold?")
    await page.reload()
    await expect.poll(() => message(page).inputValue()).toBe("What is a router?\nAnd a hold?")
    await message(page).fill("")
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
    // it may be refused again
    const release = await held(page, "**/edit")
    await page.getByRole("button", { name: "Save and send" }).click()
    await page.getByRole("link", { name: "Credits", exact: true }).click()
    await page
      .getByRole("dialog", { name: "Leave without saving?" })
      .getByRole("button", { name: "Stay" })
      .click({ timeout: 10_000 })
    release()
    await page.getByTestId("question").getByText("in ten sentences?").waitFor()
    await edited.waitFor({ state: "detached" })
    expect(await questions(page)).toEqual(["What is a router, in ten sentences?"])
  })

  it("leaves the focus in the conversation, where what was pressed for it has gone", async () => {
    const { errors, page } = await opened()
    const hasFocus = (of: Locator) => expect.poll(() => of.and(page.locator(":focus")).count()).toBe(1)
    const messages = page.getByRole("region", { name: "Messages" })
    await page.getByRole("combobox", { name: "Model", exact: true }).click()
    await page.getByRole("option", { name: "sim/best", exact: true }).click()
    await message(page).fill("Tell me a very long story. ".repeat(60))
    await page.keyboard.press("Control+Enter")
    const stop = page.getByRole("button", { name: "Stop", exact: true })
    await stop.focus()
    await page.keyboard.press("Enter")
    await stop.waitFor({ state: "detached" })
    await hasFocus(messages)
    await page.getByRole("button", { name: "Edit" }).click()
    await page.getByRole("textbox", { name: "Edited message" }).fill("A short one.")
    const answers = await holdAnswers(page, "**/edit", "POST")
    await page.getByRole("button", { name: "Save and send" }).click()
    await answers.given
    // a button that is disabled meanwhile has lost it
    await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("BODY")
    answers.release()
    await page.getByTestId("question").getByText("A short one.").waitFor()
    await hasFocus(messages)
    await choose(page, "first.png")
    await choose(page, "second.png")
    for (const name of ["first.png", "second.png"]) {
      await page.getByRole("button", { name: `Remove ${name}` }).focus()
      await page.keyboard.press("Enter")
      await hasFocus(message(page))
    }
    expect(errors).toEqual([])
  })

  it("that is being edited is left only by a person's word, and stays beside an artifact", async () => {
    const { errors, page } = await opened()
    await message(page).fill("What is a router?")
    await send(page).click()
    await retry(page).waitFor()
    const conversation = page.url()
    const edited = page.getByRole("textbox", { name: "Edited message" })
    const question = page.getByRole("dialog", { name: "Leave without saving?" })
    const credits = page.getByRole("link", { name: "Credits", exact: true })
    await page.getByRole("button", { name: "Edit" }).click()
    await credits.click()
    await page.getByRole("heading", { name: "Credits", exact: true }).waitFor()
    await page.goBack()

    await page.getByRole("button", { name: "Edit" }).click()
    await edited.fill("What is a router, in ten sentences?")
    await page.getByRole("button", { name: "Save text" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click()
    await page.waitForURL(/artifact=/)
    await credits.click()
    await question.getByRole("button", { name: "Stay" }).click()
    await question.waitFor({ state: "detached" })
    expect(await edited.inputValue()).toBe("What is a router, in ten sentences?")
    await credits.click()
    await question.getByRole("button", { name: "Leave without saving" }).click()
    await page.getByRole("heading", { name: "Credits", exact: true }).waitFor()

    await page.goto(conversation)
    await page.getByRole("button", { name: "Edit" }).click()
    await edited.fill("What is a router, in ten sentences?")
    await page.getByRole("button", { name: "Delete", exact: true }).click()
    await page.getByText("The conversation is deleted.").waitFor()
    expect(errors).toEqual([])
  })
})
