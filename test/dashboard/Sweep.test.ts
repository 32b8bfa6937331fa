import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import {
  closeProfile,
  closeProfiles,
  hasChromium,
  holdApiRequests,
  openPage,
  settled,
  sharedChromium,
  type WatchedPage
} from "../support/Chromium.ts"
import { isLong } from "../support/Figures.ts"
import { type SeededService, seededService } from "./Seeded.ts"

interface Violation {
  readonly id: string
  readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary: string }>
}

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
/** Of the best practices: what a person finds a way by who hears a page. */
const rules = [
  "empty-heading",
  "empty-table-header",
  "heading-order",
  "label-title-only",
  "page-has-heading-one",
  "region",
  "tabindex"
]
const enabled = JSON.stringify(Object.fromEntries(rules.map((rule) => [rule, { enabled: true }])))
const maxRows = 60

/**
 * What axe does not look at: fields that can be used whose edge has a contrast below 3 to what surrounds them or to what is in them
 * (WCAG 1.4.11), or whose placeholder has one below 4.5 (1.4.3).
 */
const faintFields = `(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number)
  const luminance = (colour) => {
    const [r, g, b] = channels(colour).map((each) => each / 255).map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const contrast = (some, other) => {
    const [light, dark] = [luminance(some), luminance(other)].sort((a, b) => b - a)
    return (light + 0.05) / (dark + 0.05)
  }
  const ground = (of) => {
    for (let each = of; each !== null; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor
      if ((channels(colour)[3] ?? 1) === 1) return colour
    }
    return "rgb(255, 255, 255)"
  }
  const edges = [...document.querySelectorAll(".mantine-Input-input, [type=checkbox], [type=radio]")].flatMap((field) => {
    if (field.checked || field.matches(":disabled, .mantine-SegmentedControl-input") || field.closest("fieldset:disabled")) return []
    const track = field.getAttribute("role") === "switch" ? field.nextElementSibling : null
    if (track !== null) return [[track, getComputedStyle(track).backgroundColor, ground(track.parentElement)]]
    const { borderTopColor, backgroundColor } = getComputedStyle(field)
    return [[field, borderTopColor, backgroundColor], [field, borderTopColor, ground(field.parentElement)]]
  })
  const placeholders = [...document.querySelectorAll("[placeholder]:not(:disabled, fieldset:disabled *, [placeholder=''])")]
  return [...edges, ...placeholders.map((field) => [field, getComputedStyle(field, "::placeholder").color, ground(field), 4.5])]
    .filter(([, colour, beside, least = 3]) => contrast(colour, beside) < least)
    .map(([field, colour, beside]) => \`\${field.outerHTML.slice(0, 160)}: \${colour} beside \${beside}\`)
})()`

