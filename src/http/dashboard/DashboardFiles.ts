import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { extname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** A file of the web app in each form in which it can be sent. */
export interface DashboardFile {
  readonly contentType: string
  readonly plain: Buffer
  readonly gzip: Buffer | undefined
  readonly brotli: Buffer | undefined
  /** Of the content. */
  readonly tag: string
}

export interface DashboardFiles {
  /** Its nonce is a place to fill in: each response has its own. */
  readonly index: string
  /** By path below `/dashboard/`. */
  readonly files: ReadonlyMap<string, DashboardFile>
}

const contentTypes: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2"
}

/** Where builds are: beside the bundle. The sources have no build beside them. */
export const buildRoot = fileURLToPath(new URL("./", import.meta.url))

/** The web app in this folder, whole. */
export const builtDirectory = (root: string): string | undefined => {
  const directory = join(root, "dashboard/")
  return existsSync(join(directory, "index.html")) && existsSync(join(directory, "assets")) ? directory : undefined
}

/** Whether the web app is being built in this folder: `npm start` starts the service meanwhile. */
export const isBeingBuilt = (root: string): boolean => existsSync(join(root, ".dashboard-building"))

/** The whole build, about 1.5 MB, so that no request reads a file. */
export const readFiles = (directory: string): DashboardFiles => {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath, name).slice(directory.length).replace(/^\//, ""))
  const known = new Set(names)
  const read = (name: string) => readFileSync(join(directory, name))
  const files = new Map<string, DashboardFile>()
  for (const name of names) {
    const contentType = contentTypes[extname(name)]
    if (contentType === undefined) continue
    const plain = read(name)
    files.set(name, {
      contentType,
      plain,
      gzip: known.has(`${name}.gz`) ? read(`${name}.gz`) : undefined,
      brotli: known.has(`${name}.br`) ? read(`${name}.br`) : undefined,
      tag: `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`
    })
  }
  return { index: read("index.html").toString("utf8"), files }
}
