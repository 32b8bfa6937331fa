import type { Frame, Page } from "playwright-core"

/** Navigates; returns the URL that it ends at, redirects included, with the fragment that a script of the page may take away. */
export const open = (page: Page, url: string): Promise<string> => ended(page, () => page.goto(url))

/** Runs a script that navigates, such as one that sends a form; then as `open`. */
export const leave = (page: Page, script: string): Promise<string> =>
  ended(page, () => page.evaluate(`void (() => { ${script} })()`))

const ended = async (page: Page, begin: () => Promise<unknown>): Promise<string> => {
  // a script that changes the URL is another such event, later
  const arrived = new Promise<string>((resolve) => {
    const navigated = (frame: Frame): void => {
      if (frame !== page.mainFrame()) return
      page.off("framenavigated", navigated)
      resolve(frame.url())
    }
    page.on("framenavigated", navigated)
  })
  await begin()
  const url = await arrived
  await page.waitForLoadState("load")
  return url
}
