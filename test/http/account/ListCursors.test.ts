import { beforeAll, describe, expect, it } from "vitest"
import { newPerson, operatorOf, type Person, startsNode } from "../../support/AccountService.ts"

interface Page {
  readonly items: ReadonlyArray<unknown>
  readonly next_cursor: string | null
}

describe("a cursor", () => {
  const node = startsNode("embedded", { SIMULATED_PROVIDERS: "on" })
  let operator: Person
  let lists: ReadonlyArray<string>
  beforeAll(async () => {
    operator = await operatorOf(node)
    const { id } = await created("/api/me/projects", { name: "paged" })
    const of = `/api/projects/${id}`
    for (const name of ["a", "b"]) {
      const { userId } = await newPerson(node, name)
      await created(`${of}/members`, { user_id: userId, role: "viewer" })
      await created(`${of}/credentials`, { provider: "openai", label: name, secret: "sk-12345678" })
      await created(`${of}/routing-configurations`, { slug: name })
      await created("/api/chat/conversations", { project_id: id })
      await created(`/api/admin/accounts/${operator.accountId}/credits`, { amount_microusd: 1, note: name })
      expect((await operator.send("PUT", `${of}/routing-configurations/a`, { name })).status).toBe(200)
    }
    lists = [
      "/api/admin/projects",
      "/api/admin/users",
      "/api/audit",
      "/api/chat/conversations",
      `/api/chat/models?project_id=${id}`,
      "/api/chat/projects",
      "/api/me/ledger",
      "/api/me/projects",
      "/api/models",
      `${of}/credentials`,
      `${of}/members`,
      `${of}/routing-configurations`,
      `${of}/routing-configurations/a/versions`
    ]
  })

  const created = async (path: string, body: object) => {
    const response = await operator.send("POST", path, body, { "idempotency-key": crypto.randomUUID() })
    expect(response.status).toBe(201)
    return (await response.json()) as { readonly id: string }
  }
  const read = (list: string, cursor?: string) => {
    const query = new URLSearchParams({ limit: "1", ...(cursor === undefined ? {} : { cursor }) })
    return operator.send("GET", `${list}${list.includes("?") ? "&" : "?"}${query}`)
  }

  it("continues its own list, and is refused by every other one like one that is malformed", async () => {
    const refused = await (await read("/api/audit", "malformed")).json()
    expect(refused).toMatchObject({ error: { code: "invalid_value", param: "cursor" } })
    for (const list of lists) {
      const first = (await (await read(list)).json()) as Page
      const cursor = first.next_cursor ?? expect.fail(`${list} has one page`)
      for (const other of lists) {
        const response = await read(other, cursor)
        const answer = await response.json()
        if (other === list) {
          expect([list, response.status]).toEqual([list, 200])
          expect((answer as Page).items).toHaveLength(1)
          expect((answer as Page).items).not.toEqual(first.items)
        } else expect([list, other, response.status, answer]).toEqual([list, other, 400, refused])
      }
    }
  })

  it("continues where it is, also once what it stands on is gone", async () => {
    const { id } = await created("/api/me/projects", { name: "changing" })
    const configurations = `/api/projects/${id}/routing-configurations`
    for (const slug of ["a", "b"]) await created(configurations, { slug })
    const page = async (cursor: string | null = null) => {
      const more = cursor === null ? "" : `&cursor=${cursor}`
      const response = await operator.send("GET", `/api/chat/models?project_id=${id}&limit=2${more}`)
      const { items, next_cursor } = (await response.json()) as Page
      return { ids: items.map((item) => (item as { readonly id: string }).id), next_cursor }
    }
    const first = await page()
    expect(first.ids).toEqual(["auto", "auto:a"])
    expect((await operator.send("DELETE", `${configurations}/a`)).status).toBe(204)
    const second = await page(first.next_cursor)
    expect(second.ids).toEqual(["auto:b", expect.stringMatching(/^sim\//)])
    const excluded = { excluded_models: ["*"] }
    expect((await operator.send("PUT", `/api/projects/${id}/policy`, excluded)).status).toBe(200)
    expect(await page(second.next_cursor)).toEqual({ ids: [], next_cursor: null })
  })
})
