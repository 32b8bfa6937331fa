import { describe, expect, it } from "vitest"
import { hasChromium } from "../support/Chromium.ts"
import { journey } from "./Journey.ts"

describe.skipIf(!hasChromium)("a list that is longer than one request answers", () => {
  const at = journey()

  it("of all projects is read to its end", async () => {
    const { api, signIn } = at()
    for (let number = 1; number <= 100; number += 1)
      await api("POST", "/api/me/projects", { name: `project ${number}` })
    const { errors, page } = await signIn()
    await page.goto(`${at().service.url}/dashboard/admin?tab=projects`)
    const table = page.getByRole("table", { name: "Projects" })
    await table.getByRole("row").filter({ hasText: "project 100" }).waitFor()
    await table.hover()
    // the first project is the oldest, and the last of the list
    const oldest = table.getByRole("row").filter({ hasText: /^default/ })
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 20_000)
        return oldest.count()
      })
      .toBe(1)
    expect(errors).toEqual([])
  })

  it("of people is read to its end", async () => {
    const { errors, page } = await at().signIn()
    const people = Array.from({ length: 150 }, (_, index) => ({
      id: `00000000-0000-7000-8000-${String(index).padStart(12, "0")}`,
      account_id: `00000000-0000-7000-9000-${String(index).padStart(12, "0")}`,
      name: `person ${index + 1}`,
      issuer: null,
      subject: null,
      is_operator: false,
      created_at: "2026-01-01T00:00:00.000Z"
    }))
    await page.route("**/api/admin/users*", (route) => {
      const query = new URL(route.request().url()).searchParams
      const from = Number(query.get("cursor") ?? 0)
      const to = from + Number(query.get("limit"))
      const isMore = to < people.length
      return route.fulfill({
        json: { items: people.slice(from, to), has_more: isMore, next_cursor: isMore ? String(to) : null }
      })
    })
    await page.goto(`${at().service.url}/dashboard/admin`)
    const table = page.getByRole("table", { name: "People" })
    await table.getByRole("row").filter({ hasText: "person 1" }).first().waitFor()
    await table.hover()
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 20_000)
        return table.getByRole("row").filter({ hasText: "person 150" }).count()
      })
      .toBe(1)
    expect(errors).toEqual([])
  })

  it("of payments goes on with those before", async () => {
    const { api, signIn } = at()
    for (let number = 1; number <= 21; number += 1) {
      await api("POST", "/api/me/checkout", { credit_amount_cents: 1_000 + number })
    }
    const { errors, page } = await signIn()
    await page.goto(`${at().service.url}/dashboard/credits`)
    const payments = page.getByRole("region", { name: "Payments" }).getByRole("table")
    await payments.getByText("$10.21").waitFor()
    await page.getByRole("button", { name: "Earlier payments" }).click()
    await payments.getByText("$10.01").waitFor()
    expect(await page.getByRole("button", { name: "Earlier payments" }).count()).toBe(0)
    expect(errors).toEqual([])
  })
})
