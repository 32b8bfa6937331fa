import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { ContentStore } from "../../../src/chat/ContentStore.ts"
import { eraseAll } from "../../../src/chat/Erasure.ts"
import { Objects, type ObjectsShape } from "../../../src/chat/Objects.ts"
import { StoreUnavailable } from "../../../src/domain/GatewayError.ts"
import { Timers } from "../../../src/domain/Timers.ts"
import { type AccountNode, databaseKinds, newPerson, operatorOf, type Person } from "../../support/AccountService.ts"
import { codeOf, jsonOf, openService, Reader, startTalker, type Talker, talkOf } from "../../support/Chat.ts"

const root = "/api/chat/conversations"

interface Artifact {
  readonly id: string
  readonly name: string
  readonly version: number
  readonly content_url: string
  readonly download_url: string
}
interface Image {
  readonly id: string
  readonly url: string
  readonly media_type: string
}

/** The smallest headers that say their size. */
const png = (width: number, height: number): Buffer => {
  const data = Buffer.alloc(64)
  data.write("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1")
  data.writeUInt32BE(width, 16)
  data.writeUInt32BE(height, 20)
  return data
}
const jpeg = Buffer.from("ffd8ffe000040000ffc00011080010002003012200021101031101ffd9", "hex")
const gif = Buffer.from("47494638396120001000000000", "hex")
const webp = Buffer.concat([Buffer.from("RIFF\0\0\0\0WEBPVP8X", "latin1"), Buffer.alloc(20)])

