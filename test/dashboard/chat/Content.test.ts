import { mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { afterAll, describe, expect, it } from "vitest"
import { configOf, type Detail, startTalker, type Talker } from "../../support/Chat.ts"
import { hasChromium } from "../../support/Chromium.ts"
import { pixelBytes } from "../../support/Pixel.ts"
import { balanceOf, journey, polling } from "../Journey.ts"

const pageOf = (text: string) => `<!doctype html><title>x</title><h1>${text}</h1><script>document.title = 1</script>`
const written = (content: string) => JSON.stringify({ name: "index.html", media_type: "text/html", content })

interface Route {
  readonly prompt_tokens: number
}

describe.skipIf(!hasChromium)("what conversations have beside text", () => {
  let talker: Talker
  let used = 0
  // files by path: the bytes of a buffer are decoded by a script in the page, seconds for some MiB
  let folder: string
  const at = journey(async () => {
    talker = await startTalker()
    folder = await mkdtemp(join(tmpdir(), "gateway-images-"))
    return { config: configOf(talker), env: { PROVIDER_KEY: "sk-upstream" } }
  })
  afterAll(async () => {
    await talker.stop()
    await rm(folder, { recursive: true })
  })

  const choose = async (page: Page, name: string, model: string) => {
    await page.getByRole("combobox", { name }).fill(model)
    await page.getByRole("option", { name: model, exact: true }).click()
  }
  const send = async (page: Page, text: string) => {
    await page.getByRole("textbox", { name: "Message" }).fill(text)
    await page.keyboard.press("Control+Enter")
  }
  const open = async () => {
    const watched = await at().signIn()
    await watched.page.goto(`${at().service.url}/dashboard/chat`)
    return watched
  }
  const read = (page: Page) =>
    at().api<Detail>("GET", `/api/chat/conversations/${new URL(page.url()).pathname.split("/").at(-1)}`)

  it("takes images that are attached, pasted and dropped, and refuses what is none", { timeout: 120_000 }, async () => {
    const { errors, page } = await open()
    await choose(page, "Model", "acme/large")
    const files = page.locator("input[type=file]")
    const images = page.getByRole("list", { name: "Images of the question" }).getByRole("listitem")
    for (const [name, content, size, refusal] of [
      ["page.png", "<script>alert(1)</script>", undefined, /is not a PNG/],
      ["a.svg", "<svg onload='alert(1)'/>", undefined, /is not a PNG/],
      ["big.png", "", 11 * 1024 * 1024, /larger than 10 MiB/]
    ] as const) {
      const file = join(folder, name)
      await writeFile(file, content)
      if (size !== undefined) await truncate(file, size)
      await files.setInputFiles(file)
      await page.getByRole("alert").getByText(refusal).waitFor()
      // a question is not sent without what belongs to it
      await page.getByRole("textbox", { name: "Message" }).fill("What is this?")
      expect(await page.getByRole("button", { name: "Send", exact: true }).isDisabled()).toBe(true)
      await page.getByRole("button", { name: `Remove ${name}` }).click()
      await images.first().waitFor({ state: "detached" })
    }
    await files.setInputFiles({ name: "attached.png", mimeType: "image/png", buffer: pixelBytes })
    const bytes = JSON.stringify([...pixelBytes])
    for (const [kind, make] of [
      ["paste", "new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })"],
      ["drop", "new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })"]
    ]) {
      await page.evaluate(`{
        const data = new DataTransfer()
        data.items.add(new File([new Uint8Array(${bytes})], "${kind}.png", { type: "image/png" }))
        document.querySelector("textarea[aria-label=Message]").dispatchEvent(${make})
      }`)
    }
    await expect.poll(() => page.locator(".chat-attachment[data-state=taken]").count(), polling).toBe(3)
    await send(page, "What is this?")
    const talk = await talker.talk(used++)
    const [message] = talk.received.body["messages"] as ReadonlyArray<{
      readonly content: ReadonlyArray<{ readonly type: string; readonly image_url?: { readonly url: string } }>
    }>
    expect(message?.content.map(({ type }) => type)).toEqual(["image_url", "image_url", "image_url", "text"])
    expect(message?.content[0]?.image_url?.url).toMatch(/^data:image\/png;base64,/)
    talk.say("A pixelBytes.")
    talk.finish()
    await page.getByRole("button", { name: "Retry" }).waitFor()
    const shown = page.getByTestId("question").getByRole("img")
    expect(await shown.count()).toBe(3)
    await expect
      .poll(() =>
        shown.evaluateAll((all) => all.map((each) => (each as unknown as { naturalWidth: number }).naturalWidth))
      )
      .toEqual([1, 1, 1])
    expect((await read(page)).messages[0]?.images.map(({ filename }) => filename)).toEqual([
      "attached.png",
      "paste.png",
      "drop.png"
    ])

    // the edited question keeps its images
    await page.getByRole("button", { name: "Edit" }).click()
    await page.getByRole("textbox", { name: "Edited message" }).fill("And now?")
    await page.getByRole("button", { name: "Save and send" }).click()
    const edited = await talker.talk(used++)
    expect((edited.received.body["messages"] as (typeof message)[])[0]?.content).toHaveLength(4)
    edited.say("Still a pixelBytes.")
    edited.finish()
    await page.getByRole("button", { name: "Retry" }).waitFor()
    expect(errors).toEqual([])
  })

  it("says which images it leaves out: those beyond the eighth", async () => {
    const { errors, page } = await open()
    const files = page.locator("input[type=file]")
    const images = page.getByRole("list", { name: "Images of the question" }).getByRole("listitem")
    const attach = (count: number) =>
      files.setInputFiles(
        Array.from({ length: count }, (_, at) => ({ name: `${at}.png`, mimeType: "image/png", buffer: pixelBytes }))
      )
    const said = page.getByRole("status").filter({ hasText: "A question has at most 8 images" })
    await attach(7)
    await expect.poll(() => images.count(), polling).toBe(7)
    expect(await said.count()).toBe(0)
    await attach(3)
    expect(await said.textContent()).toBe("A question has at most 8 images: 2 were not attached.")
    expect(await images.count()).toBe(8)
    await page.getByRole("button", { name: "Remove 0.png" }).first().click()
    await said.waitFor({ state: "detached" })
    for (let left = await images.count(); left > 0; left--) {
      await page
        .getByRole("button", { name: /^Remove / })
        .first()
        .click()
      await expect.poll(() => images.count(), polling).toBe(left - 1)
    }
    expect(errors).toEqual([])
  })

  it("writes each block in the direction of its script", async () => {
    const { errors, page } = await open()
    await choose(page, "Model", "acme/large")
    await send(page, "\u05e9\u05dc\u05d5\u05dd")
    const talk = await talker.talk(used++)
    talk.say("\u05e9\u05dc\u05d5\u05dd\n\nIn English\n\n- \u05d0\u05d7\u05ea\n")
    talk.finish()
    await page.getByRole("button", { name: "Retry" }).waitFor()
    // where the first letter stands: at the right of its box, or at the left
    const sides = await page.evaluate(`[...document.querySelectorAll(".chat-question, .markdown > *")].map((each) => {
      const first = document.createRange()
      const text = document.createTreeWalker(each, NodeFilter.SHOW_TEXT).nextNode()
      first.setStart(text, 0)
      first.setEnd(text, 1)
      const [letter, box] = [first.getBoundingClientRect(), each.getBoundingClientRect()]
      return letter.left - box.left > box.right - letter.right ? "right" : "left"
    })`)
    expect(sides).toEqual(["right", "right", "left", "right"])
    expect(errors).toEqual([])
  })

  it("shows an artifact over a conversation that it leaves no room, until a key closes it", async () => {
    const { errors, page } = await open()
    await choose(page, "Model", "acme/large")
    await send(page, "Say something")
    const talk = await talker.talk(used++)
    talk.say("Something.")
    talk.finish()
    await page.setViewportSize({ width: 390, height: 844 })
    const save = page.getByRole("button", { name: "Save text" })
    await save.click()
    await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("some.md")
    await page.keyboard.press("Enter")
    const panel = page.getByRole("complementary", { name: "Artifact" })
    await panel.getByText("Something.").waitFor()
    await expect.poll(() => panel.and(page.locator(":focus")).count()).toBe(1)
    // it fills the page already
    expect(await panel.getByRole("button", { name: "Larger" }).count()).toBe(0)
    // what is behind it cannot be reached
    await page.getByRole("textbox", { name: "Message" }).focus()
    expect(await panel.and(page.locator(":focus")).count()).toBe(1)
    await page.keyboard.press("Escape")
    await panel.waitFor({ state: "detached" })
    await expect.poll(() => save.and(page.locator(":focus")).count()).toBe(1)

    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole("button", { name: "some.md v1 made" }).click()
    await panel.getByRole("button", { name: "Close" }).click()
    await panel.waitFor({ state: "detached" })
    await expect.poll(() => page.getByRole("textbox", { name: "Message" }).and(page.locator(":focus")).count()).toBe(1)
    expect(errors).toEqual([])
  })

  it("shows artifacts as they are written, in a frame, with all their versions", { timeout: 120_000 }, async () => {
    const { errors, page } = await open()
    await choose(page, "Model", "acme/large")
    await send(page, "Make a page")
    const panel = page.getByRole("complementary", { name: "Artifact" })
    const first = await talker.talk(used++)
    const json = written(pageOf("Number one"))
    first.say("Here it is. ")
    first.call(0, "write_artifact", json.slice(0, 90))
    await panel.getByText("Generating").waitFor(polling)
    await panel.getByText("<!doctype html>").waitFor()
    first.callMore(0, json.slice(90))
    first.finish("tool_calls")
    const heading = page.frameLocator("iframe").getByRole("heading")
    await heading.getByText("Number one").waitFor()
    const second = await talker.talk(used++)
    second.call(0, "edit_artifact", JSON.stringify({ name: "index.html", old_text: "one", new_text: "two" }))
    second.finish("tool_calls")
    ;(await talker.talk(used++)).finish()
    await heading.getByText("Number two").waitFor()
    await page.getByRole("button", { name: "index.html v2 changed" }).waitFor()
    expect(await page.getByTestId("artifact-version").innerText()).toBe("v2")
    // what is shown outlives a reload
    await page.reload()
    await heading.getByText("Number two").waitFor()

    await panel.getByText("Code", { exact: true }).click()
    await panel.getByText("Number two").waitFor()
    await panel.getByText("History", { exact: true }).click()
    await panel.getByRole("group", { name: "Version 1" }).getByRole("button", { name: "Restore" }).click()
    await panel.getByRole("group", { name: "Version 3" }).waitFor()
    await panel.getByText("Preview", { exact: true }).click()
    await heading.getByText("Number one").waitFor()
    const download = page.waitForEvent("download")
    await panel.getByRole("link", { name: "Download" }).click()
    const file = await download
    expect(file.suggestedFilename()).toBe("index.html")
    expect(await readFile(await file.path(), "utf8")).toBe(pageOf("Number one"))
    expect((await read(page)).artifacts).toMatchObject([{ name: "index.html", version: 3 }])

    await panel.getByText("History", { exact: true }).click()
    await panel.getByRole("button", { name: "Delete this artifact" }).dblclick()
    await panel.getByText("All its versions are deleted with it.").waitFor()
    expect((await read(page)).artifacts).toMatchObject([{ name: "index.html", version: 3 }])
    await panel.getByRole("button", { name: "Delete permanently" }).click()
    await panel.waitFor({ state: "detached" })
    await page.getByRole("button", { name: "index.html v3 deleted" }).waitFor()
    expect((await read(page)).artifacts).toEqual([])
    expect(errors).toEqual([])
  })

  it("keeps a code block, and all of the text, as artifacts with versions", { timeout: 120_000 }, async () => {
    const { errors, page } = await open()
    await choose(page, "Model", "acme/large")
    await page.getByRole("checkbox", { name: "Artifacts" }).uncheck()
    const panel = page.getByRole("complementary", { name: "Artifact" })
    const heading = page.frameLocator("iframe").getByRole("heading")
    const save = page.getByRole("button", { name: "Save as artifact" })
    const dialog = page.getByRole("dialog", { name: "Save as artifact" })
    const text = (number: string) => `A page:\n\n\`\`\`html\n${pageOf(number)}\n\`\`\`\n\nThat is all.`
    await send(page, "Make a page")
    const first = await talker.talk(used++)
    expect(first.received.body["tools"]).toBeUndefined()
    first.say(text("Number one"))
    await page.getByText("That is all.").waitFor(polling)
    // nothing is saved of what is still written
    expect(await save.count()).toBe(0)
    first.finish()
    await save.click()
    expect(await dialog.getByRole("textbox", { name: "Name" }).inputValue()).toBe("index.html")
    await dialog.getByRole("button", { name: "Save", exact: true }).click()
    await dialog.waitFor({ state: "detached" })
    await heading.getByText("Number one").waitFor(polling)
    await page.getByRole("button", { name: "index.html v1 made" }).waitFor()

    await send(page, "Another one")
    const second = await talker.talk(used++)
    second.say(text("Number two"))
    second.finish()
    await expect.poll(() => save.count(), polling).toBe(2)
    await save.last().click()
    // a name that is wrong is refused at its field, and the dialog stays
    await dialog.getByRole("textbox", { name: "Name" }).fill("a/b.html")
    await dialog.getByRole("button", { name: "Save", exact: true }).click()
    await expect
      .poll(() => dialog.getByRole("textbox", { name: "Name" }).getAttribute("aria-invalid"), polling)
      .toBe("true")
    await dialog.getByRole("textbox", { name: "Name" }).fill("index.html")
    await dialog.getByRole("button", { name: "Save as v2" }).click()
    await heading.getByText("Number two").waitFor(polling)

    await page.getByRole("button", { name: "Save text" }).last().click()
    expect(await dialog.getByRole("textbox", { name: "Name" }).inputValue()).toBe("answer.md")
    await dialog.getByRole("button", { name: "Save", exact: true }).click()
    await panel.getByText("That is all.").waitFor(polling)
    expect((await read(page)).artifacts).toMatchObject([
      { name: "answer.md", version: 1, media_type: "text/markdown", size_bytes: Buffer.byteLength(text("Number two")) },
      { name: "index.html", version: 2, media_type: "text/html" }
    ])
    expect(errors.filter((error) => !error.includes("400"))).toEqual([])
  })

  it("asks before an artifact is deleted anew for each", async () => {
    const { api, service } = at()
    const { errors, page } = await open()
    await choose(page, "Model", "acme/large")
    await send(page, "Write two files")
    const talk = await talker.talk(used++)
    talk.say("Here")
    talk.finish()
    await page.getByRole("button", { name: "Save text" }).waitFor(polling)
    const id = new URL(page.url()).pathname.split("/").at(-1)
    const make = (name: string) =>
      api<{ readonly id: string }>("POST", `/api/chat/conversations/${id}/artifacts`, {
        name,
        media_type: "text/plain",
        content: name
      })
    const first = await make("first.txt")
    await make("second.txt")
    await page.goto(`${service.url}/dashboard/chat/${id}?artifact=${first.id}`)
    await page.getByText("History", { exact: true }).click()
    await page.getByRole("button", { name: "Delete this artifact" }).click()
    await page.getByRole("button", { name: "Delete permanently" }).waitFor()
    await page.getByRole("combobox", { name: "Artifact" }).click()
    await page.getByRole("option", { name: "second.txt" }).click()
    await page.getByRole("button", { name: "Delete this artifact" }).waitFor()
    expect(await page.getByRole("button", { name: "Delete permanently" }).count()).toBe(0)
    expect(errors).toEqual([])
  })

  it("says before it is sent which model would answer, and sends nothing for it", { timeout: 120_000 }, async () => {
    const { errors, page } = await open()
    const preview = page.getByRole("region", { name: "Route preview" })
    const found = preview.getByTestId("route-preview")
    const spent = () => balanceOf(at().api)
    const before = await spent()
    await page.getByRole("checkbox", { name: "Artifacts" }).uncheck()
    await page.getByRole("textbox", { name: "Message" }).fill("A haiku")
    const answered = page.waitForResponse(/\/route$/)
    await page.keyboard.press("Control+Shift+Enter")
    const first = (await (await answered).json()) as Route
    await found.waitFor(polling)
    expect(await found.innerText()).toMatch(/^auto → [\w/]+ ≈ \$0\.\d+, at most \$0\.\d+ held · \S/)
    expect([talker.talks.length, await spent()]).toEqual([used, before])
    // another one is taken instead, and any other setting is seen at once
    const instead = preview.getByRole("button", { name: "≈" }).first()
    const other = (await instead.innerText()).split(" ")[0] ?? ""
    await instead.click()
    await expect.poll(() => found.innerText(), polling).toMatch(new RegExp(`^${other} ≈ `))
    expect(await page.getByRole("combobox", { name: "Model" }).inputValue()).toBe(other)
    await choose(page, "Model", "acme/large")
    await expect.poll(() => found.innerText(), polling).toMatch(/^acme\/large ≈ /)
    // it was of this question only
    await page.getByRole("textbox", { name: "Message" }).fill("Write a haiku about the mountains")
    await preview.waitFor({ state: "detached" })
    expect([talker.talks.length, await spent()]).toEqual([used, before])
    await page.keyboard.press("Control+Enter")
    const talk = await talker.talk(used++)
    talk.say("Peaks.")
    talk.finish()
    await page.getByRole("button", { name: "Retry" }).waitFor()
    // the conversation is a part of the next question: what is sent gets longer
    await page.getByRole("textbox", { name: "Message" }).fill("And?")
    const longer = page.waitForResponse(/\/route$/)
    await page.getByRole("button", { name: "Preview" }).click()
    expect(((await (await longer).json()) as Route).prompt_tokens).toBeGreaterThan(first.prompt_tokens)
    await found.waitFor(polling)
    expect(talker.talks.length).toBe(used)
    expect(errors).toEqual([])
  })

  it("shows code without colours where those cannot be loaded, and all else", { timeout: 60_000 }, async () => {
    const { errors, page } = await open()
    await page.route(/assets\/Highlighted-.*js/, (route) => route.abort())
    await choose(page, "Model", "acme/large")
    await send(page, "Write code")
    const talk = await talker.talk(used++)
    const failed = page.waitForEvent("requestfailed")
    talk.say("```js\nlet a\n```\n\nThis was it.")
    await failed
    talk.finish()
    await page.getByRole("button", { name: "Fork" }).waitFor()
    await page.getByRole("region", { name: "Code, js" }).getByText("let a").waitFor()
    await page.getByRole("textbox", { name: "Message" }).fill("is kept")
    expect([await page.getByRole("alert").count(), errors]).toEqual([0, []])
  })

  it("has its list anew at the end of an answer that was begun elsewhere", { timeout: 60_000 }, async () => {
    const { errors, page } = await open()
    const { id } = await at().api<{ readonly id: string }>("POST", "/api/chat/conversations", {
      project_id: at().projectId
    })
    await at().api("POST", `/api/chat/conversations/${id}/messages`, { content: "Say hello", model: "acme/large" })
    const talk = await talker.talk(used++)
    talk.say("Hello")
    // the page does not hear of its end from the interval of the list
    const nothing = { items: [], has_more: false, next_cursor: null }
    await page.route(/conversations\?running=true/, (route) => route.fulfill({ json: nothing }))
    await page.goto(`${at().service.url}/dashboard/chat/${id}`)
    await page.getByText("Hello", { exact: true }).waitFor(polling)
    const listed = page.waitForRequest(/\/api\/chat\/conversations$/, { timeout: 10_000 })
    talk.finish()
    await listed
    expect(errors).toEqual([])
  })

  it("asks two models the same, side by side", { timeout: 120_000 }, async () => {
    const { errors, page } = await open()
    await choose(page, "Model", "acme/large")
    await choose(page, "Compare with", "acme/small")
    await send(page, "Which is better?")
    const answers = async (text: string) => {
      const talks = [await talker.talk(used++), await talker.talk(used++)]
      expect(talks.map(({ received }) => received.model).sort()).toEqual(["large", "small"])
      for (const talk of talks) {
        talk.say(`${text} of ${talk.received.model}`)
        talk.finish()
      }
      for (const model of ["large", "small"]) {
        const side = page.getByRole("region", { name: `Conversation with acme/${model}` })
        await side.getByText(`${text} of ${model}`, { exact: true }).waitFor(polling)
        // until its answer has ended nothing can be sent
        await side.getByRole("button", { name: "Retry", exact: true }).waitFor(polling)
      }
    }
    await answers("First answer")
    await send(page, "Why?")
    await answers("Second answer")
    await page.getByRole("button", { name: "Continue with acme/small alone" }).click()
    await page.getByText("Second answer of small").waitFor()
    expect(await page.getByText("Second answer of large").count()).toBe(0)
    expect(errors).toEqual([])
  })
})
