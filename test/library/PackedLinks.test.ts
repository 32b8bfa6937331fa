import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { dirname, join as joinPosix, normalize } from "node:path/posix"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const root = fileURLToPath(new URL("../../", import.meta.url))

/** Targets of links and pictures, in Markdown and in HTML, without those of other sites and of the page itself. */
const targetsOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/\]\(([^)\s]{1,200})|(?:src|srcset|href)="([^"]{1,200})"/g)]
    .map(([, markdown, html]) => markdown ?? html ?? "")
    .filter((target) => !/^(?:[a-z]+:|#)/.test(target))
    .map((target) => target.split("#", 1)[0] ?? "")

it("every file that a packed page links to is in the package", () => {
  const packing = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8"
  })
  const [packed] = JSON.parse(packing) as [{ readonly files: ReadonlyArray<{ readonly path: string }> }]
  const files = packed.files.map(({ path }) => path)
  const isPacked = (path: string) =>
    files.some((file) => file === path || file.startsWith(`${path.replace(/\/$/, "")}/`))
  const pages = files.filter((path) => path.endsWith(".md"))
  expect(pages.length).toBeGreaterThan(10)
  const missing = pages.flatMap((page) =>
    targetsOf(readFileSync(join(root, page), "utf8"))
      .map((target) => normalize(joinPosix(dirname(page), target)))
      .filter((path) => !isPacked(path))
      .map((path) => `${page}: ${path}`)
  )
  expect(missing).toEqual([])
}, 60_000)
