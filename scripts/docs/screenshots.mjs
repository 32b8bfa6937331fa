// @ts-check
// `npm run screenshots`: the pictures of the README, of a service with some calls in it.
// `npm run screenshots -- FOLDER [filter]`: every page of the web app instead, light and dark, wide and narrow.
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { builtBundle, ensureBuilt, serviceParts } from "../lib/built.mjs"
import { root } from "../lib/root.mjs"
import { importSources } from "../lib/sources.mjs"

const [folder, filter = ""] = process.argv.slice(2)
await ensureBuilt(serviceParts)
const service = {
  file: "test/support/Service.ts",
  find: 'fileURLToPath(new URL("../../dist/main.js", import.meta.url))',
  // the sources are bundled elsewhere
  replace: JSON.stringify(builtBundle)
}
/** @type {typeof import("../../test/dashboard/Seeded.ts")} */
const { seededService } = await importSources(new URL("../../test/dashboard/Seeded.ts", import.meta.url), [service])
/** @type {typeof import("../../test/dashboard/Illustrated.ts")} */
const { illustratedConversation } = await importSources(
  new URL("../../test/dashboard/Illustrated.ts", import.meta.url),
  [service]
)
/** @type {typeof import("../../test/support/Chromium.ts")} */
const { launchChromium, openPage, settled } = await importSources(
  new URL("../../test/support/Chromium.ts", import.meta.url)
)

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {{ readonly url: string, readonly signInLink: () => Promise<string> }} Shown */

const schemes = /** @type {const} */ (["light", "dark"])

/** @param {Shown} shown @param {(typeof schemes)[number]} scheme @param {number} width */
const signedIn = async (shown, scheme, width) => {
  const watched = await openPage(browser, { colorScheme: scheme, viewport: { width, height: 800 } })
  await watched.page.goto(await shown.signInLink())
  await watched.page.getByRole("heading", { name: "Overview" }).waitFor()
  return watched
}

/** @param {Page} page @param {string} url */
const open = async (page, url) => {
  await page.goto(url)
  await page.getByTestId("available").getByText("$").waitFor()
  await settled(page)
}

/** @param {string} into */
const everyPage = async (into) => {
  const seeded = await seededService()
  try {
    for (const scheme of schemes) {
      for (const width of [1280, 390]) {
        const { errors, page } = await signedIn(seeded, scheme, width)
        for (const [name, path] of Object.entries(seeded.paths)) {
          if (!name.includes(filter)) continue
          await open(page, `${seeded.url}/dashboard${path}`)
          await page.screenshot({ path: join(into, `${name}-${scheme}-${width}.png`) })
        }
        if (errors.length > 0) console.log(scheme, width, errors)
        await page.context().close()
      }
    }
  } finally {
    await seeded.stop()
  }
}

/** @param {Page} page @param {string} file */
const picture = async (page, file) => {
  const png = (await page.screenshot()).toString("base64")
  // a third of the size of a PNG
  const webp = await page.evaluate(`(async () => {
    const bytes = Uint8Array.from(atob("${png}"), (character) => character.charCodeAt(0))
    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }))
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
    canvas.getContext("2d").drawImage(bitmap, 0, 0)
    const blob = await canvas.convertToBlob({ type: "image/webp", quality: 0.85 })
    return btoa(Array.from(new Uint8Array(await blob.arrayBuffer()), (byte) => String.fromCharCode(byte)).join(""))
  })()`)
  writeFileSync(file, Buffer.from(String(webp), "base64"))
}

/** @param {string} into */
const readmePictures = async (into) => {
  const [seeded, talk] = [await seededService(), await illustratedConversation()]
  try {
    for (const scheme of schemes) {
      const { page } = await signedIn(seeded, scheme, 1280)
      for (const name of scheme === "light" ? ["overview", "request-page", "analysis"] : ["overview"]) {
        await open(page, `${seeded.url}/dashboard${seeded.paths[name]}`)
        await picture(page, join(into, `${name}-${scheme}.webp`))
      }
      if (scheme === "dark") continue
      const chat = await signedIn(talk, scheme, 1280)
      await open(chat.page, `${talk.url}/dashboard${talk.path}`)
      await chat.page.frameLocator("iframe").getByRole("heading").first().waitFor()
      await picture(chat.page, join(into, `chat-${scheme}.webp`))
    }
  } finally {
    await seeded.stop()
    await talk.stop()
  }
}

const browser = await launchChromium()
try {
  const into = folder ?? join(root, "docs/pictures")
  mkdirSync(into, { recursive: true })
  await (folder === undefined ? readmePictures(into) : everyPage(into))
} finally {
  await browser.close()
}
