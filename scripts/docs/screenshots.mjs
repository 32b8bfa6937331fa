// @ts-check
// `node scripts/docs/screenshots.mjs FOLDER [filter]`: pictures of every page of the web app, light and dark, wide and narrow,
// of a service with some calls in it.
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { builtBundle, ensureBuilt, serviceParts } from "../lib/built.mjs"
import { root } from "../lib/root.mjs"
import { importSources } from "../lib/sources.mjs"

const [folder = join(root, "dist/screenshots"), filter = ""] = process.argv.slice(2)
await ensureBuilt(serviceParts)
/** @type {typeof import("../../test/dashboard/Seeded.ts")} */
const { seededService } = await importSources(new URL("../../test/dashboard/Seeded.ts", import.meta.url), [
  // the sources are bundled elsewhere
  {
    file: "test/support/Service.ts",
    find: 'fileURLToPath(new URL("../../dist/main.js", import.meta.url))',
    replace: JSON.stringify(builtBundle)
  }
])
/** @type {typeof import("../../test/support/Chromium.ts")} */
const { launchChromium, openPage } = await importSources(new URL("../../test/support/Chromium.ts", import.meta.url))

mkdirSync(folder, { recursive: true })
const seeded = await seededService()
const browser = await launchChromium()
try {
  for (const scheme of /** @type {const} */ (["light", "dark"])) {
    for (const width of [1280, 390]) {
      const { errors, page } = await openPage(browser, { colorScheme: scheme, viewport: { width, height: 800 } })
      await page.goto(await seeded.signInLink())
      await page.getByRole("heading", { name: "Overview" }).waitFor()
      for (const [name, path] of Object.entries(seeded.paths)) {
        if (!name.includes(filter)) continue
        await page.goto(`${seeded.url}/dashboard${path}`)
        await page.waitForLoadState("networkidle")
        await page.screenshot({ path: join(folder, `${name}-${scheme}-${width}.png`) })
      }
      if (errors.length > 0) console.log(scheme, width, errors)
      await page.context().close()
    }
  }
} finally {
  await browser.close()
  await seeded.stop()
}
