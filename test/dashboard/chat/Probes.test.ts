// Promise: What models write runs nothing in the dashboard, shows no dialog and asks nobody else for anything.
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { configOf, startTalker, type Talker } from "../../support/Chat.ts"
import { hasChromium } from "../../support/Chromium.ts"
import { journey } from "../Journey.ts"

/** Each tries to leave its frame, and says in the end what has come of it. `OUT` is another server. */
const artifactProbes: Readonly<Record<string, string>> = {
  "shows dialogs": `alert(1); confirm(1); prompt(1); done("went on")`,
  "reads the page around it": `try { done(parent.document.title) } catch (error) { done(error.name) }`,
  "reads cookies": `try { done(document.cookie) } catch (error) { done(error.name) }`,
  "reads stored values": `try { done(localStorage.getItem("gateway.page-token")) } catch (error) { done(error.name) }`,
  "asks the account API": `fetch("/api/me", { credentials: "include" }).then((answer) => done(answer.status), (error) => done(error.name))`,
  "sends what it has elsewhere": `fetch("OUT/fetch", { mode: "no-cors" }).then(() => done("sent"), () => new Image().src = "OUT/image"); navigator.sendBeacon?.("OUT/beacon"); try { new WebSocket("OUT/socket".replace("http", "ws")) } catch {} setTimeout(() => done("refused"), 300)`,
  "leads the tab elsewhere": `try { top.location = "OUT/top" } catch (error) { done(error.name) } setTimeout(() => done("stayed"), 300)`,
  "opens a window": `const opened = window.open("OUT/window"); const link = document.createElement("a"); link.href = "OUT/link"; link.target = "_blank"; document.body.append(link); link.click(); done(opened === null ? "refused" : "opened")`,
  "submits a form": `const form = document.createElement("form"); form.action = "OUT/form"; form.method = "post"; form.target = "_top"; document.body.append(form); form.submit(); setTimeout(() => done("refused"), 300)`,
  "loads scripts, styles, frames and prefetches": `for (const [name, at] of [["script", "src"], ["iframe", "src"], ["embed", "src"], ["object", "data"]]) { const element = document.createElement(name); element[at] = "OUT/" + name; document.body.append(element) } for (const rel of ["stylesheet", "prefetch", "preload", "dns-prefetch", "icon"]) { const link = document.createElement("link"); link.rel = rel; link.as = "script"; link.href = "OUT/" + rel; document.head.append(link) } setTimeout(() => done("refused"), 300)`
}

/** What each of them may come to. */
const outcomes = /^(SecurityError|TypeError|went on|refused|stayed)$/

const markdownProbes: ReadonlyArray<string> = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  '<iframe src="OUT/iframe"></iframe>',
  '<svg onload="alert(1)"><a href="javascript:alert(1)">x</a></svg>',
  "[click](javascript:alert(1))",
  "[click](  jAvAsCrIpT:alert(1))",
  "[click](java&#x73;cript:alert(1))",
  "[click](data:text/html,<script>alert(1)</script>)",
  "[click](vbscript:msgbox)",
  "<javascript:alert(1)>",
  "![leak](OUT/leak.png)",
  "[![leak](OUT/leak.png)](OUT/around)",
  '[click](OUT/title "a\\" onmouseover=alert(1)")',
  "```html\n<script>alert(1)</script><img src=OUT/code onerror=alert(1)>\n```",
  "| a |\n|---|\n| <img src=OUT/cell onerror=alert(1)> |",
  "[ref]: javascript:alert(1)\n\n[click][ref]"
]