describe.each(databaseKinds)("images and artifacts of conversations on %s", (kind) => {
  let talker: Talker
  let service: Awaited<ReturnType<typeof openService>>
  let node: AccountNode
  let person: Person
  let project = ""
  let used = 0
  beforeAll(async () => {
    talker = await startTalker()
    service = await openService(kind, talker)
    node = await service.node()
    person = await operatorOf(node)
    const me = await jsonOf<{ readonly default_project_id: string }>(person.send("GET", "/api/me"))
    project = me.default_project_id
  }, 120_000)
  afterAll(async () => {
    await node.stop()
    await talker.stop()
    await service.close()
  })

  const chat = () => talkOf(person)
  /** Makes an image older than one may be that is in no message. */
  const age = (image: string) =>
    node.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql`update chat_image set created_at = created_at - interval '25 hours' where id = ${image}`
      )
    )
  const kept = (image: string) =>
    node.run(
      Effect.gen(function* () {
        const rows = yield* Effect.flatMap(SqlClient, (sql) => sql`select from chat_image where id = ${image}`)
        const object = yield* Effect.flatMap(Objects, ({ get }) => get(image))
        return { row: rows.length > 0, object: object !== undefined }
      })
    )
  const upload = (bytes: Buffer, filename = "a.png", by = person) =>
    fetch(`${node.url}/api/chat/images?filename=${filename}`, {
      method: "POST",
      headers: { authorization: `Bearer ${by.token}`, "content-type": "image/png" },
      body: new Uint8Array(bytes)
    })
  const idle = (id: string) => expect.poll(async () => (await chat().read(id)).running).toBe(false)
  const get = (url: string, headers: Record<string, string> = {}) => fetch(`${node.url}${url}`, { headers })

  it("take images by their bytes alone", async () => {
    for (const [bytes, type] of [
      [png(10, 10), "image/png"],
      [jpeg, "image/jpeg"],
      [gif, "image/gif"],
      [webp, "image/webp"]
    ] as const) {
      expect((await jsonOf<Image>(upload(bytes, "x.bin"), 201)).media_type).toBe(type)
    }
    const html = Buffer.from("<html><script>alert(1)</script></html>")
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')
    for (const bytes of [html, svg, Buffer.alloc(0), png(8_193, 1), png(0, 1)]) {
      expect(await codeOf(upload(bytes))).toEqual([400, "invalid_value"])
    }
    expect(await codeOf(upload(Buffer.concat([png(1, 1), Buffer.alloc(10 * 1024 * 1024)])))).toEqual([
      400,
      "request_too_large"
    ])
  })

  it("send images with their question, show them by a signed link, and erase those that no message has", async () => {
    const { id } = await chat().create(project)
    const image = await jsonOf<Image>(upload(png(3, 4)), 201)
    const unused = await jsonOf<Image>(upload(png(5, 6)), 201)
    const stranger = await newPerson(node)
    const foreign = await jsonOf<Image>(upload(png(1, 1), "b.png", stranger), 201)
    const ask = (image_ids: ReadonlyArray<string>) =>
      person.send("POST", `${root}/${id}/messages`, { content: "what?", model: "acme/large", image_ids })
    expect(await codeOf(ask([foreign.id]))).toEqual([404, "not_found"])
    expect((await ask([image.id])).status).toBe(202)
    const talk = await talker.talk(used++)
    const url = `data:image/png;base64,${png(3, 4).toString("base64")}`
    expect(talk.received.body["messages"]).toEqual([
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url } },
          { type: "text", text: "what?" }
        ]
      }
    ])
    talk.say("an image")
    talk.finish()
    await idle(id)
    const [question, answer] = (await chat().read(id)).messages
    expect(question?.images).toMatchObject([{ id: image.id, filename: "a.png" }])
    const edit = (more: object) =>
      person.send("POST", `${root}/${id}/messages/${question?.id}/edit`, { content: "what is it?", ...more })
    expect((await edit({})).status).toBe(202)
    const edited = await talker.talk(used++)
    expect(edited.received.body["messages"]).toMatchObject([
      { content: [{ type: "image_url", image_url: { url } }, { text: "what is it?" }] }
    ])
    edited.say("the same")
    edited.finish()
    await idle(id)
    const current = (await chat().read(id)).messages
    expect(current).toMatchObject([{ images: [{ id: image.id }] }, { versions: [{ id: answer?.id }] }])
    const shown = await get(image.url)
    expect([shown.status, Buffer.from(await shown.arrayBuffer()).equals(png(3, 4))]).toEqual([200, true])
    expect(shown.headers.get("content-type")).toBe("image/png")
    expect(shown.headers.get("content-security-policy")).toContain("sandbox")
    expect(
      (await get(image.url.replace(/signature=(.)/, (_, first) => `signature=${first === "_" ? "-" : "_"}`))).status
    ).toBe(404)
    expect((await get(image.url.replace(image.id, foreign.id))).status).toBe(404)
    expect((await get(`/content/images/${image.id}`)).status).toBe(404)

    await age(image.id)
    await age(unused.id)
    const erase = node.run(
      Effect.gen(function* () {
        yield* eraseAll({ contents: yield* ContentStore, objects: yield* Objects, timers: yield* Timers })
      })
    )
    await erase
    expect([(await get(image.url)).status, (await get(unused.url)).status]).toEqual([200, 404])
  })

  it("let models write artifacts, version after version, and people restore, download and delete them", async () => {
    const { id } = await chat().create(project)
    const { assistant_message } = await chat().ask(id, "make a page", { artifacts: true })
    const reader = await new Reader().open(node.url, person, id)
    const first = await talker.talk(used++)
    expect(
      (first.received.body["tools"] as ReadonlyArray<{ readonly function: object }>).map((t) => t.function)
    ).toEqual([expect.objectContaining({ name: "write_artifact" }), expect.objectContaining({ name: "edit_artifact" })])
    const page = `<h1>Hello 👋</h1>${"<p>more</p>".repeat(20)}`
    const json = JSON.stringify({ name: "page é.html", media_type: "text/html", content: page })
    first.say("Here it is. ")
    first.call(0, "write_artifact", json.slice(0, 120))
    await reader.until((seen) => seen.named("artifact_delta").length > 0)
    // the snapshot of who comes later does not have what is written of it
    const late = await new Reader().open(node.url, person, id)
    await late.until((seen) => seen.named("artifact_delta").length > 0)
    expect(late.named("artifact_delta")[0]?.data).toMatchObject({ name: "page é.html", offset: 0 })
    await late.leave()
    first.callMore(0, json.slice(120))
    first.finish("tool_calls")
    const second = await talker.talk(used++)
    expect((second.received.body["messages"] as ReadonlyArray<object>).slice(1)).toMatchObject([
      { role: "assistant", content: "Here it is. ", tool_calls: [{ function: { name: "write_artifact" } }] },
      {
        role: "tool",
        content: JSON.stringify({ name: "page é.html", version: 1, size_bytes: Buffer.byteLength(page) })
      }
    ])
    const edit = (old_text: string) => JSON.stringify({ name: "page é.html", old_text, new_text: "Hi" })
    second.call(0, "edit_artifact", edit("<p>more</p>"))
    second.call(1, "edit_artifact", edit("Hello"))
    second.call(2, "write_artifact", JSON.stringify({ name: "a/b", media_type: "text/plain", content: "x" }))
    second.finish("tool_calls")
    const third = await talker.talk(used++)
    expect((third.received.body["messages"] as ReadonlyArray<{ readonly content: string }>).slice(-3)).toMatchObject([
      { content: expect.stringContaining("more than once") },
      { content: expect.stringContaining('"version":2') },
      { content: "The arguments are not valid: name: Expected a file name without slashes and control characters" }
    ])
    third.say("Done.")
    third.finish()
    await reader.done
    const draft = reader
      .named("artifact_delta")
      .map(({ data }) => data["text"])
      .join("")
    expect(page.startsWith(draft) && draft.length > 20).toBe(true)
    expect(reader.named("artifact").map(({ data }) => data["action"])).toEqual(["created", "updated"])

    const detail = await chat().read(id)
    expect(detail.messages[1]).toMatchObject({
      id: assistant_message.id,
      content: "Here it is. Done.",
      artifact_events: [{ action: "created" }, { action: "updated" }]
    })
    expect(detail.messages[1]?.request_ids).toHaveLength(3)
    const [artifact] = detail.artifacts as ReadonlyArray<Artifact>
    expect(artifact).toMatchObject({ name: "page é.html", version: 2, media_type: "text/html" })
    const of = `${root}/${id}/artifacts/${artifact?.id}`
    const versions = await jsonOf<{ readonly items: ReadonlyArray<Artifact> }>(person.send("GET", `${of}/versions`))
    expect(versions.items.map(({ version }) => version)).toEqual([2, 1])

    const framed = await get(artifact?.content_url ?? "", { "sec-fetch-dest": "iframe" })
    expect(await framed.text()).toBe(page.replace("Hello", "Hi"))
    expect(Object.fromEntries(framed.headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-disposition": "inline",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "content-security-policy":
        "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; connect-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
    })
    for (const [url, headers] of [
      [artifact?.content_url, { "sec-fetch-dest": "document" }],
      [artifact?.content_url, { "sec-fetch-dest": "script" }],
      [artifact?.content_url, {}],
      [artifact?.download_url, { "sec-fetch-dest": "iframe" }]
    ] as const) {
      const file = await get(url ?? "", headers)
      expect(file.headers.get("content-disposition")).toBe(
        "attachment; filename=\"page _.html\"; filename*=UTF-8''page%20%C3%A9.html"
      )
      expect(file.headers.get("content-security-policy")).toContain("sandbox allow-scripts; default-src 'none'")
      await file.text()
    }

    expect(await jsonOf(person.send("POST", `${of}/restore`, { version: 1 }), 201)).toMatchObject({ version: 3 })
    expect(await codeOf(person.send("POST", `${of}/restore`, { version: 9 }))).toEqual([404, "not_found"])
    const fork = await jsonOf<{ readonly id: string }>(person.send("POST", `${root}/${id}/fork`, {}), 201)
    expect((await person.send("DELETE", of)).status).toBe(204)
    const after = await chat().read(id)
    expect(after.artifacts).toEqual([])
    expect(after.messages[1]?.artifact_events.map(({ action }) => action)).toEqual([
      "created",
      "updated",
      "restored",
      "deleted"
    ])
    const forked = await chat().read(fork.id)
    expect(forked.artifacts).toMatchObject([{ name: "page é.html", version: 3 }])
    expect(forked.artifacts[0]?.id).not.toBe(artifact?.id)

    // no link leads to what is deleted, and no copy of the conversation has it
    const links = (after.messages[1]?.artifact_events ?? []).map((event) => event.artifact.content_url)
    expect(
      await Promise.all([artifact?.content_url ?? "", ...links].map(async (url) => (await get(url)).status))
    ).toEqual(Array.from({ length: 5 }, () => 404))
    const texts = await node.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql`select count(*)::int as count from chat_artifact_version
          where artifact_id = ${artifact?.id ?? ""} and content <> ''`
      )
    )
    expect(texts).toEqual([{ count: 0 }])
    const later = await jsonOf<{ readonly id: string }>(person.send("POST", `${root}/${id}/fork`, {}), 201)
    expect(await chat().read(later.id)).toMatchObject({ artifacts: [], messages: [{}, { artifact_events: [] }] })
    const again = { name: "page é.html", media_type: "text/html", content: "again" }
    expect(await jsonOf(person.send("POST", `${root}/${later.id}/artifacts`, again), 201)).toMatchObject({ version: 1 })
  })

  it("leave no text of a deleted artifact in the calls that have written it, whatever version of an answer has them", async () => {
    const { id } = await chat().create(project)
    const secret = "Jane Roe"
    const write = (name: string, content: string) => JSON.stringify({ name, media_type: "text/markdown", content })
    const edit = (old_text: string, new_text: string) => JSON.stringify({ name: "a.md", old_text, new_text })
    const answerWith = async (...calls: ReadonlyArray<readonly [string, string]>) => {
      const talk = await talker.talk(used++)
      for (const [index, [name, json]] of calls.entries()) talk.call(index, name, json)
      talk.finish("tool_calls")
      ;(await talker.talk(used++)).finish()
      await idle(id)
    }
    const other = write("b.md", "of another")
    const asked = await chat().ask(id, "make two pages", { artifacts: true })
    await answerWith(["write_artifact", write("a.md", `# ${secret}`)], ["write_artifact", other])
    await jsonOf(person.send("POST", `${root}/${id}/messages/${asked.assistant_message.id}/retry`, {}), 202)
    const cut = write("a.md", secret).slice(0, -2)
    await answerWith(
      ["edit_artifact", edit(secret, `${secret} again`)],
      ["edit_artifact", edit("nowhere", secret)],
      ["write_artifact", cut],
      ["write_artifact", JSON.stringify({ name: "a.md", media_type: secret, content: secret })]
    )
    const stored = () =>
      node.run(
        Effect.flatMap(
          SqlClient,
          (sql) => sql<{ readonly steps: string }>`select steps::text as steps from chat_message
            where conversation_id = ${id} and role = 'assistant' order by version`
        )
      )
    const before = await stored()
    expect(before.map(({ steps }) => steps.includes(secret))).toEqual([true, true])
    const fork = await jsonOf<{ readonly id: string }>(person.send("POST", `${root}/${id}/fork`, {}), 201)
    const [artifact] = (await chat().read(id)).artifacts as ReadonlyArray<Artifact>
    expect(artifact).toMatchObject({ name: "a.md", version: 2 })
    expect((await person.send("DELETE", `${root}/${id}/artifacts/${artifact?.id}`)).status).toBe(204)

    expect((await stored()).map(({ steps }) => steps.includes(secret))).toEqual([false, false])
    expect((await stored())[0]?.steps).toContain("of another")
    // the artifact of the fork is another one
    expect((await chat().read(fork.id)).artifacts).toMatchObject([{ name: "a.md", version: 2 }])

    await chat().ask(id, "and again?", { artifacts: true })
    const talk = await talker.talk(used++)
    expect(JSON.stringify(talk.received.body)).not.toContain(secret)
    const deleted = "[deleted by the user]"
    expect(talk.received.body["messages"]).toMatchObject([
      {},
      {
        tool_calls: [
          { function: { arguments: edit(deleted, deleted) } },
          { function: { arguments: edit(deleted, deleted) } },
          { function: { arguments: '{"name":"a.md"}' } },
          { function: { arguments: '{"name":"a.md"}' } }
        ]
      },
      { content: expect.stringContaining('"version":2') },
      { content: "old_text does not occur in it." },
      { content: "The arguments are not valid." },
      { content: "The arguments are not valid." },
      {}
    ])
    // what is written later under the same name is another document
    talk.call(0, "write_artifact", write("a.md", "a new page"))
    talk.finish("tool_calls")
    const next = await talker.talk(used++)
    expect(JSON.stringify(next.received.body)).toContain("a new page")
    next.finish()
    await idle(id)
    await chat().ask(id, "and then?", { artifacts: true })
    const last = await talker.talk(used++)
    expect(JSON.stringify(last.received.body)).toContain("a new page")
    last.finish()
    await idle(id)
  })

  it("keep an answer whose calls of tools have characters that a database cannot store", async () => {
    const { id } = await chat().create(project)
    await chat().ask(id, "make a page", { artifacts: true })
    const first = await talker.talk(used++)
    first.say("Now. ")
    // the message about the name is cut in the middle of a character
    const cut = JSON.stringify({ name: `/${"👋".repeat(400)}`, media_type: "text/plain", content: "a" })
    first.call(0, "write_artifact", '{"name": "\0\ud83d')
    first.call(1, "no\0such\udc4btool", "{}")
    first.call(2, "write_artifact", cut)
    first.finish("tool_calls")
    const second = await talker.talk(used++)
    second.say("Done.")
    second.finish()
    await idle(id)
    expect((await chat().read(id)).messages[1]).toMatchObject({ status: "complete", content: "Now. Done." })
    // the next question has the calls of the answer before it
    await chat().ask(id, "and then?", { artifacts: true })
    const third = await talker.talk(used++)
    const messages = third.received.body["messages"] as ReadonlyArray<object>
    expect(messages[1]).toMatchObject({
      tool_calls: [{ function: { arguments: '{"name": "\ufffd\ufffd' } }, {}, { function: { arguments: cut } }]
    })
    third.finish()
    await idle(id)
  })

  it.each(["has left the project", "only reads it by now", "has their key switched off"])(
    "call no model any more where the person %s",
    async (how) => {
      const member = await newPerson(node)
      const members = `/api/projects/${project}/members`
      const join = (role: string) => jsonOf(person.send("POST", members, { user_id: member.userId, role }), 201)
      await join("member")
      const { id } = await talkOf(member).create(project)
      await talkOf(member).ask(id, "make a page", { artifacts: true })
      const first = await talker.talk(used++)
      if (how === "has their key switched off") {
        const { items } = await jsonOf<{ readonly items: ReadonlyArray<{ readonly id: string }> }>(
          person.send("GET", `/api/projects/${project}/keys`)
        )
        await jsonOf(person.send("PATCH", `/api/keys/${items[0]?.id}`, { is_active: false }))
      } else {
        expect((await person.send("DELETE", `${members}?user_id=${member.userId}`)).status).toBe(204)
        if (how === "only reads it by now") await join("viewer")
      }
      first.call(0, "write_artifact", JSON.stringify({ name: "a.md", media_type: "text/markdown", content: "# a" }))
      first.finish("tool_calls")
      const answer = () =>
        node.run(
          Effect.flatMap(
            SqlClient,
            (sql) => sql`select m.status, m.error_code as code, cardinality(m.request_ids) as calls
              from chat_message m where m.conversation_id = ${id} and m.role = 'assistant'`
          )
        )
      await expect.poll(answer).toEqual([{ status: "failed", code: "role_required", calls: 1 }])
      expect(talker.talks).toHaveLength(used)
    }
  )

  it("let people save what an answer has, as a new artifact or the next version of one", async () => {
    const { id } = await chat().create(project)
    const save = (document: object, by = person, headers: Record<string, string> = {}) =>
      by.send("POST", `${root}/${id}/artifacts`, document, headers)
    const page = { name: "page.html", media_type: "text/html", content: "<h1>Hello 👋</h1>" }
    // nothing was answered yet
    expect(await codeOf(save(page))).toEqual([404, "not_found"])
    await chat().ask(id, "make a page")
    const talk = await talker.talk(used++)
    expect(await codeOf(save(page))).toEqual([409, "conversation_running"])
    talk.say(page.content)
    talk.finish()
    await idle(id)
    expect(await codeOf(save(page, await newPerson(node)))).toEqual([404, "not_found"])
    const header = { "idempotency-key": "save-1" }
    const first = await jsonOf<Artifact>(save(page, person, header), 201)
    expect(first).toMatchObject({ name: "page.html", version: 1, size_bytes: Buffer.byteLength(page.content) })
    expect(await jsonOf<Artifact>(save(page, person, header), 201)).toMatchObject({ id: first.id, version: 1 })
    const second = await jsonOf<Artifact>(save({ ...page, content: "<h1>Bye</h1>" }), 201)
    expect(second).toMatchObject({ id: first.id, version: 2 })
    for (const [artifact, content] of [
      [first, page.content],
      [second, "<h1>Bye</h1>"]
    ] as const) {
      expect(await (await get(artifact.content_url, { "sec-fetch-dest": "iframe" })).text()).toBe(content)
    }
    for (const wrong of [
      { name: "" },
      { name: "a/b" },
      { media_type: "html" },
      { content: "a\0b" },
      { content: "👋".repeat(262_145) },
      { language: "html" }
    ]) {
      expect((await save({ ...page, ...wrong })).status).toBe(400)
    }
    const { messages } = await chat().read(id)
    expect(messages[1]?.artifact_events.map(({ action }) => action)).toEqual(["created", "updated"])
    for (let made = 1; made < 20; made += 1) expect((await save({ ...page, name: `${made}.html` })).status).toBe(201)
    expect(await codeOf(save({ ...page, name: "one too many" }))).toEqual([400, "invalid_value"])
  })

  it("have at most 100 versions, which are listed page by page", async () => {
    const { id } = await chat().create(project)
    await chat().ask(id, "write")
    ;(await talker.talk(used++)).finish()
    await idle(id)
    const save = (content: string) =>
      person.send("POST", `${root}/${id}/artifacts`, { name: "a.txt", media_type: "text/plain", content })
    const first = await jsonOf<Artifact>(save("1"), 201)
    for (let version = 2; version <= 100; version++) await jsonOf(save(`${version}`), 201)
    const of = `${root}/${id}/artifacts/${first.id}`
    expect(await codeOf(save("101"))).toEqual([400, "invalid_value"])
    expect(await codeOf(person.send("POST", `${of}/restore`, { version: 1 }))).toEqual([400, "invalid_value"])
    expect(await codeOf(person.send("POST", `${of}/restore`, { version: 101 }))).toEqual([404, "not_found"])
    const read = (query: string) => person.send("GET", `${of}/versions${query}`)
    interface Page {
      readonly items: ReadonlyArray<Artifact>
      readonly has_more: boolean
      readonly next_cursor: string | null
    }
    const pages: Array<Page> = []
    for (let query: string | null = ""; query !== null; ) {
      const page: Page = await jsonOf<Page>(read(query))
      pages.push(page)
      query = page.next_cursor === null ? null : `?cursor=${page.next_cursor}`
    }
    expect(pages.map(({ has_more, items }) => [items.length, has_more])).toEqual([
      [20, true],
      [20, true],
      [20, true],
      [20, true],
      [20, false]
    ])
    expect(pages.flatMap(({ items }) => items.map(({ version }) => version))).toEqual(
      Array.from({ length: 100 }, (_, index) => 100 - index)
    )
    expect((await jsonOf<Page>(read("?limit=100"))).next_cursor).toBeNull()
    for (const query of ["?limit=0", "?limit=101", "?cursor=7"]) {
      expect(await codeOf(read(query))).toEqual([400, "invalid_value"])
    }
  })

  it("end with their project: what is written stops, and all content is erased", async () => {
    const { id: gone } = await jsonOf<{ readonly id: string }>(
      person.send("POST", "/api/me/projects", { name: "gone" }),
      201
    )
    const [idleOne, running] = [await chat().create(gone), await chat().create(gone)]
    await chat().ask(running.id, "write")
    const talk = await talker.talk(used++)
    const keys = await jsonOf<{ readonly items: ReadonlyArray<{ readonly id: string }> }>(
      person.send("GET", `/api/projects/${gone}/keys`)
    )
    for (const key of keys.items) await person.send("DELETE", `/api/keys/${key.id}`)
    expect((await person.send("DELETE", `/api/projects/${gone}`)).status).toBe(204)
    expect(await talk.received.closed).toBe("aborted")
    const left = node.run(
      Effect.gen(function* () {
        const sql = yield* SqlClient
        const rows = sql`select turn_id from conversation where id in (${idleOne.id}, ${running.id})`
        yield* Effect.repeat(rows, { until: (found) => found.every((row) => row["turn_id"] === null) })
        yield* sql`update conversation set deleted_at = deleted_at - interval '2 minutes' where project_id = ${gone}`
        yield* eraseAll({ contents: yield* ContentStore, objects: yield* Objects, timers: yield* Timers })
        return (yield* rows).length
      })
    )
    expect(await left).toBe(0)
  })

  it("erase deleted conversations with everything in them, once the deletion cannot be undone", async () => {
    const { id } = await chat().create(project)
    const image = await jsonOf<Image>(upload(png(9, 9)), 201)
    await chat().ask(id, "write", { artifacts: true, image_ids: [image.id] })
    const talk = await talker.talk(used++)
    talk.call(0, "write_artifact", JSON.stringify({ name: "a.md", media_type: "text/markdown", content: "# a" }))
    talk.finish("tool_calls")
    ;(await talker.talk(used++)).finish()
    await idle(id)
    const erase = (agoMillis: number) =>
      node.run(
        Effect.gen(function* () {
          const sql = yield* SqlClient
          yield* sql`update conversation set deleted_at = deleted_at - ${`${agoMillis} milliseconds`}::interval
            where id = ${id}`
          yield* eraseAll({ contents: yield* ContentStore, objects: yield* Objects, timers: yield* Timers })
          const rows = yield* sql`select id from conversation where id = ${id}
            union all select id from chat_message where conversation_id = ${id}
            union all select id from chat_artifact where conversation_id = ${id}`
          return rows.length
        })
      )
    expect((await get(image.url)).status).toBe(200)
    expect((await person.send("DELETE", `${root}/${id}`)).status).toBe(204)
    // while the deletion can still be undone, nothing of it is shown
    expect((await get(image.url)).status).toBe(404)
    expect(await erase(0)).toBe(4)
    expect(await erase(61_000)).toBe(0)
    expect((await person.send("POST", `${root}/${id}/restore`)).status).toBe(404)
    expect(await kept(image.id)).toEqual({ row: false, object: false })
  })

  it("erase an image with the next run when its object could not be removed", async () => {
    const image = await jsonOf<Image>(upload(png(8, 8)), 201)
    await age(image.id)
    const eraseWith = (remove: (objects: ObjectsShape) => ObjectsShape["remove"]) =>
      node.run(
        Effect.gen(function* () {
          const objects = yield* Objects
          const deps = { contents: yield* ContentStore, timers: yield* Timers }
          return yield* Effect.exit(eraseAll({ ...deps, objects: { ...objects, remove: remove(objects) } }))
        })
      )
    const failed = await eraseWith(() => () => new StoreUnavailable({ cause: "away", store: "images" }))
    expect([failed._tag, await kept(image.id)]).toEqual(["Failure", { row: true, object: true }])
    expect((await eraseWith(({ remove }) => remove))._tag).toBe("Success")
    expect(await kept(image.id)).toEqual({ row: false, object: false })
  })

  it.each([
    ["before its removal has begun", { status: 202, row: true, object: true }],
    ["while its object is removed", { status: 404, row: false, object: false }]
  ] as const)("take an image that is not used for long with a message, or not at all: %s", async (moment, outcome) => {
    const image = await jsonOf<Image>(upload(png(6, 6)), 201)
    await age(image.id)
    const { id } = await chat().create(project)
    let status = 0
    const send = Effect.promise(async () => {
      const question = { content: "what?", model: "acme/large", image_ids: [image.id] }
      status = (await person.send("POST", `${root}/${id}/messages`, question)).status
    })
    await node.run(
      Effect.gen(function* () {
        const [contents, objects, timers] = yield* Effect.all([ContentStore, Objects, Timers])
        yield* moment === "while its object is removed"
          ? eraseAll({
              contents,
              timers,
              objects: { ...objects, remove: (one) => Effect.zipRight(send, objects.remove(one)) }
            })
          : eraseAll({
              contents: {
                ...contents,
                unused: (...asked) => Effect.tap(contents.unused(...asked), () => (status === 0 ? send : Effect.void))
              },
              objects,
              timers
            })
      })
    )
    if (status === 202) {
      ;(await talker.talk(used++)).finish()
      await idle(id)
    }
    expect({ status, ...(await kept(image.id)) }).toEqual(outcome)
  })
})
