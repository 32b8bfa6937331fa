import { describe, expect, it } from "vitest"
import type { AuditRowOut } from "../../../src/wire/account/Audit.ts"
import { databaseKinds, newPerson, type Person, startsNode } from "../../support/AccountService.ts"

interface Page {
  readonly items: ReadonlyArray<typeof AuditRowOut.Encoded>
  readonly has_more: boolean
  readonly next_cursor: string | null
}

describe.each(databaseKinds)("the audit log over HTTP on %s", (kind) => {
  const node = startsNode(kind)

  const read = async (person: Person, query = "") =>
    (await (await person.send("GET", `/api/audit${query}`)).json()) as Page

  it("lists the changes of the own account, newest first, by pages", async () => {
    const [person, stranger] = [await newPerson(node), await newPerson(node)]
    const created = await person.send("POST", "/api/me/projects", { name: "audited" })
    const { id } = (await created.json()) as { readonly id: string }
    await person.send("PATCH", `/api/projects/${id}`, { name: "renamed" })
    await stranger.send("POST", "/api/me/projects", { name: "of another" })

    const first = await read(person, "?limit=2")
    expect(first.items.map(({ action, position }) => [position, action])).toEqual([
      [3, "project.update"],
      [2, "project.create"]
    ])
    expect(first.items[1]).toEqual({
      id: expect.any(String),
      position: 2,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      actor_user_id: person.userId,
      actor_name: "another person",
      address: "127.0.0.1",
      request_id: created.headers.get("x-request-id"),
      action: "project.create",
      target_kind: "project",
      target_id: id,
      before: null,
      after: { name: "audited", spend_limit_microusd: null, limit_reset: null, rate_limits: null },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/)
    })
    const rest = await read(person, `?limit=2&cursor=${first.next_cursor}`)
    expect(rest).toMatchObject({ items: [{ position: 1, action: "session.create" }], has_more: false })
    expect(JSON.stringify([first, rest])).not.toContain(person.token)
  })
})
