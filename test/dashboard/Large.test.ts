import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { generate } from "../../scripts/bench/activity/generate.mjs"
import { closeProfiles, hasChromium, openPage, settled, sharedChromium } from "../support/Chromium.ts"
import { databaseAt } from "../support/LedgerRows.ts"
import { type Service, startService } from "../support/Service.ts"
import { operatorApi } from "./Seeded.ts"

const calls = 100_000
const keys = 500
/** Of the design, in the document at a time. */
const maxRows = 60
/** What a page asks the account API for at its opening, beside what every page shows: the person, projects and the balance. */
const maxOwnRequests = 5
const ofEveryPage = /^\/api\/me(\/projects|\/balance)?$/

describe.skipIf(!hasChromium)("with 100,000 calls and 500 keys", () => {
  let dataDir = ""
  let service: Service
  let page: Page
  let close: () => Promise<void>
  const requests: Array<string> = []
  const errors: Array<string> = []
  let projectId = ""

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "gateway-large-"))
    const start = () => startService({ dataDir, env: { SIMULATED_PROVIDERS: "on" } })
    service = await start()
    const api = await operatorApi(service)
    const me = await api<{
      readonly default_project_id: string
      readonly accounts: ReadonlyArray<{ readonly id: string }>
    }>("GET", "/api/me")
    projectId = me.default_project_id
    await service.stop()
    await Effect.runPromise(Effect.provide(fill(me.accounts[0]?.id ?? "", projectId), databaseAt({ dataDir })))
    service = await start()
    const again = await operatorApi(service)
    const browser = await sharedChromium()
    const watched = await openPage(browser)
    page = watched.page
    page.on("request", (request) => requests.push(request.url()))
    page.on("pageerror", (error) => errors.push(String(error)))
    const { url } = await again<{ readonly url: string }>("POST", "/api/session/links")
    await page.goto(url)
    await page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
    // what it still asks for would count as the next page's
    await settled(page)
    close = () => closeProfiles(browser)
  }, 240_000)
  afterAll(async () => {
    await close()
    await service.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  it("every page asks for little and shows few rows", { timeout: 120_000 }, async () => {
    const paths = {
      overview: `/p/${projectId}`,
      requests: `/p/${projectId}/requests`,
      keys: `/p/${projectId}/keys`,
      "last keys": `/p/${projectId}/keys?page=25`,
      activity: `/p/${projectId}/activity`,
      routing: `/p/${projectId}/routing`,
      policy: `/p/${projectId}/policy`,
      models: `/p/${projectId}/models`,
      analyses: `/p/${projectId}/analyses`,
      alerts: `/p/${projectId}/alerts`,
      providers: `/p/${projectId}/providers`,
      chat: "/chat",
      credits: "/credits",
      settings: "/settings"
    }
    const found: Record<string, { readonly requests: ReadonlyArray<string>; readonly rows: number }> = {}
    for (const [name, path] of Object.entries(paths)) {
      requests.length = 0
      await page.goto(`${service.url}/dashboard${path}`)
      await page.locator("main").getByRole("heading", { level: 1 }).waitFor()
      await settled(page)
      found[name] = {
        requests: requests
          .map((url) => new URL(url))
          .filter(({ pathname }) => pathname.startsWith("/api/") && !ofEveryPage.test(pathname))
          .map(({ pathname, search }) => pathname + search),
        rows: await page.locator("[role=row], tr").count()
      }
      expect([name, await page.locator("[role=alert]").allInnerTexts()]).toEqual([name, []])
    }
    for (const [name, { requests: own, rows }] of Object.entries(found)) {
      expect([name, own.length <= maxOwnRequests, own]).toEqual([name, true, own])
      expect([name, rows <= maxRows, rows]).toEqual([name, true, rows])
    }
    expect(errors).toEqual([])
  })

  it("the log is read to a call of last month, and a key of the last page is found, also as a filter", async () => {
    await page.goto(`${service.url}/dashboard/p/${projectId}/requests`)
    const table = page.getByRole("table", { name: "Calls" })
    await table.getByRole("row").nth(1).waitFor()
    await table.focus()
    requests.length = 0
    const pages = 10
    const listed = () => requests.filter((url) => /\/requests\?.*cursor=/.test(url)).length
    for (let read = 0; read < pages; read = listed()) {
      await expect.poll(() => page.keyboard.press("End").then(listed)).toBeGreaterThan(read)
      expect(await page.locator("[role=row]").count()).toBeLessThanOrEqual(maxRows)
    }
    const filter = page.locator("main").getByRole("combobox", { name: "Key", exact: true })
    await filter.fill(`service ${keys}`)
    await page.getByRole("option", { name: `service ${keys}`, exact: true }).click()
    await page.waitForURL(/key=/)
    await table.getByText(`service ${keys}`, { exact: true }).first().waitFor()
    await page.goto(`${service.url}/dashboard/p/${projectId}/keys?page=25`)
    await page.getByRole("table", { name: "Keys of this project" }).getByRole("row").last().click()
    await page.getByRole("dialog").waitFor()
    expect(errors).toEqual([])
  })

  const fill = (accountId: string, project: string) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient
      const made = yield* sql<{ readonly id: string }>`
        with made as (
          insert into api_key (id, hash, key_prefix, name, project_id, created_at)
          select gen_random_uuid(), sha256(n::text::bytea), 'mrg_sk_' || lpad(n::text, 5, '0'), 'service ' || n, ${project},
            now() - n * interval '1 minute'
          from generate_series(1, ${keys}) as n returning id
        ), scopes as (
          insert into scope (id, kind, limit_micro_usd) select id, 'key', 50000000 from made
        )
        select id from made`
      yield* Effect.promise(() =>
        generate({ query: (text, values = []) => Effect.runPromise(sql.unsafe(text, values)) }, calls, {
          account: accountId,
          project,
          keys: made.map(({ id }) => id)
        })
      )
      // nothing was checked yet, so what the holds have spent is in no base
      yield* sql`update ledger_check set holds_through = now()`
    })
})
