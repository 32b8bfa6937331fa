import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { hasChromium, holdAnswers } from "../support/Chromium.ts"
import { journey } from "./Journey.ts"

interface AxNode {
  readonly role?: { readonly value?: string }
  readonly name?: { readonly value?: string }
  readonly properties?: ReadonlyArray<{
    readonly name: string
    readonly value: {
      readonly value?: unknown
      readonly relatedNodes?: ReadonlyArray<{ readonly backendDOMNodeId: number }>
    }
  }>
  readonly backendDOMNodeId?: number
}

describe.skipIf(!hasChromium)("the palette", () => {
  const at = journey()

  const opened = async (page: Page) => {
    await page.keyboard.press("Control+k")
    const field = page.getByRole("combobox", { name: "Page, project, model or request id" })
    await expect.poll(() => field.and(page.locator(":focus")).count()).toBe(1)
    return field
  }

  /** What assistive technology is told of the field: the options it controls, and the one that the keys have reached. */
  const told = async (page: Page) => {
    const session = await page.context().newCDPSession(page)
    const { nodes } = (await session.send("Accessibility.getFullAXTree")) as unknown as { nodes: ReadonlyArray<AxNode> }
    await session.detach()
    const of = (node: AxNode | undefined, name: string) => node?.properties?.find((each) => each.name === name)?.value
    const field = nodes.find(({ name, role }) => role?.value === "combobox" && name?.value?.startsWith("Page, "))
    const named = (property: string) => {
      const ids = of(field, property)?.relatedNodes?.map(({ backendDOMNodeId }) => backendDOMNodeId) ?? []
      return nodes.filter(({ backendDOMNodeId }) => ids.includes(backendDOMNodeId ?? -1))
    }
    const options = nodes.filter(({ role }) => role?.value === "option")
    return {
      isExpanded: of(field, "expanded")?.value,
      hasFocus: of(field, "focused")?.value,
      controls: named("controls").map(({ role }) => role?.value),
      active: named("activedescendant").map(({ name }) => name?.value),
      selected: options.filter((option) => of(option, "selected")?.value === true).map(({ name }) => name?.value),
      options: options.map(({ name }) => name?.value)
    }
  }

  it("is a field with a list of options, of which it says which one the keys have reached", async () => {
    const { errors, page } = await at().signIn()
    const field = await opened(page)
    await page.getByRole("option", { name: "Overview page" }).waitFor()
    expect(await told(page)).toMatchObject({
      isExpanded: true,
      hasFocus: true,
      controls: ["listbox"],
      active: ["Overview page"],
      selected: ["Overview page"]
    })
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowUp")
    expect(await told(page)).toMatchObject({
      hasFocus: true,
      active: ["Requests page"],
      selected: ["Requests page"]
    })
    // another list begins at its first option
    await field.fill("credits")
    await expect.poll(() => told(page)).toMatchObject({ active: ["Credits page"], options: ["Credits page"] })
    await field.fill("no such page")
    await page.getByRole("status").getByText("No results.").waitFor()
    expect(await told(page)).toMatchObject({ isExpanded: false, active: [], options: [] })
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowUp")
    await field.fill("credits")
    await expect.poll(() => told(page)).toMatchObject({ active: ["Credits page"] })
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Credits", exact: true }).waitFor()
    expect(errors).toEqual([])
  })

  it("keeps the focus when the page behind it shows a field", async () => {
    const { errors, page } = await at().signIn()
    const held = await holdAnswers(page, "**/activity?*", "GET")
    await page.reload()
    await held.given
    const field = await opened(page)
    held.release()
    await page.getByRole("textbox", { name: "Message", includeHidden: true }).waitFor()
    await field.and(page.locator(":focus")).waitFor()
    // the field has it where nobody works elsewhere
    await page.reload()
    await page.getByRole("textbox", { name: "Message" }).and(page.locator(":focus")).waitFor()
    expect(errors).toEqual([])
  })

  it("goes to a request by its id, and by the id of its response", async () => {
    const { service, signIn } = at()
    const response = await service.post("/v1/chat/completions", {
      model: "sim/fast",
      messages: [{ role: "user", content: "hello" }]
    })
    const { id } = (await response.json()) as { readonly id: string }
    const requestId = response.headers.get("x-request-id") ?? ""
    const { errors, page } = await signIn()
    for (const wanted of [requestId, id]) {
      await (await opened(page)).fill(` ${wanted} `)
      await page.getByRole("option", { name: wanted }).click()
      await page.getByRole("heading", { name: "Request", exact: true }).waitFor()
      await page.getByTitle(requestId).waitFor()
    }
    expect(errors).toEqual([])
  })

  it("has its options out of the way of the Tab key, and takes a click on one", async () => {
    const { page } = await at().signIn()
    await opened(page)
    await page.keyboard.press("Shift+Tab")
    const close = page.getByRole("dialog").locator("button:focus")
    expect(await close.count()).toBe(1)
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    expect(await close.count()).toBe(1)
    await page.getByRole("option", { name: "Models page" }).click()
    await page.getByRole("heading", { name: "Models", exact: true }).waitFor()
  })

  it("offers no page of a project to a person who has none", async () => {
    const { page } = await at().signedIn()
    await page.route(/\/api\/projects(\?|$)|\/api\/me\/projects/, (route) =>
      route.request().method() === "GET"
        ? route.fulfill({ json: { items: [], has_more: false, next_cursor: null } })
        : route.continue()
    )
    await page.goto(`${at().service.url}/dashboard/credits`)
    await page.getByRole("heading", { name: "Credits", exact: true }).waitFor()
    await opened(page)
    await page.getByRole("option", { name: "Credits page" }).waitFor()
    expect(await page.getByRole("option", { name: "Keys page" }).count()).toBe(0)
  })

  it("says that there is nothing once it has read all that can be gone to", async () => {
    const { projectId, service, signedIn } = at()
    const { errors, page } = await signedIn()
    const held = await holdAnswers(page, "**/api/models?*", "GET")
    await page.goto(`${service.url}/dashboard/p/${projectId}/keys`)
    await page.getByRole("heading", { name: "Keys", exact: true }).waitFor()
    const field = await opened(page)
    await held.given
    await field.fill("sim/none of these")
    const state = page.getByRole("dialog").getByRole("status")
    await expect.poll(() => state.innerText()).toBe("Loading")
    held.release()
    await expect.poll(() => state.innerText()).toBe("No results.")
    await field.fill("sim/fast")
    await page.getByRole("option", { name: /^sim\/fast/ }).waitFor()
    expect(errors).toEqual([])
  })
})
