import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { AuditStore } from "../../../src/audit/AuditStore.ts"
import { UserId } from "../../../src/domain/Ids.ts"
import type { MemberOut } from "../../../src/wire/account/Members.ts"
import { databaseKinds, newPerson, type Person, startsNode } from "../../support/AccountService.ts"
import { errorOf, jsonOf } from "../../support/Responses.ts"

type Out = typeof MemberOut.Encoded

describe.each(databaseKinds)("members of a project on %s", (kind) => {
  const node = startsNode(kind)
  let owner: Person
  let project: string
  beforeEach(async () => {
    owner = await newPerson(node, "the owner")
    project = (await jsonOf<{ readonly id: string }>(await owner.send("POST", "/api/me/projects", { name: "shared" })))
      .id
  })

  const add = (by: Person, person: Person, role: string, headers?: Readonly<Record<string, string>>) =>
    by.send("POST", `/api/projects/${project}/members`, { user_id: person.userId, role }, headers)
  const remove = (by: Person, person: Person) =>
    by.send("DELETE", `/api/projects/${project}/members?user_id=${person.userId}`)
  const list = async (by: Person, query = "") =>
    jsonOf<{ readonly items: ReadonlyArray<Out>; readonly has_more: boolean; readonly next_cursor: string }>(
      await by.send("GET", `/api/projects/${project}/members${query}`)
    )
  const memberOf = async (role: string) => {
    const person = await newPerson(node, `the ${role}`)
    expect((await add(owner, person, role)).status).toBe(201)
    return person
  }

  it("see the project from the moment they are added to the moment they are removed", async () => {
    const viewer = await newPerson(node, "a viewer")
    expect(await errorOf(await viewer.send("GET", `/api/projects/${project}`))).toEqual([404, "not_found", null])
    const added = await add(owner, viewer, "viewer")
    expect([added.status, await jsonOf(added)]).toEqual([
      201,
      {
        user_id: viewer.userId,
        name: "a viewer",
        role: "viewer",
        is_account_owner: false,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      }
    ])
    expect(await jsonOf(await viewer.send("GET", `/api/projects/${project}`))).toMatchObject({ role: "viewer" })
    expect(await jsonOf(await viewer.send("GET", "/api/me/projects"))).toMatchObject({ items: [{ id: project }] })
    expect((await remove(owner, viewer)).status).toBe(204)
    expect(await errorOf(await viewer.send("GET", `/api/projects/${project}`))).toEqual([404, "not_found", null])
    expect(await errorOf(await remove(owner, viewer))).toEqual([404, "not_found", null])
  })

  it("get no kept response of the project once they are removed, or may do less", async () => {
    const person = await memberOf("member")
    const create = () => {
      const headers = { "idempotency-key": `of ${person.userId}` }
      return person.send("POST", `/api/projects/${project}/keys`, { name: "kept" }, headers)
    }
    const rotate = (key: string) =>
      person.send("POST", `/api/keys/${key}/rotate`, {}, { "idempotency-key": `of ${key}` })
    const { id } = await jsonOf<{ readonly id: string }>(await create())
    await rotate(id)
    const replayed = async () => (await Promise.all([create(), rotate(id)])).map(({ status }) => status)
    expect(await replayed()).toEqual([201, 200])
    expect((await remove(owner, person)).status).toBe(204)
    expect(await replayed()).toEqual([404, 404])
    expect((await add(owner, person, "viewer")).status).toBe(201)
    expect(await replayed()).toEqual([403, 403])
    expect((await remove(owner, person)).status).toBe(204)
    expect((await add(owner, person, "member")).status).toBe(201)
    expect((await create()).headers.get("idempotent-replayed")).toBe("true")
  })

  it("are listed newest first, the owner of the account last", async () => {
    const [one, two] = [await memberOf("viewer"), await memberOf("member")]
    const first = await list(one, "?limit=2")
    expect(first.items.map(({ role, user_id }) => [user_id, role])).toEqual([
      [two.userId, "member"],
      [one.userId, "viewer"]
    ])
    expect(await list(one, `?limit=2&cursor=${first.next_cursor}`)).toEqual({
      items: [expect.objectContaining({ user_id: owner.userId, role: "owner", is_account_owner: true })],
      has_more: false,
      next_cursor: null
    })
  })

  it.each(["viewer", "member", "owner"])("with the role %s may do what the role allows", async (role) => {
    const person = await memberOf(role)
    const other = await memberOf("viewer")
    const newcomer = await newPerson(node)
    const isOwner = role === "owner"
    const outcome = async (response: Response) =>
      response.ok ? response.status : `${response.status} ${(await errorOf(response))[1]}`
    expect(await outcome(await person.send("GET", `/api/projects/${project}/members`))).toBe(200)
    expect([
      await outcome(await add(person, newcomer, "viewer")),
      await outcome(await remove(person, other)),
      await outcome(await person.send("PATCH", `/api/projects/${project}`, { name: "renamed" })),
      await outcome(await person.send("DELETE", `/api/projects/${project}`))
    ]).toEqual(isOwner ? [201, 204, 200, 204] : Array.from({ length: 4 }, () => "403 role_required"))
  })

  it("may leave, but the last owner stays", async () => {
    const viewer = await memberOf("viewer")
    expect((await remove(viewer, viewer)).status).toBe(204)
    expect((await viewer.send("GET", `/api/projects/${project}`)).status).toBe(404)
    const second = await memberOf("owner")
    expect(await errorOf(await remove(second, owner))).toEqual([400, "invalid_value", "user_id"])
    expect(await errorOf(await remove(owner, owner))).toEqual([400, "invalid_value", "user_id"])
    expect((await remove(second, second)).status).toBe(204)
    expect((await list(owner)).items.map(({ user_id }) => user_id)).toEqual([owner.userId])
  })

  it("are added once, however often and on how many connections", async () => {
    const person = await newPerson(node)
    const answers = await Promise.all(Array.from({ length: 4 }, () => add(owner, person, "member")))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
    expect(await errorOf(await add(owner, person, "viewer"))).toEqual([409, "already_exists", null])
    expect(await errorOf(await add(owner, owner, "viewer"))).toEqual([409, "already_exists", null])
    const nobody = { ...person, userId: UserId.make(owner.accountId) }
    expect(await errorOf(await add(owner, nobody, "viewer"))).toEqual([404, "not_found", null])
    expect(await errorOf(await add(owner, person, "guest"))).toEqual([400, "invalid_value", "role"])
  })

  it("are added once for an Idempotency-Key", async () => {
    const person = await newPerson(node)
    const key = { "idempotency-key": `add ${person.userId}` }
    const first = await add(owner, person, "member", key)
    const again = await add(owner, person, "member", key)
    expect([first.status, again.status, again.headers.get("idempotent-replayed")]).toEqual([201, 201, "true"])
    expect(await again.json()).toEqual(await first.json())
  })

  it("leave audit rows in the log of the project's account", async () => {
    const second = await memberOf("owner")
    const viewer = await newPerson(node)
    await add(second, viewer, "viewer")
    await remove(second, viewer)
    const rows = await node.run(Effect.flatMap(AuditStore, (store) => store.chain(owner.accountId, 3, 10)))
    const change = JSON.stringify({ user_id: viewer.userId, role: "viewer" })
    expect(rows.map(({ action, actorUserId, after, before }) => [action, actorUserId, before, after])).toEqual([
      ["member.add", second.userId, null, change],
      ["member.remove", second.userId, change, null]
    ])
  })
})
