import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { databaseKinds, operatorOf, type Person, startNode } from "../../support/AccountService.ts"
import { codeOf, jsonOf, openService, startTalker, type Talker } from "../../support/Chat.ts"
import { pixelBytes } from "../../support/Pixel.ts"
import { startS3 } from "../../support/S3Server.ts"

interface Image {
  readonly id: string
  readonly url: string
}

describe.each(databaseKinds)("images of conversations in a bucket, on %s", (kind) => {
  let talker: Talker
  let service: Awaited<ReturnType<typeof openService>>
  let s3: Awaited<ReturnType<typeof startS3>>
  let node: Awaited<ReturnType<typeof startNode>>
  let person: Person
  beforeAll(async () => {
    talker = await startTalker()
    s3 = await startS3()
    service = await openService(kind, talker)
    node = await startNode({ ...service.env, ...s3.env })
    person = await operatorOf(node)
  }, 120_000)
  afterAll(async () => {
    await node.stop()
    await s3.stop()
    await talker.stop()
    await service.close()
  })

  const upload = (filename = "a.png", headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${node.url}/api/chat/images?filename=${filename}`, {
      method: "POST",
      headers: { authorization: `Bearer ${person.token}`, "content-type": "image/png", ...headers },
      body: new Uint8Array(pixelBytes)
    })
  const rowsOf = (filename: string) =>
    node.run(Effect.flatMap(SqlClient, (sql) => sql`select id from chat_image where filename = ${filename}`))
  const failing = (times: number) => s3.failures.push(...Array.from({ length: times }, () => 503))

  it("are put there, sent to models, and shown from there by their links", async () => {
    const image = await jsonOf<Image>(upload(), 201)
    expect(s3.objects.get(`/${s3.bucket}/images/${image.id}`)?.equals(pixelBytes)).toBe(true)
    const shown = await fetch(`${node.url}${image.url}`)
    expect([shown.status, Buffer.from(await shown.arrayBuffer()).equals(pixelBytes)]).toEqual([200, true])
    const { default_project_id: project_id } = await jsonOf<{ readonly default_project_id: string }>(
      person.send("GET", "/api/me")
    )
    const root = "/api/chat/conversations"
    const { id } = await jsonOf<{ readonly id: string }>(person.send("POST", root, { project_id }), 201)
    const question = { content: "what?", model: "acme/large", image_ids: [image.id] }
    expect((await person.send("POST", `${root}/${id}/messages`, question)).status).toBe(202)
    const talk = await talker.talk(0)
    expect(JSON.stringify(talk.received.body["messages"])).toContain(pixelBytes.toString("base64"))
    talk.say("a pixelBytes")
    talk.finish()
  })

  it.each([
    ["without an Idempotency-Key", "early.png", {}],
    ["with one", "keyed.png", { "idempotency-key": "early" }]
  ])(
    "have a row before they are put there, %s, so that what a dead process has left is found",
    async (_, filename, headers) => {
      const rows: Array<unknown> = []
      s3.beforePut(async () => {
        // on the only connection of the embedded database: no transaction is open meanwhile
        rows.push(...(await rowsOf(filename)))
      })
      const { id } = await jsonOf<Image>(upload(filename, headers), 201)
      s3.beforePut(() => Promise.resolve())
      expect(rows).toEqual([{ id }])
    }
  )

  it("are 503 while the store fails, with no row of what was not stored", async () => {
    const image = await jsonOf<Image>(upload(), 201)
    await expect.poll(() => s3.seen.filter((line) => line.includes("/images/start")).length).toBe(3)
    failing(3)
    const shown = await fetch(`${node.url}${image.url}`)
    expect(shown.status).toBe(503)
    await shown.text()
    const before = s3.objects.size
    failing(3)
    const refused = await upload("refused.png")
    expect(await codeOf(refused)).toEqual([503, "store_unavailable"])
    expect(await rowsOf("refused.png")).toEqual([])
    expect(s3.objects.size).toBe(before)
    expect((await fetch(`${node.url}${image.url}`)).status).toBe(200)
    expect(s3.seen.filter((line) => !line.endsWith(" signed"))).toEqual([])
  })

  it("are stored by a retry with the same Idempotency-Key where the store failed at first", async () => {
    const headers = { "idempotency-key": "again" }
    failing(3)
    expect(await codeOf(await upload("again.png", headers))).toEqual([503, "store_unavailable"])
    const { id } = await jsonOf<Image>(upload("again.png", headers), 201)
    expect(await rowsOf("again.png")).toEqual([{ id }])
    const path = `/${s3.bucket}/images/${id}`
    expect(s3.objects.get(path)?.equals(pixelBytes)).toBe(true)
    // of an image that is removed by now, nothing
    await node.run(Effect.flatMap(SqlClient, (sql) => sql`delete from chat_image where id = ${id}`))
    s3.objects.delete(path)
    expect((await jsonOf<Image>(upload("again.png", headers), 201)).id).toBe(id)
    expect(s3.objects.has(path)).toBe(false)
  })
})
