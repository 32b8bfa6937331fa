import { existsSync } from "node:fs"

/**
 * Of the distribution: no download of a browser belongs to the installation. The first that is there is taken: without the windows that
 * Chromium has also when nobody sees them, a page takes half of the CPU.
 */
const paths = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"]

export const chromiumPath = paths.find((path) => existsSync(path))

export const noChromium = `skipped: journeys in the browser, because there is no ${paths.join(", and no ")}`
