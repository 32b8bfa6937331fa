import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { configOf, type Detail, startTalker, type Talker } from "../../support/Chat.ts"
import { closeProfiles, hasChromium, openPage, sharedChromium } from "../../support/Chromium.ts"
import { type Service, startService } from "../../support/Service.ts"
import { balanceOf, polling } from "../Journey.ts"
import { operatorApi } from "../Seeded.ts"

describe.skipIf(!hasChromium)("a gateway that is killed while it writes an answer", () => {
  let talker: Talker
  let dataDir = ""
  let browser: Browser
  let service: Service
  beforeAll(async () => {
    ;[talker, dataDir, browser] = await Promise.all([
      startTalker(),
      mkdtemp(join(tmpdir(), "gateway-killed-")),
      sharedChromium()
    ])
  })
  afterAll(async () => {
    await closeProfiles(browser)
    await service.stop()
    await talker.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  const start = (port: string) =>
    startService({ dataDir, config: configOf(talker), env: { PORT: port, PROVIDER_KEY: "sk-upstream" } })

  it("shows after its restart what was written, as interrupted and free, and asks again", {
    timeout: 120_000
  }, async () => {
    const text = "The first half of"
    service = await start("0")
    const firstApi = await operatorApi(service)
    const { default_project_id: project_id } = await firstApi<{ readonly default_project_id: string }>("GET", "/api/me")
    const { id } = await firstApi<{ readonly id: string }>("POST", "/api/chat/conversations", { project_id })
    const path = `/api/chat/conversations/${id}`
    await firstApi("POST", `${path}/messages`, { content: "Write", model: "acme/large", artifacts: false })
    const { page } = await openPage(browser)
    const { url } = await firstApi<{ readonly url: string }>("POST", "/api/session/links")
    await page.goto(url)
    await page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    await page.goto(`${service.url}/dashboard/chat/${id}`)
    ;(await talker.talk(0)).say(text)
    await page.getByTestId("answer-text").getByText(text).waitFor()
    await expect.poll(async () => (await firstApi<Detail>("GET", path)).messages[1]?.content, polling).toBe(text)

    await service.stop("SIGKILL")
    service = await start(new URL(service.url).port)
    const secondApi = await operatorApi(service)
    // the page has tried for some seconds
    const ending = page.getByText("The gateway stopped while generating this answer; nothing was charged.")
    await expect
      .poll(async () => {
        const again = page.getByRole("alert").getByRole("button", { name: "Retry" })
        if (await again.isVisible()) await again.click()
        return ending.isVisible()
      }, polling)
      .toBe(true)
    expect(await page.getByTestId("answer-text").innerText()).toBe(text)
    expect(await balanceOf(secondApi)).toMatchObject({ spent_microusd: 0, held_microusd: 0 })

    await page.getByRole("button", { name: "Retry" }).click()
    const again = await talker.talk(1)
    again.say("All of it.")
    again.finish()
    await page.getByTestId("answer-text").getByText("All of it.").waitFor()
    await page.getByText("2/2").waitFor()
    const cost = (await secondApi<Detail>("GET", path)).messages[1]?.cost?.amount_microusd
    await expect.poll(async () => (await balanceOf(secondApi)).spent_microusd, polling).toBe(cost)
    expect(cost).toBeGreaterThan(0)
  })
})
