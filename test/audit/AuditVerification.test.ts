import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { hashOf } from "../../src/audit/AuditChain.ts"
import { AuditStore } from "../../src/audit/AuditStore.ts"
import { verify } from "../../src/audit/AuditVerification.ts"
import { databaseKinds, newPerson, type Person, startsNode } from "../support/AccountService.ts"

describe.each(databaseKinds)("the verification of audit logs on %s", (kind) => {
  const node = startsNode(kind)
  let person: Person
  beforeEach(async () => {
    await tamper("delete from audit", "delete from audit_chain")
    person = await newPerson(node)
    for (const name of ["one", "two", "three"]) await person.send("POST", "/api/me/projects", { name })
  })

  /** With the rights of the database's owner, whom no trigger stops. */
  const tamper = (...statements: ReadonlyArray<string>) =>
    node.run(
      Effect.flatMap(SqlClient, (sql) =>
        sql.withTransaction(
          Effect.forEach(
            [
              "alter table audit disable trigger audit_append_only",
              ...statements,
              "alter table audit enable trigger audit_append_only"
            ],
            (text) => sql.unsafe(text)
          )
        )
      )
    )
  const rows = () => node.run(Effect.flatMap(AuditStore, (store) => store.chain(person.accountId, 0, 10)))
  const verified = () => node.run(verify)
  const broken = async () => (await verified()).broken

  it("finds nothing in what was written, of any account", async () => {
    const other = await newPerson(node)
    const found = await verified()
    expect(found).toMatchObject({ rows: 5, broken: [] })
    expect(found.accounts).toBeGreaterThan(2)
    expect((await rows()).map(({ position }) => position)).toEqual([1, 2, 3, 4])
    expect(other.accountId).not.toBe(person.accountId)
  })

  it("finds nothing while rows are written", async () => {
    const writing = Promise.all(
      Array.from({ length: 5 }, (_, at) => person.send("POST", "/api/me/projects", { name: `at once ${at}` }))
    )
    expect(await broken()).toEqual([])
    await writing
    expect(await verified()).toMatchObject({ rows: 9, broken: [] })
  })

  it.each([
    ["action = 'project.forget'"],
    ["at = at + interval '1 millisecond'"],
    ["actor_user_id = null"],
    ["address = '10.0.0.1'"],
    ["target_id = 'another'"],
    ["before = '{}'"],
    [`after = '{"name": "two"}'`],
    ["request_id = null"],
    ["target_kind = 'key'"]
  ])("names the row whose content was changed (%s)", async (change) => {
    const before = await rows()
    await tamper(`update audit set ${change} where account_id = '${person.accountId}' and position = 3`)
    expect(await broken()).toEqual([
      { accountId: person.accountId, position: 3, id: before[2]?.id, reason: "it was changed" }
    ])
  })

  it("names the place of a row that is missing, in the middle, at the end and with all after it", async () => {
    const missing = (position: number, reason: string) => [{ accountId: person.accountId, position, id: null, reason }]
    await tamper(`delete from audit where account_id = '${person.accountId}' and position = 4`)
    expect(await broken()).toEqual(missing(4, "the rows from here to the end are missing"))
    await tamper(`delete from audit where account_id = '${person.accountId}' and position = 2`)
    expect(await broken()).toEqual(missing(2, "the row is missing"))
    await tamper(`delete from audit where account_id = '${person.accountId}'`)
    expect(await broken()).toEqual(missing(1, "the rows from here to the end are missing"))
  })

  it("finds a log that was written anew with right hashes", async () => {
    const last = (await rows())[3]
    if (last === undefined) throw new Error("there are four rows")
    const hash = hashOf({ ...last, action: "project.forget" }, last.previousHash).toString("hex")
    await tamper(`update audit set action = 'project.forget', hash = decode('${hash}', 'hex') where id = '${last.id}'`)
    expect(await broken()).toEqual([
      { accountId: person.accountId, position: 4, id: last.id, reason: "it is not the row that was written last" }
    ])
  })

  it("finds a row that was added behind the end, or put in another's place", async () => {
    await tamper(`update audit_chain set position = 3, hash =
      (select hash from audit where account_id = '${person.accountId}' and position = 3)`)
    expect(await broken()).toEqual([
      { accountId: person.accountId, position: 4, id: null, reason: "it is behind the end of the log" }
    ])
    await tamper(`update audit_chain set position = 4, hash =
      (select hash from audit where account_id = '${person.accountId}' and position = 4)`)
    expect(await broken()).toEqual([])
    const before = await rows()
    await tamper(`update audit set previous_hash = hash where account_id = '${person.accountId}' and position = 2`)
    expect(await broken()).toEqual([
      { accountId: person.accountId, position: 2, id: before[1]?.id, reason: "it does not follow the row before it" }
    ])
  })

  it("leaves changes of the log to nobody but the database's owner", async () => {
    const refused = await node.run(Effect.flatMap(SqlClient, (sql) => Effect.flip(sql`update audit set action = 'x'`)))
    expect(String(refused.cause)).toContain("append-only")
  })
})
