import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from "playwright-core"
import { chromiumPath } from "./ChromiumPath.ts"

/** Journeys in the browser are skipped without one, and the run says so. */
export const hasChromium = chromiumPath !== undefined

/** A new profile each; nothing is asked of other hosts. Most pages live for seconds, in which to optimise their code costs more than it saves. */
export const launchChromium = (more: ReadonlyArray<string> = []): Promise<Browser> =>
  chromium.launch({
    ...(chromiumPath !== undefined && { executablePath: chromiumPath }),
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--js-flags=--no-opt --no-maglev",
      ...more
    ]
  })

let shared: Promise<Browser> | undefined

/** One for all files of a process, which ends with it: a launch costs as much as the pages of three tests. */
export const sharedChromium = async (): Promise<Browser> => {
  const browser = await shared?.catch(() => undefined)
  if (browser?.isConnected()) return browser
  shared = launchChromium()
  return shared
}

/** What `sharedChromium` is left with when the tests of a file have ended. */
export const closeProfiles = async (browser: Browser): Promise<void> => {
  await Promise.all(browser.contexts().map((context) => context.close()))
}

export interface WatchedPage {
  readonly page: Page
  /** Errors of the console, of scripts and of the policy. */
  readonly errors: Array<string>
  /** The URLs of all requests. */
  readonly requests: Array<string>
}

/**
 * A page in a profile of its own, that remembers what went wrong in it. Nothing moves in it, if not asked for: the pictures of a
 * movement are a part of what a page costs.
 */
export const openPage = async (browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> => {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
    ...options
  })
  const page = await context.newPage()
  // less than a test has: the failure then says what was waited for
  page.setDefaultTimeout(20_000)
  const errors: Array<string> = []
  const requests: Array<string> = []
  page.on("console", (message) => {
    // a request that the service refuses is not an error of the page
    const isRefusal = message.text().startsWith("Failed to load resource")
    if ((message.type() === "error" || message.type() === "warning") && !isRefusal) errors.push(message.text())
  })
  page.on("pageerror", (error) => errors.push(String(error)))
  const pending = new Set<Request>()
  requestsUnderWay.set(page, pending)
  page.on("request", (request) => {
    requests.push(request.url())
    pending.add(request)
  })
  page.on("requestfinished", (request) => pending.delete(request))
  page.on("requestfailed", (request) => pending.delete(request))
  return { page, errors, requests }
}

const requestsUnderWay = new WeakMap<Page, Set<Request>>()

/** A page has more to do where an answer leads to another request: it has none when it was idle so often. */
const idleTurns = 3

/**
 * Waits until a page of `openPage` has shown all that it loads. That its network is idle for a time does not say so: a busy machine
 * takes longer than that to show an answer, and to ask for what follows from it.
 */
export const settled = async (page: Page): Promise<void> => {
  const pending = requestsUnderWay.get(page)
  if (pending === undefined) throw new Error("this page was opened in another way: what it asks for is not known")
  const until = performance.now() + 60_000
  for (let idle = 0; idle < idleTurns; ) {
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestIdleCallback(() => done())))")
    const waiting = await page.locator("[aria-busy=true]").count()
    idle = pending.size === 0 && waiting === 0 ? idle + 1 : 0
    if (performance.now() > until)
      throw new Error(`waited for: ${[...pending].map((request) => request.url())}, ${waiting} parts that load`)
  }
}

/** Requests that the test answers and that are still under way end with the profile, which is no error. */
export const closeProfile = async (page: Page): Promise<void> => {
  await page.unrouteAll({ behavior: "ignoreErrors" })
  await page.context().unrouteAll({ behavior: "ignoreErrors" })
  await page.context().close()
}

/**
 * Holds what all pages of this profile ask the API for, until the result is called: what a page asks for every few seconds else ends
 * before what a test does next, or after it.
 */
export const holdApiRequests = async (page: Page): Promise<() => void> => {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.context().route("**/api/**", async (route) => {
    await released
    await route.continue()
  })
  return release
}

/**
 * Holds the answers to what a page asks of a path by a method, which the service has given then, until `release` is called; `given`
 * ends with the first of them.
 */
export const holdAnswers = async (
  page: Page,
  path: string | RegExp,
  method: string
): Promise<{ readonly given: Promise<void>; readonly release: () => void }> => {
  let release = () => {}
  let give = () => {}
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(path, async (route) => {
    if (route.request().method() !== method) return route.fallback()
    const response = await route.fetch()
    give()
    await released
    // what asked for it may have gone
    await route.fulfill({ response }).catch(() => {})
  })
  return { given, release }
}