describe.skipIf(!hasChromium)("every page", () => {
  let seeded: SeededService
  let browser: Browser
  let axe = ""
  beforeAll(async () => {
    ;[seeded, browser, axe] = await Promise.all([
      seededService(),
      sharedChromium(),
      readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
    ])
  })
  afterAll(async () => {
    await closeProfiles(browser)
    await seeded.stop()
  })

  const signIn = async (watched: WatchedPage) => {
    onTestFinished(() => closeProfile(watched.page))
    await watched.page.goto(await seeded.signInLink())
    await watched.page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    return watched
  }

  /** As a link does: the app stays loaded. */
  const follow = (page: Page, path: string) =>
    page.evaluate(
      `history.pushState(null, "", ${JSON.stringify(`/dashboard${path}`)}); dispatchEvent(new PopStateEvent("popstate"))`
    )
  /** Without a dialog's movement colours are those that stay; a loader turns forever. */
  const still = (page: Page) =>
    page.evaluate(
      "Promise.allSettled(document.getAnimations().filter((each) => each.effect.getTiming().iterations !== Infinity).map((each) => each.finished)).then(() => {})"
    )
  const go = async (page: Page, path: string) => {
    await follow(page, path)
    await settled(page)
    await page.locator("main").getByRole("heading", { level: 1 }).waitFor()
    await still(page)
  }

  const violations = async (page: Page): Promise<ReadonlyArray<string>> => {
    // a page that was loaded anew has none
    if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axe)
    const found = await page.evaluate<ReadonlyArray<Violation>>(
      `axe.run(document, { runOnly: ${JSON.stringify(tags)}, rules: ${enabled} }).then(({ violations }) => violations)`
    )
    return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`)
  }

  /** What is on its way when a page is looked at, as a colour that changes, is none of the page's. */
  const lasting = async (page: Page): Promise<ReadonlyArray<string>> => {
    let found = await violations(page)
    for (let looked = 1; looked < 4 && found.length > 0; looked += 1) {
      await page.waitForTimeout(500)
      found = await violations(page)
    }
    return found
  }

  // each page is seen in light and dark, wide and narrow; in all four ways in the long form
  it.each([
    { scheme: "light", width: 1280, half: 0 },
    { scheme: "light", width: 390, half: 1 },
    { scheme: "dark", width: 1280, half: 1 },
    { scheme: "dark", width: 390, half: 0 }
  ] as const)(
    "can be used by everybody, $scheme, at $width px, without an error",
    { timeout: 180_000 },
    async (look) => {
      const { errors, page } = await signIn(
        await openPage(browser, {
          colorScheme: look.scheme,
          viewport: { width: look.width, height: 800 }
        })
      )
      const problems: Array<string> = []
      const pages = Object.entries(seeded.paths).filter((_, at) => isLong || at % 2 === look.half)
      for (const [name, path] of pages) {
        await go(page, path)
        for (const violation of await lasting(page)) problems.push(`${name}: ${violation}`)
        const wide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")
        if (wide > 0) problems.push(`${name}: ${wide} px wider than the page`)
      }
      // as text: the message then says what it is
      expect([...problems, ...errors].join("\n")).toBe("")
    }
  )

  it.each(["light", "dark"] as const)(
    "says what is wrong, and warns, so that everybody can read it, %s",
    async (colorScheme) => {
      const { page } = await signIn(await openPage(browser, { colorScheme }))
      const problems: Array<string> = []
      const look = async (name: string) => {
        for (const violation of await lasting(page)) problems.push(`${name}: ${violation}`)
      }
      await go(page, `${seeded.paths["create-key"]}`)
      await page.getByRole("textbox", { name: "Name" }).fill("   ")
      await page.keyboard.press("Enter")
      await page.getByRole("dialog").getByRole("alert").waitFor()
      await look("a field that is wrong")
      await page.getByRole("textbox", { name: "Name" }).fill("to be read")
      await page.keyboard.press("Enter")
      await page.getByText("Save it now").waitFor()
      await look("a warning")
      await page.getByRole("button", { name: "I have saved it" }).click()
      await page.route("**/activity?*", (route) => route.fulfill({ status: 503, headers: { "retry-after": "3600" } }))
      await follow(page, `${seeded.paths["activity"]}`)
      await page.getByText("The service is not available right now").waitFor()
      await still(page)
      await look("a page that waits")
      expect(problems.join("\n")).toBe("")
    }
  )

  it.each(["light", "dark"] as const)("has fields whose edges and placeholders are seen, %s", async (colorScheme) => {
    const { page } = await signIn(await openPage(browser, { colorScheme }))
    const faint: Array<string> = []
    for (const name of ["policy", "requests", "alerts", "providers", "chat", "create-key"]) {
      await go(page, `${seeded.paths[name]}`)
      for (const field of await page.evaluate<ReadonlyArray<string>>(faintFields)) faint.push(`${name}: ${field}`)
    }
    expect(faint.join("\n")).toBe("")
    // also of the field that has the focus
    await page.getByRole("dialog").getByRole("textbox").first().focus()
    expect(await page.evaluate(faintFields)).toEqual([])
  })

  it("leads to the sign-in page once when the session has ended, and back", async () => {
    const { page } = await signIn(await openPage(browser))
    await go(page, `${seeded.paths["keys"]}`)
    const { items } = await seeded.api<{
      readonly items: ReadonlyArray<{ readonly id: string; readonly is_current: boolean; readonly transport: string }>
    }>("GET", "/api/sessions")
    const release = await holdApiRequests(page)
    for (const { id, transport } of items) if (transport === "cookie") await seeded.api("DELETE", `/api/sessions/${id}`)
    const visited: Array<string> = []
    page.on("framenavigated", (frame) => visited.push(frame.url()))
    await page.getByRole("link", { name: "Activity" }).click()
    await page.waitForURL(`**${seeded.paths["activity"]}`)
    release()
    await page.getByText("Open a sign-in link of this service").waitFor()
    await settled(page)
    expect(visited.filter((url) => url.includes("/sign-in")).length).toBe(1)
    const back = new URL(page.url()).searchParams.get("return_to")
    expect(back).toBe(`${seeded.paths["activity"]}`)
  })

  it("keeps the question that was being written when the session ends", async () => {
    const { errors, page } = await signIn(await openPage(browser))
    await go(page, "/chat")
    const question = page.getByRole("textbox", { name: "Message" })
    await question.fill("Why is the sea salty? 🌊")
    const { items } = await seeded.api<{
      readonly items: ReadonlyArray<{ readonly id: string; readonly transport: string }>
    }>("GET", "/api/sessions")
    for (const { id, transport } of items) if (transport === "cookie") await seeded.api("DELETE", `/api/sessions/${id}`)
    await page.keyboard.press("Control+Enter")
    await page.getByText("Open a sign-in link of this service").waitFor()
    expect(new URL(page.url()).searchParams.get("return_to")).toBe("/chat")
    await page.goto(await seeded.signInLink())
    // the way to the first page would else end after the way to the chat
    await page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    await page.getByRole("link", { name: "Chat", exact: true }).click()
    await question.waitFor()
    expect(await question.inputValue()).toBe("Why is the sea salty? 🌊")
    expect(errors).toEqual([])
  })

  it("has few rows in the document however long its list is", async () => {
    const { page } = await signIn(await openPage(browser))
    const pages = 10
    let asked = 0
    const sample = await seeded.api<{ readonly items: ReadonlyArray<{ readonly id: string }> }>(
      "GET",
      `/api/projects/${seeded.projectId}/requests?limit=1`
    )
    await page.route("**/api/projects/*/requests?*", (route) => {
      asked += 1
      const items = Array.from({ length: 100 }, (_, index) => ({
        ...sample.items[0],
        id: `00000000-0000-7000-8000-${String(asked * 100 + index).padStart(12, "0")}`
      }))
      const has_more = asked < pages
      return route.fulfill({ json: { items, has_more, next_cursor: has_more ? `cursor-${asked}` : null } })
    })
    await go(page, `${seeded.paths["requests"]}`)
    const table = page.getByRole("table", { name: "Calls" })
    await table.focus()
    let most = 0
    while (asked < pages) {
      const before = asked
      // what comes makes the list longer: its end is further down then
      await expect.poll(() => page.keyboard.press("End").then(() => asked)).toBeGreaterThan(before)
      most = Math.max(most, await table.getByRole("row").count())
    }
    await expect
      .poll(() => page.keyboard.press("End").then(() => table.getByRole("row").last().getAttribute("aria-rowindex")))
      .toBe(String(pages * 100 + 1))
    expect(most).toBeLessThanOrEqual(maxRows)
    expect(asked).toBe(pages)
  })

  it("opens by its key, and no key fires in a field", async () => {
    const { page } = await signIn(await openPage(browser))
    await page.keyboard.press("g")
    await page.keyboard.press("m")
    await page.getByRole("heading", { name: "Models", exact: true }).waitFor()
    await page.keyboard.press("/")
    await page.keyboard.type("gk best")
    await expect.poll(() => new URL(page.url()).searchParams.get("q")).toBe("gk best")
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "Page, project, model or request id" }).fill("credits")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Credits", exact: true }).waitFor()
  })

  it("has menus at its top that open by the keyboard and give the focus back", async () => {
    const { errors, page } = await signIn(await openPage(browser, { reducedMotion: "no-preference" }))
    for (const name of ["Project: default", "You"]) {
      // the first time their code has to come
      for (const _ of ["first", "second"]) {
        await page.getByRole("button", { name, exact: true }).focus()
        await page.keyboard.press("Enter")
        const menu = page.getByRole("menu")
        await menu.waitFor()
        // it takes the keys once it has the focus
        await expect.poll(() => page.evaluate("document.activeElement.closest('[role=menu]') !== null")).toBe(true)
        await page.keyboard.press("Escape")
        await menu.waitFor({ state: "hidden" })
        await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe(name)
      }
    }
    expect(errors).toEqual([])
  })
})
