import { beforeAll, describe, expect, it } from "vitest"
import { databaseKinds, newPerson, operatorOf, type Person, startsNode } from "../../support/AccountService.ts"

interface Page {
  readonly items: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly has_more: boolean
  readonly next_cursor: string | null
}

/** As many characters as a list may have, in as many items. */
const fullList = (mark: string) => Array.from({ length: 213 }, (_, index) => `${mark}${index}/`.padEnd(300, "m"))

const maxBytes = 2_000_000

describe.each(databaseKinds)("pages of large items on %s", (kind) => {
  const node = startsNode(kind)
  let person: Person
  let project: string
  beforeAll(async () => {
    person = await newPerson(node)
    project = await createProject("full")
  })

  const created = async (response: Response): Promise<string> => {
    expect(response.status).toBe(201)
    return ((await response.json()) as { readonly id: string }).id
  }
  const createProject = async (name: string) => created(await person.send("POST", "/api/me/projects", { name }))
  const fullPolicy = (mark: string) => ({
    allowed_models: fullList(mark),
    excluded_models: fullList(mark),
    allowed_providers: fullList(mark),
    excluded_providers: fullList(mark)
  })
  const putPolicy = async (id: string, mark: string) =>
    expect((await person.send("PUT", `/api/projects/${id}/policy`, fullPolicy(mark))).status).toBe(200)

  /** All pages of a list, each with its bytes. */
  const pagesOf = async (reader: Person, path: string) => {
    const pages: Array<Page & { readonly bytes: number }> = []
    let cursor = ""
    do {
      const text = await (await reader.send("GET", `${path}?limit=100${cursor}`)).text()
      const page = JSON.parse(text) as Page
      pages.push({ ...page, bytes: Buffer.byteLength(text) })
      cursor = page.next_cursor === null ? "" : `&cursor=${page.next_cursor}`
    } while (cursor !== "")
    return pages
  }
  const check = (pages: ReadonlyArray<Page & { readonly bytes: number }>) => {
    expect(pages.length).toBeGreaterThan(1)
    for (const { bytes, items } of pages) {
      expect(bytes).toBeLessThan(maxBytes)
      expect(items.length).toBeGreaterThan(0)
    }
    expect(pages.map(({ has_more }) => has_more)).toEqual(pages.map((_, index) => index < pages.length - 1))
    return pages.flatMap(({ items }) => items)
  }

  it("have the changes of full policies by bytes, without a gap", async () => {
    for (let change = 0; change < 4; change++) await putPolicy(project, `change${change}-`)
    const rows = check(await pagesOf(person, "/api/audit"))
    expect(rows.map(({ position }) => position)).toEqual(rows.map((_, index) => rows.length - index))
    expect(rows.filter(({ action }) => action === "policy.update")).toHaveLength(4)
  })

  it("have full projects by bytes, for operators", async () => {
    const operator = await operatorOf(node)
    const made = [project]
    for (let index = 0; index < 5; index++) {
      const id = await createProject(`full ${index}`)
      await putPolicy(id, `project${index}-`)
      made.push(id)
    }
    const listed = check(await pagesOf(operator, "/api/admin/projects"))
    expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length)
    expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining(made))
  })

  it("have versions of a routing configuration by bytes", async () => {
    const path = `/api/projects/${project}/routing-configurations`
    const body = (version: number) => ({ models: fullList(`v${version}-`), providers: fullList(`v${version}-`) })
    await created(await person.send("POST", path, { slug: "full", ...body(1) }))
    for (let version = 2; version <= 10; version++) {
      expect((await person.send("PUT", `${path}/full`, body(version))).status).toBe(200)
    }
    const versions = check(await pagesOf(person, `${path}/full/versions`))
    expect(versions.map(({ version }) => version)).toEqual(Array.from({ length: 10 }, (_, index) => 10 - index))
  })

  it("have credentials by bytes", async () => {
    const path = `/api/projects/${project}/credentials`
    const allowed = fullList("")
      .slice(0, 200)
      .map((pattern) => pattern.slice(0, 200))
    const made: Array<string> = []
    for (let index = 0; index < 30; index++) {
      const body = {
        provider: "openai",
        label: `key ${index}`,
        secret: `sk-of-project-${index}`,
        allowed_models: allowed
      }
      made.unshift(await created(await person.send("POST", path, body)))
    }
    expect(check(await pagesOf(person, path)).map(({ id }) => id)).toEqual(made)
  })
})
