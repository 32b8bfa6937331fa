import { randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { databaseKinds, newPerson, type Person, startsNode } from "../../support/AccountService.ts"

const maxBytes = 10 * 1024 ** 3
/** One pixel. */
const image = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64"
)
const answer = "Ünïque"
const answerBytes = Buffer.byteLength(answer)
const questionBytes = Buffer.byteLength("Why?")
/** Of the empty list of a message's tools. */
const noStepsBytes = 2
const conversationBytes = questionBytes + answerBytes + 2 * noStepsBytes

const fault = { type: "invalid_request_error", param: null, code: "invalid_value" }
const tooManyBytes = {
  status: 400,
  error: {
    ...fault,
    message:
      "Storage is limited to 10 GiB of images, saved artifacts and copied conversations: delete conversations; their space is released within 10 minutes."
  }
}

describe.each(databaseKinds)("what a person may store that no call pays for, on %s", (kind) => {
  const node = startsNode(kind)
  let person: Person
  let project: string
  let conversation: string
  beforeEach(async () => {
    person = await newPerson(node)
    project = (await made(await person.send("POST", "/api/me/projects", { name: "chat" }))).id
    conversation = (await made(await person.send("POST", "/api/chat/conversations", { project_id: project }))).id
    await query(
      (sql) => sql`insert into chat_message (id, conversation_id, position, role, status, content, created_at)
        values (${randomUUID()}, ${conversation}, 0, 'user', 'complete', 'Why?', now()),
          (${randomUUID()}, ${conversation}, 1, 'assistant', 'complete', ${answer}, now())`
    )
  })

  const made = async (response: Response) => {
    expect(response.status).toBe(201)
    return (await response.json()) as { readonly id: string }
  }
  const resultOf = async (response: Response) => ({ status: response.status, ...((await response.json()) as object) })
  const query = <A>(statement: (sql: SqlClient) => Effect.Effect<A, SqlError>) =>
    node.run(Effect.flatMap(SqlClient, statement))
  /** Leaves so many bytes. */
  const leave = (bytes: number) =>
    query((sql) => sql`update conversation set added_bytes = ${maxBytes - bytes} where id = ${conversation}`)
  const addedTo = async (id: string) => {
    const rows = await query(
      (sql) => sql<{ readonly bytes: string }>`select added_bytes::text as bytes from conversation where id = ${id}`
    )
    return Number(rows[0]?.bytes)
  }

  const fork = () => person.send("POST", `/api/chat/conversations/${conversation}/fork`, {})
  const artifacts = () => `/api/chat/conversations/${conversation}/artifacts`
  const save = (content: string) =>
    person.send("POST", artifacts(), { name: "a.txt", media_type: "text/plain", content })
  const upload = () =>
    fetch(`${node.url}/api/chat/images?filename=a.png`, {
      method: "POST",
      headers: { authorization: `Bearer ${person.token}`, "content-type": "image/png" },
      body: image
    })

  it("is copied conversations: their messages and artifacts", async () => {
    await leave(conversationBytes - 1)
    expect(await resultOf(await fork())).toEqual(tooManyBytes)
    await leave(conversationBytes)
    expect(await addedTo((await made(await fork())).id)).toBe(conversationBytes)
    expect(await resultOf(await fork())).toEqual(tooManyBytes)
    await leave(1_000_000)
    await made(await save("12345"))
    expect(await addedTo((await made(await fork())).id)).toBe(conversationBytes + 5)
  })

  it("is saved artifacts, and versions that are restored", async () => {
    await leave(9)
    const { id } = await made(await save("12345"))
    expect(await addedTo(conversation)).toBe(maxBytes - 4)
    expect(await resultOf(await save("12345"))).toEqual(tooManyBytes)
    const restore = () => person.send("POST", `${artifacts()}/${id}/restore`, { version: 1 })
    expect(await resultOf(await restore())).toEqual(tooManyBytes)
    await leave(5)
    expect((await restore()).status).toBeLessThan(300)
    expect(await addedTo(conversation)).toBe(maxBytes)
  })

  it("is images, each of 16 KiB at least", async () => {
    await leave(2 * 16 * 1024 - 1)
    await made(await upload())
    expect(await resultOf(await upload())).toEqual(tooManyBytes)
  })

  it("is the same for requests at once", async () => {
    const statuses = (responses: ReadonlyArray<Response>) => responses.map(({ status }) => status).sort()
    const refusals = [400, 400, 400, 400, 400]
    await leave(2 * 16 * 1024 - 1)
    expect(statuses(await Promise.all(Array.from({ length: 6 }, upload)))).toEqual([201, ...refusals])
    await leave(16 * 1024 + conversationBytes)
    expect(statuses(await Promise.all(Array.from({ length: 6 }, fork)))).toEqual([201, ...refusals])
  })

  it("counts until it is erased, and for its own person alone", async () => {
    await leave(0)
    expect((await person.send("DELETE", `/api/chat/conversations/${conversation}`)).status).toBe(204)
    expect(await resultOf(await upload())).toEqual(tooManyBytes)
    person = await newPerson(node)
    await made(await upload())
  })

  /** Beside the first one. */
  const addMany = (conversations: number) =>
    query(
      (sql) => sql`insert into conversation (id, user_id, project_id, title, created_at, updated_at)
        select gen_random_uuid(), ${person.userId}, ${project}, 'many', now(), now()
        from generate_series(1, ${conversations}::int)`
    )
  const tooManyConversations = {
    status: 400,
    error: {
      ...fault,
      message: "You have reached the maximum of 10000 conversations: delete conversations that you no longer need."
    }
  }
  const create = (inProject = project) => person.send("POST", "/api/chat/conversations", { project_id: inProject })
  const remove = (id: string) => person.send("DELETE", `/api/chat/conversations/${id}`)

  it("is 10,000 conversations, of which deleted ones do not count", async () => {
    await addMany(9_999)
    expect(await resultOf(await create())).toEqual(tooManyConversations)
    expect(await resultOf(await fork())).toEqual(tooManyConversations)
    expect((await remove(conversation)).status).toBe(204)
    await made(await create())
  })

  it("is as many conversations when several are begun at once, in whatever projects", async () => {
    await addMany(9_998)
    const projects: Array<string> = []
    for (let n = 0; n < 5; n += 1) {
      projects.push((await made(await person.send("POST", "/api/me/projects", { name: "another" }))).id)
    }
    const answers = await Promise.all([fork(), ...projects.map((one) => create(one))])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400])
  })

  it("is as many conversations when a deletion is undone", async () => {
    await addMany(9_999)
    const restore = () => person.send("POST", `/api/chat/conversations/${conversation}/restore`)
    expect((await remove(conversation)).status).toBe(204)
    const { id } = await made(await create())
    expect(await resultOf(await restore())).toEqual(tooManyConversations)
    expect((await remove(id)).status).toBe(204)
    expect((await restore()).status).toBe(200)
  })
})
