import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { beforeAll, describe, expect, it } from "vitest"
import { databaseKinds, newPerson, operatorOf, type Person, startsNode } from "../../support/AccountService.ts"

describe.each(databaseKinds)("what an account may have on %s", (kind) => {
  const node = startsNode(kind)
  let person: Person
  let project: string
  beforeAll(async () => {
    person = await newPerson(node)
    project = ((await created("/api/me/projects", { name: "first" })) as { readonly id: string }).id
  })

  const created = async (path: string, body: unknown) => {
    const response = await person.send("POST", path, body)
    expect(response.status).toBe(201)
    return response.json()
  }
  const query = (statement: (sql: SqlClient) => Effect.Effect<unknown, SqlError>) =>
    node.run(Effect.flatMap(SqlClient, statement))
  const expectRefused = async (path: string, body: unknown, message: string) => {
    const response = await person.send("POST", path, body)
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 400,
      body: { error: { message, type: "invalid_request_error", param: null, code: "invalid_value" } }
    })
  }

  it("is 1,000 projects, of which deleted ones do not count", async () => {
    const add = (projects: number) =>
      query(
        (sql) => sql`insert into project (id, account_id, name)
          select gen_random_uuid(), ${person.accountId}, 'many' from generate_series(1, ${projects}::int)`
      )
    await add(998)
    const { id } = (await created("/api/me/projects", { name: "the thousandth" })) as { readonly id: string }
    await expectRefused("/api/me/projects", { name: "one more" }, "An account has at most 1000 projects.")
    expect((await person.send("DELETE", `/api/projects/${id}`)).status).toBe(204)
    const atOnce = await Promise.all(
      Array.from({ length: 6 }, () => person.send("POST", "/api/me/projects", { name: "in its place" }))
    )
    expect(atOnce.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400])
    await query((sql) => sql`delete from project where account_id = ${person.accountId} and name = 'many'`)
  })

  it("is 1,000 keys of a project, of which revoked ones do not count; an operator creates more", async () => {
    await query(
      (sql) => sql`insert into api_key (id, hash, key_prefix, name, project_id)
        select gen_random_uuid(), sha256(convert_to('of a test ' || n, 'UTF8')), 'mrg-abcdefgh', 'many', ${project}
        from generate_series(1, 999) as n`
    )
    const keys = `/api/projects/${project}/keys`
    const { id } = (await created(keys, { name: "the thousandth" })) as { readonly id: string }
    await expectRefused(keys, { name: "one more" }, "A project has at most 1000 keys that are not revoked.")
    const operator = await operatorOf(node)
    const more = { name: "by an operator", project_id: project }
    expect((await operator.send("POST", "/api/admin/keys", more)).status).toBe(201)
    for (const revoked of [id, (await newest(keys)).id]) {
      expect((await person.send("POST", `/api/keys/${revoked}/revoke`)).status).toBe(200)
    }
    await created(keys, { name: "in its place" })
  })

  const newest = async (keys: string) => {
    const { items } = (await (await person.send("GET", `${keys}?limit=1`)).json()) as {
      readonly items: ReadonlyArray<{ readonly id: string }>
    }
    return items[0] ?? expect.fail("no key")
  }

  it("is 1,000 members of a project", async () => {
    await query(
      (sql) => sql`with people as (
          insert into app_user (id, name) select gen_random_uuid(), 'many' from generate_series(1, 1000) returning id)
        insert into project_member (id, project_id, user_id, role)
        select gen_random_uuid(), ${project}, id, 'viewer' from people`
    )
    const { userId } = await newPerson(node, "one more")
    await expectRefused(
      `/api/projects/${project}/members`,
      { user_id: userId, role: "viewer" },
      "A project has at most 1000 members besides the owner of its account."
    )
    const again = { user_id: person.userId, role: "viewer" }
    expect((await person.send("POST", `/api/projects/${project}/members`, again)).status).toBe(409)
  })
})