describe.skipIf(!hasChromium)("what a model writes", () => {
  let talker: Talker
  let used = 0
  let outside: Server
  let out = ""
  const asked: Array<string> = []
  const at = journey(async () => {
    talker = await startTalker()
    return { config: configOf(talker), env: { PROVIDER_KEY: "sk-upstream" } }
  })
  beforeAll(async () => {
    outside = createServer((request, response) => {
      if (request.url !== "/favicon.ico") asked.push(request.url ?? "")
      response.end()
    })
    outside.on("upgrade", (request, socket) => {
      asked.push(request.url ?? "")
      socket.destroy()
    })
    await new Promise<void>((resolve) => outside.listen(0, "127.0.0.1", resolve))
    out = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    outside.closeAllConnections()
    outside.close()
    await talker.stop()
  })

  it("could ask the other server, were it not kept from it", async () => {
    const page = await at().browser.newPage()
    await page.goto(`${out}/control`)
    await page.close()
    expect(asked.splice(0)).toContain("/control")
  })

  /** A signed-in page, and what its probes have shown or opened. */
  const watched = async () => {
    const { page } = await at().signIn()
    const alarms: Array<string> = []
    page.on("dialog", (dialog) => {
      alarms.push(`${dialog.type()} ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.context().on("page", (opened) => alarms.push(`page ${opened.url()}`))
    return { page, alarms }
  }
  const conversationWith = async (write: (talk: Awaited<ReturnType<Talker["talk"]>>) => void, calls: 1 | 2) => {
    const { api, projectId } = at()
    const { id } = await api<{ readonly id: string }>("POST", "/api/chat/conversations", { project_id: projectId })
    await api("POST", `/api/chat/conversations/${id}/messages`, { content: "write", model: "acme/large" })
    write(await talker.talk(used++))
    if (calls === 2) (await talker.talk(used++)).finish()
    await expect
      .poll(async () => (await api<{ readonly running: boolean }>("GET", `/api/chat/conversations/${id}`)).running)
      .toBe(false)
    return id
  }

  it("cannot leave the frame of an artifact", { timeout: 120_000 }, async () => {
    const names = Object.keys(artifactProbes)
    const id = await conversationWith((talk) => {
      names.forEach((name, index) => {
        const script = (artifactProbes[name] ?? "").replaceAll("OUT", out)
        const content = `<!doctype html><body><script>
          const done = (outcome) => { document.body.dataset.outcome ??= String(outcome) }
          addEventListener("load", () => { ${script} })
        </script></body>`
        talk.call(index, "write_artifact", JSON.stringify({ name: `${name}.html`, media_type: "text/html", content }))
      })
      talk.finish("tool_calls")
    }, 2)
    const { artifacts } = await at().api<{
      readonly artifacts: ReadonlyArray<{ readonly id: string; readonly name: string; readonly content_url: string }>
    }>("GET", `/api/chat/conversations/${id}`)
    expect(artifacts).toHaveLength(10)
    const { alarms, page } = await watched()
    for (const artifact of artifacts) {
      const address = `${at().service.url}/dashboard/chat/${id}?artifact=${artifact.id}`
      await page.goto(address)
      const body = page.frameLocator("iframe").locator("body[data-outcome]")
      await body.waitFor({ state: "attached" })
      expect([artifact.name, await body.getAttribute("data-outcome")]).toEqual([
        artifact.name,
        expect.stringMatching(outcomes)
      ])
      expect([artifact.name, page.url(), alarms, asked]).toEqual([artifact.name, address, [], []])
    }
  })

  it("cannot lead the frame of an artifact elsewhere", async () => {
    const id = await conversationWith((talk) => {
      const leaves = {
        script: `<script>location = "${out}/self"</script>`,
        meta: `<meta http-equiv="refresh" content="0;url=${out}/meta">`
      }
      Object.entries(leaves).forEach(([name, content], index) => {
        talk.call(index, "write_artifact", JSON.stringify({ name: `${name}.html`, media_type: "text/html", content }))
      })
      talk.finish("tool_calls")
    }, 2)
    const { artifacts } = await at().api<{ readonly artifacts: ReadonlyArray<{ readonly id: string }> }>(
      "GET",
      `/api/chat/conversations/${id}`
    )
    const { alarms, page } = await watched()
    for (const artifact of artifacts) {
      const refused = page.waitForEvent("console", (message) => message.text().includes("frame-src"))
      await page.goto(`${at().service.url}/dashboard/chat/${id}?artifact=${artifact.id}`)
      await refused
    }
    expect(artifacts).toHaveLength(2)
    expect([alarms, asked]).toEqual([[], []])
  })

  it("is a file where an artifact is opened as a page of its own", async () => {
    const id = await conversationWith((talk) => {
      const content = "<script>alert(1)</script>"
      talk.call(0, "write_artifact", JSON.stringify({ name: "own.html", media_type: "text/html", content }))
      talk.finish("tool_calls")
    }, 2)
    const { artifacts } = await at().api<{ readonly artifacts: ReadonlyArray<{ readonly content_url: string }> }>(
      "GET",
      `/api/chat/conversations/${id}`
    )
    const { alarms, page } = await watched()
    const download = page.waitForEvent("download")
    await page.goto(`${at().service.url}${artifacts[0]?.content_url}`).catch(() => {})
    expect((await download).suggestedFilename()).toBe("own.html")
    expect(alarms).toEqual([])
  })

  it("is text where it looks like a page, and its links lead nowhere but to other pages", {
    timeout: 120_000
  }, async () => {
    const { alarms, page } = await watched()
    for (const probe of markdownProbes) {
      const text = probe.replaceAll("OUT", out)
      const id = await conversationWith((talk) => {
        talk.say(text)
        talk.finish()
      }, 1)
      await page.goto(`${at().service.url}/dashboard/chat/${id}`)
      await page.getByRole("button", { name: "Retry" }).waitFor()
      const found = await inAnswer(page)
      expect([probe, found.elements]).toEqual([probe, []])
      expect([probe, found.links.filter((link) => !link.startsWith("http"))]).toEqual([probe, []])
      expect([probe, found.text]).toEqual([probe, expect.stringMatching(/\S/)])
      expect([probe, alarms, asked]).toEqual([probe, [], []])
    }
  })

  const inAnswer = (page: Page) =>
    page.evaluate<{
      readonly elements: ReadonlyArray<string>
      readonly links: ReadonlyArray<string>
      readonly text: string
    }>(`{
      const answer = document.querySelector("[data-testid=answer-text]")
      const names = "script, iframe, img, svg, object, embed, style, form, input"
      ;({
        elements: [...answer.querySelectorAll(names)].map((each) => each.outerHTML)
          .concat([...answer.querySelectorAll("*")].flatMap((each) => each.getAttributeNames().filter((name) => name.startsWith("on")))),
        links: [...answer.querySelectorAll("a")].map((each) => each.href),
        text: answer.innerText
      })
    }`)
})
