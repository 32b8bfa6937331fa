import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, onTestFinished } from "vitest"
import { closeProfile, closeProfiles, openPage, sharedChromium, type WatchedPage } from "../support/Chromium.ts"
import { masterKey, type Service, type ServiceOptions, startService } from "../support/Service.ts"
import { type Api, operatorApi, signedInProfile } from "./Seeded.ts"

export interface Journey {
  readonly service: Service
  readonly browser: Browser
  readonly api: Api
  readonly projectId: string
  /** A page of a new browser profile that is signed in, before it has loaded anything. It is closed when the test has ended: it would go on asking. */
  readonly signedIn: () => Promise<WatchedPage>
  /** The same, at the overview. */
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
      sharedChromium()
    ])
    const api = await operatorApi(service)
    const me = await api<{ readonly default_project_id: string }>("GET", "/api/me")
    const signedIn = async () => {
      const watched = await openPage(browser, { storageState: await signedInProfile(service, api) })
      onTestFinished(() => closeProfile(watched.page))
      return watched
    }
    current = {
      service,
      browser,
      api,
      projectId: me.default_project_id,
      signedIn,
      signIn: async () => {
        const watched = await signedIn()
        await watched.page.goto(`${service.url}/dashboard`)
        await watched.page.getByRole("heading", { name: "Overview", exact: true }).waitFor()
        return watched
      }
    }
  })
  afterAll(async () => {
    await closeProfiles(current.browser)
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
