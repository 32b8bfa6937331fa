import { describe, expect, it } from "vitest"
import { hasChromium } from "../support/Chromium.ts"
import { journey } from "./Journey.ts"

describe.skipIf(!hasChromium)("a name", () => {
  const at = journey()

  it("that is one long word leaves a dialog with its button to close it, and can be read whole", async () => {
    const { api, projectId, service, signIn } = at()
    const name = "k".repeat(200)
    const key = await api<{ readonly id: string }>("POST", `/api/projects/${projectId}/keys`, { name })
    const { errors, page } = await signIn()
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 })
      await page.goto(`${service.url}/dashboard/p/${projectId}/keys?key=${key.id}`)
      const drawer = page.getByRole("dialog", { name, exact: true })
      await drawer.getByRole("button", { name: "Revoke" }).click()
      const dialog = page.getByRole("dialog", { name: `Revoke ${name}` })
      await dialog.getByText(`Type the name: ${name}`).waitFor()
      for (const each of [drawer, dialog]) {
        expect(
          await each.evaluate((box) => {
            const { right } = box.getBoundingClientRect()
            const parts = [...box.querySelectorAll("h2, header, header button, label")]
            return parts.every(
              (part) => part.scrollWidth <= part.clientWidth && part.getBoundingClientRect().right <= right
            )
          })
        ).toBe(true)
      }
    }
    expect(errors).toEqual([])
  })

  it("of a project can be chosen in the menu however many there are", async () => {
    const { api, signIn } = at()
    for (let number = 1; number <= 105; number += 1)
      await api("POST", "/api/me/projects", { name: `project ${number}` })
    const { errors, page } = await signIn()
    await page.getByRole("button", { name: /^Project: / }).click()
    const menu = page.getByRole("menu")
    await menu.getByRole("menuitem", { name: "project 105" }).waitFor()
    await menu.hover()
    await page.mouse.wheel(0, 10_000)
    await expect
      .poll(async () => ((await menu.getByRole("menuitem", { name: "New project" }).boundingBox())?.y ?? 9_999) < 800)
      .toBe(true)
    await menu.getByRole("menuitem", { name: "project 1", exact: true }).click()
    await page.getByRole("button", { name: "Project: project 1", exact: true }).waitFor()
    expect(errors).toEqual([])
  })
})
