import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, onTestFinished } from "vitest"
import { closeProfile, launchChromium, openPage, type WatchedPage } from "../support/Chromium.ts"
import { masterKey, type Service, type ServiceOptions, startService } from "../support/Service.ts"
import { type Api, operatorApi } from "./Seeded.ts"

export interface Journey {
  readonly service: Service
  readonly browser: Browser
  readonly api: Api
  readonly projectId: string
  /** A signed-in page of a new browser profile, closed when the test has ended: it would go on asking. */
  readonly signIn: () => Promise<WatchedPage>
}

/** A page asks again by itself, at intervals of its own. */
export const polling = { timeout: 15_000 }

/** Waits until a page has the answer to a request, and has shown what follows from it: it lists the requests that it has made. */
export const answersTaken = async (page: Page, request: string): Promise<void> => {
  await page.getByRole("button", { name: "API calls of this page" }).click()
  const calls = page.getByRole("dialog", { name: "API calls of this page" })
  await calls.getByText(request).first().waitFor()
  await page.keyboard.press("Escape")
  await calls.waitFor({ state: "detached" })
}

/** A fresh service and a browser, for the tests of one file. */
export const journey = (options: ServiceOptions | (() => Promise<ServiceOptions>) = {}): (() => Journey) => {
  let current: Journey
  beforeAll(async () => {
    const { env, ...others } = typeof options === "function" ? await options() : options
    const [service, browser] = await Promise.all([
      startService({ ...others, env: { SIMULATED_PROVIDERS: "on", GATEWAY_MASTER_KEY: masterKey, ...env } }),
      launchChromium()
    ])
    const api = await operatorApi(service)
    const me = await api<{ readonly default_project_id: string }>("GET", "/api/me")
    current = {
      service,
      browser,
      api,
      projectId: me.default_project_id,
      signIn: async () => {
        const watched = await openPage(browser)
        onTestFinished(() => closeProfile(watched.page))
        const { url } = await api<{ readonly url: string }>("POST", "/api/session/links")
        await watched.page.goto(url)
        await watched.page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
        return watched
      }
    }
  })
  afterAll(async () => {
    await current.browser.close()
    await current.service.stop()
  })
  return () => current
}

/** What the account has, in micro-USD. */
export const balanceOf = (api: Api) =>
  api<{
    readonly available_microusd: number
    readonly spent_microusd: number
    readonly held_microusd: number
    readonly credited_microusd: number
  }>("GET", "/api/me/balance")
