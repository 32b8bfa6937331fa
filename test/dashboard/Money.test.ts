import { readFile } from "node:fs/promises"
import { describe, expect, it } from "vitest"
import { hasChromium, holdAnswers } from "../support/Chromium.ts"
import { balanceOf, journey, polling } from "./Journey.ts"

describe.skipIf(!hasChromium)("money", () => {
  const at = journey()

  it("is bought on the local checkout page: declined, then paid, and credited once", async () => {
    const { errors, page } = await at().signIn()
    const before = await balanceOf(at().api)
    const buy = async () => {
      await page.getByRole("button", { name: "$50" }).click()
      // a double click opens one checkout
      await page.getByRole("button", { name: "Continue to payment" }).dblclick()
      await page.getByRole("heading", { name: "Test checkout" }).waitFor()
    }
    await page.goto(`${at().service.url}/dashboard/credits`)
    await page.getByRole("button", { name: "Add credit" }).click()
    await buy()
    await page.getByRole("button", { name: "Decline" }).click()
    await page.getByText("The test card was declined.").waitFor()
    await page.getByRole("link", { name: "Try again" }).click()
    await buy()
    // it follows the scheme of the browser
    for (const [colorScheme, color] of [
      ["light", "rgb(0, 0, 0)"],
      ["dark", "rgb(255, 255, 255)"]
    ] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await page.evaluate("getComputedStyle(document.body).color")).toBe(color)
    }
    await page.getByRole("button", { name: "Pay" }).click()
    await page.getByText("$50.00 is in your balance.").waitFor()
    await page.reload()
    await page.getByText("$50.00 is in your balance.").waitFor()
    const after = await balanceOf(at().api)
    expect(after.credited_microusd - before.credited_microusd).toBe(50_000_000)
    await page.getByRole("link", { name: "Back to credits" }).click()
    await page.getByText("+ Available").waitFor()
    await page
      .getByText("declined")
      .or(page.getByText("failed", { exact: true }))
      .first()
      .waitFor()
    expect(await page.getByText("credited", { exact: true }).count()).toBe(1)

    await page.getByRole("button", { name: "Add credit" }).click()
    await buy()
    await page.getByRole("button", { name: "Abandon" }).click()
    await page.getByText("expired", { exact: true }).waitFor()
    await page.getByText("nothing was paid", { exact: false }).waitFor()
    await page.getByRole("link", { name: "Try again" }).waitFor()
    expect(errors).toEqual([])
  })

  it("is the same in activity, requests, ledger and the exported file", async () => {
    const { api, projectId, service } = at()
    const models = ["auto", "sim/fast", "sim/best", "sim/balanced", "sim2/deep"]
    const costs = await Promise.all(
      models.map(async (model) => {
        const answer = await service.post("/v1/chat/completions", {
          model,
          messages: [{ role: "user", content: "hi" }]
        })
        const body = (await answer.json()) as { router_metadata: { cost: { amount_microusd: number } } }
        return body.router_metadata.cost.amount_microusd
      })
    )
    const total = costs.reduce((sum, each) => sum + each, 0)
    await expect.poll(async () => (await balanceOf(api)).spent_microusd, polling).toBe(total)
    const shown = `$${(total / 1_000_000).toFixed(6).replace(/0+$/, "")}`

    const { errors, page } = await at().signIn()
    await page.getByText(shown, { exact: true }).first().waitFor()
    await page.goto(`${service.url}/dashboard/p/${projectId}/requests`)
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export CSV" }).click()
    ])
    const [head = "", ...lines] = (await readFile(await download.path(), "utf8")).trim().split("\r\n")
    const column = head.split(",").indexOf("cost_microusd")
    expect(lines.map((line) => Number(line.split(",")[column])).reduce((sum, each) => sum + each, 0)).toBe(total)
    const inTable = async (name: string, amount: RegExp) => {
      const texts = await page.getByRole("table", { name }).getByText(amount).allInnerTexts()
      return texts.reduce((sum, text) => sum + Math.round(Number(text.replace(/^−?\$/, "")) * 1_000_000), 0)
    }
    await expect.poll(() => inTable("Calls", /^\$0\.\d+$/)).toBe(total)

    await page.goto(`${service.url}/dashboard/credits`)
    await page.getByText(shown, { exact: true }).waitFor()
    await expect.poll(() => inTable("Ledger", /^−\$0\.\d+$/)).toBe(total)
    expect(errors).toEqual([])
  })

  it("is given once where the drawer was closed before it was known that it was taken", async () => {
    const { errors, page } = await at().signedIn()
    const { credited_microusd: before } = await balanceOf(at().api)
    const given = async () => ((await balanceOf(at().api)).credited_microusd - before) / 1_000_000
    await page.goto(`${at().service.url}/dashboard/admin`)
    const dialog = page.getByRole("dialog")
    const give = dialog.getByRole("button", { name: "Give credit" })
    const open = async () => {
      await page.getByRole("table", { name: "People" }).getByRole("row").nth(1).click()
      await dialog.getByRole("textbox", { name: "Credit" }).fill("3")
      await dialog.getByRole("textbox", { name: "Reason" }).fill("for tests")
    }
    const close = async () => {
      await page.keyboard.press("Escape")
      await dialog.waitFor({ state: "detached" })
    }
    const held = await holdAnswers(page, "**/credits", "POST")
    await open()
    await give.click()
    await held.given
    await close()
    await open()
    await page.keyboard.press("Enter")
    held.release()
    await dialog.getByText("Credited.").waitFor()
    expect([await given(), await dialog.getByRole("textbox", { name: "Credit" }).inputValue()]).toEqual([3, ""])
    await close()
    await page.unrouteAll({ behavior: "wait" })

    await page.route("**/credits", async (route) => {
      await route.fetch()
      await route.abort()
    })
    await open()
    await give.click()
    await dialog.getByRole("alert").getByText("unreachable").waitFor()
    expect(await given()).toBe(6)
    await close()
    await page.unroute("**/credits")
    await open()
    await give.click()
    await dialog.getByText("Credited.").waitFor()
    expect(await given()).toBe(6)
    // what was taken can be given again
    await close()
    await open()
    await give.click()
    await dialog.getByText("Credited.").waitFor()
    expect(await given()).toBe(9)
    expect(errors).toEqual([])
  })
})
