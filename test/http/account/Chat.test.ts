import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  type AccountNode,
  databaseKinds,
  newPerson,
  operatorOf,
  type Person,
  sendTo
} from "../../support/AccountService.ts"
import {
  codeOf,
  type Detail,
  jsonOf,
  openService,
  Reader,
  type Started,
  startTalker,
  type Talker,
  talkOf
} from "../../support/Chat.ts"
import { withOpenTransaction } from "../../support/OpenTransaction.ts"

const root = "/api/chat/conversations"

describe.each(databaseKinds)("conversations over HTTP on %s", (kind) => {
  let talker: Talker
  let service: Awaited<ReturnType<typeof openService>>
  let node: AccountNode
  let person: Person
  let project = ""
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
  const begin = async (title?: string) => (await chat().create(project, title)).id
  /** Calls of the upstream that a test has answered. */
  let used = 0

  it("are created, read, renamed, deleted and restored", async () => {
    const id = await begin()
    const read = await person.send("GET", `${root}/${id}`)
    const tag = read.headers.get("etag") ?? ""
    expect(await read.json()).toMatchObject({
      id,
      project_id: project,
      title: "New conversation",
      running: false,
      messages: [],
      artifacts: []
    })
    const renamed = await person.send("PATCH", `${root}/${id}`, { title: "Landing page" }, { "if-match": tag })
    expect(await jsonOf(renamed)).toMatchObject({ id, title: "Landing page" })
    expect(await codeOf(person.send("PATCH", `${root}/${id}`, { title: "x" }, { "if-match": tag }))).toEqual([
      412,
      "version_mismatch"
    ])
    expect((await person.send("DELETE", `${root}/${id}`)).status).toBe(204)
    expect(await codeOf(person.send("GET", `${root}/${id}`))).toEqual([404, "not_found"])
    expect(await jsonOf(person.send("POST", `${root}/${id}/restore`))).toMatchObject({ id, title: "Landing page" })
    expect(await jsonOf(person.send("GET", `${root}/${id}`))).toMatchObject({ title: "Landing page" })
  })

  it("have the title of their first question that is not blank", async () => {
    const id = await begin()
    for (const [question, title] of [
      [" \n ", "New conversation"],
      [" Say\nhello ", "Say hello"],
      ["and more", "Say hello"]
    ] as const) {
      await chat().ask(id, question)
      ;(await talker.talk(used++)).finish()
      await expect.poll(async () => (await chat().read(id)).running).toBe(false)
      expect(await chat().read(id)).toMatchObject({ title })
    }
  })

  it.skipIf(kind === "embedded")("do not begin an answer for a member who became a viewer meanwhile", async () => {
    const member = await newPerson(node, "a member")
    const members = `/api/projects/${project}/members`
    const as = (role: string) => jsonOf(person.send("POST", members, { user_id: member.userId, role }), 201)
    await as("member")
    const { id } = await talkOf(member).create(project)
    await withOpenTransaction(service.env.DATABASE_URL, async (other) => {
      const turns = `chat turns ${member.userId}`
      await other.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [turns])
      const asked = member.send("POST", `${root}/${id}/messages`, { content: "Hello?", model: "auto" })
      await other.holdsBack(asked)
      expect((await person.send("DELETE", `${members}?user_id=${member.userId}`)).status).toBe(204)
      await as("viewer")
      await other.commit()
      expect(await codeOf(asked)).toEqual([403, "role_required"])
    })
  })

  it("write an answer that its readers see as it comes, and that is charged to a key of the person", async () => {
    const id = await begin()
    const { assistant_message, cursor, user_message } = await chat().ask(id, "Say hello  in\nthree languages")
    expect(user_message).toMatchObject({ role: "user", status: "complete", position: 0, cost: null })
    expect(assistant_message).toMatchObject({ role: "assistant", status: "streaming", position: 1, content: "" })
    const talk = await talker.talk(used++)
    expect(talk.received.body).toMatchObject({
      model: "large",
      messages: [{ role: "user", content: "Say hello  in\nthree languages" }]
    })
    const readers = [
      await new Reader().open(node.url, person, id),
      await new Reader().open(node.url, person, id, cursor)
    ]
    talk.think("Which ones?")
    talk.say("Hello, ")
    for (const reader of readers) await reader.until(({ texts }) => texts.get(assistant_message.id) === "Hello, ")
    talk.say("hola 👋")
    talk.finish()
    await Promise.all(readers.map(({ done }) => done))
    const detail = await chat().read(id)
    expect(detail).toMatchObject({ title: "Say hello in three languages", running: false })
    const answer = detail.messages[1]
    expect(answer).toMatchObject({
      id: assistant_message.id,
      content: "Hello, hola 👋",
      reasoning: "Which ones?",
      status: "complete",
      finish_reason: "stop",
      model_requested: "acme/large",
      model_used: "acme/large",
      error: null
    })
    for (const reader of readers) {
      expect(reader.gaps).toBe(0)
      expect(reader.texts.get(assistant_message.id)).toBe("Hello, hola 👋")
      expect(reader.reasonings.get(assistant_message.id)).toBe("Which ones?")
      expect(reader.named("attempt").map(({ data }) => [data["model"], data["status"]])).toEqual([
        ["acme/large", "running"],
        ["acme/large", "success"]
      ])
      expect(reader.events.slice(-2).map(({ name }) => name)).toEqual(["message", "conversation"])
      expect(reader.events.at(-1)?.data).toMatchObject({ running: false })
    }
    const [request] = answer?.request_ids ?? []
    await expect.poll(async () => (await person.send("GET", `/api/requests/${request}`)).status).toBe(200)
    const logged = await jsonOf<{ readonly cost: object; readonly key_id: string; readonly endpoint: string }>(
      person.send("GET", `/api/requests/${request}`)
    )
    expect(logged).toMatchObject({ cost: answer?.cost, endpoint: "chat" })
    expect(
      await node.run(Effect.flatMap(SqlClient, (sql) => sql`select origin from call where id = ${request ?? ""}`))
    ).toEqual([{ origin: "conversation" }])
    const keys = await jsonOf<{ readonly items: ReadonlyArray<{ readonly id: string; readonly kind: string }> }>(
      person.send("GET", `/api/projects/${project}/keys`)
    )
    expect(keys.items.find((key) => key.id === logged.key_id)?.kind).toBe("dashboard")
  })

  it("go on without any reader, and take one question at a time", async () => {
    const id = await begin()
    await chat().ask(id, "one")
    const talk = await talker.talk(used++)
    expect(await codeOf(person.send("POST", `${root}/${id}/messages`, { content: "two", model: "auto" }))).toEqual([
      409,
      "conversation_running"
    ])
    expect(
      (await jsonOf<{ readonly items: ReadonlyArray<object> }>(person.send("GET", `${root}?running=true`))).items
    ).toMatchObject([{ id, running: true }])
    talk.say("done")
    talk.finish()
    await expect.poll(async () => (await chat().read(id)).running).toBe(false)
    expect((await chat().read(id)).messages.map(({ content }) => content)).toEqual(["one", "done"])
  })

  it("stop at the text that is shown, and keep it", async () => {
    const id = await begin()
    const { assistant_message } = await chat().ask(id, "count")
    const reader = await new Reader().open(node.url, person, id)
    const talk = await talker.talk(used++)
    talk.say("1, 2, 3")
    await reader.until(({ texts }) => texts.get(assistant_message.id) === "1, 2, 3")
    expect(await chat().stop(id)).toMatchObject({ running: false })
    expect(await talk.received.closed).toBe("aborted")
    await reader.done
    const [, answer] = (await chat().read(id)).messages
    expect(answer).toMatchObject({ status: "stopped", content: "1, 2, 3", cost: { basis: "estimated" } })
    expect(answer?.cost?.amount_microusd).toBeGreaterThan(0)
    expect(reader.texts.get(assistant_message.id)).toBe("1, 2, 3")
  })

  it("show why an answer failed, and regenerate it", async () => {
    const id = await begin()
    const failing = await chat().ask(id, "one", { model: "acme/status-500" })
    await expect.poll(async () => (await chat().read(id)).running, { timeout: 20_000 }).toBe(false)
    const [, failed] = (await chat().read(id)).messages
    expect(failed).toMatchObject({ id: failing.assistant_message.id, status: "failed", content: "" })
    expect(failed?.error?.code).toMatch(/./)
    const retried = await jsonOf<Started>(
      person.send("POST", `${root}/${id}/messages/${failing.assistant_message.id}/retry`, { model: "acme/small" }),
      202
    )
    expect(retried.user_message.id).toBe(failing.user_message.id)
    const talk = await talker.talk(used++)
    expect(talk.received.body).toMatchObject({ model: "small", messages: [{ role: "user", content: "one" }] })
    talk.say("ok")
    talk.finish()
    await expect.poll(async () => (await chat().read(id)).running).toBe(false)
    const { messages } = await chat().read(id)
    expect(messages).toMatchObject([
      { content: "one", versions: [] },
      { content: "ok", status: "complete", versions: [{ id: failed?.id, status: "failed" }] }
    ])
  })

  it("edit the last question, and fork at an earlier message", async () => {
    const id = await begin("forked")
    const talkOn = async (question: string, answer: string, settings: object = {}) => {
      const started = await chat().ask(id, question, settings)
      const talk = await talker.talk(used++)
      talk.say(answer)
      talk.finish()
      await expect.poll(async () => (await chat().read(id)).running).toBe(false)
      return started
    }
    const first = await talkOn("q1", "a1")
    const second = await talkOn("q2", "a2", { max_completion_tokens: 77 })
    const edit = (message: string) =>
      person.send("POST", `${root}/${id}/messages/${message}/edit`, { content: "q2b", model: "acme/small" })
    expect(await codeOf(edit(first.user_message.id))).toEqual([400, "invalid_value"])
    expect((await edit(second.user_message.id)).status).toBe(202)
    const talk = await talker.talk(used++)
    // what the request leaves out stays as it was
    expect(talk.received.body).toMatchObject({ model: "small", max_tokens: 77 })
    expect(talk.received.body).not.toHaveProperty("tools")
    expect(talk.received.body["messages"]).toEqual([
      { role: "user", content: "q1" },
      { role: "assistant", content: "a1" },
      { role: "user", content: "q2b" }
    ])
    talk.say("a2b")
    talk.finish()
    await expect.poll(async () => (await chat().read(id)).running).toBe(false)
    expect((await chat().read(id)).messages).toMatchObject([
      { content: "q1" },
      { content: "a1" },
      { content: "q2b", versions: [{ content: "q2" }] },
      { content: "a2b", versions: [{ content: "a2" }] }
    ])
    const fork = await jsonOf<{ readonly id: string }>(
      person.send("POST", `${root}/${id}/fork`, { message_id: first.assistant_message.id }),
      201
    )
    const forked = await jsonOf<Detail>(person.send("GET", `${root}/${fork.id}`))
    expect(forked).toMatchObject({ title: "forked", messages: [{ content: "q1" }, { content: "a1" }] })
    expect(forked.messages.map((message) => message.id)).not.toContain(first.user_message.id)
    // one that ends with a question is gone on with by another wording of it
    const { id: asked } = await jsonOf<{ readonly id: string }>(
      person.send("POST", `${root}/${id}/fork`, { message_id: (await chat().read(id)).messages[2]?.id }),
      201
    )
    const reword = async (index: number) =>
      person.send("POST", `${root}/${asked}/messages/${(await chat().read(asked)).messages[index]?.id}/edit`, {
        content: "q2c",
        model: "acme/large",
        artifacts: false
      })
    expect(await codeOf(reword(0))).toEqual([400, "invalid_value"])
    expect((await reword(2)).status).toBe(202)
    ;(await talker.talk(used++)).finish()
    await expect.poll(async () => (await chat().read(asked)).running).toBe(false)
    expect((await chat().read(asked)).messages).toMatchObject([
      { content: "q1" },
      { content: "a1" },
      { content: "q2c", versions: [{ content: "q2b" }] },
      { role: "assistant", status: "complete", position: 3 }
    ])
  })

  it("have a bound on their text, with questions that were written anew", async () => {
    const id = await begin("long")
    const ask = { content: "x".repeat(1_048_000), model: "acme/unknown" }
    const ended = () => expect.poll(async () => (await chat().read(id)).running).toBe(false)
    const { user_message } = await jsonOf<Started>(person.send("POST", `${root}/${id}/messages`, ask), 202)
    await ended()
    let question = user_message.id
    const edit = () => person.send("POST", `${root}/${id}/messages/${question}/edit`, ask)
    for (let versions = 1; versions < 8; versions++) {
      question = (await jsonOf<Started>(edit(), 202)).user_message.id
      await ended()
    }
    expect(await codeOf(edit())).toEqual([400, "invalid_value"])
    expect(await codeOf(person.send("POST", `${root}/${id}/messages`, ask))).toEqual([400, "invalid_value"])
    expect((await chat().read(id)).messages).toHaveLength(2)
  })

  it("replay the same question with the same Idempotency-Key, and ask it once", async () => {
    const id = await begin()
    const send = () =>
      person.send(
        "POST",
        `${root}/${id}/messages`,
        { content: "once", model: "acme/large", artifacts: false },
        { "idempotency-key": `once ${id}` }
      )
    const [first, again] = [await jsonOf<Started>(send(), 202), await jsonOf<Started>(send(), 202)]
    expect(again).toEqual(first)
    const talk = await talker.talk(used++)
    talk.finish()
    await expect.poll(async () => (await chat().read(id)).running).toBe(false)
    expect((await chat().read(id)).messages).toHaveLength(2)
    expect(talker.talks).toHaveLength(used)
  })

  it("say which values of a setting are allowed", async () => {
    const id = await begin()
    const refused = async (settings: object) => {
      const body = { content: "q", model: "auto", ...settings }
      return jsonOf<{ readonly error: object }>(person.send("POST", `${root}/${id}/messages`, body), 400)
    }
    for (const [settings, param, expected] of [
      [{ alpha: 1.1 }, "alpha", "a number from 0 to 1"],
      [{ temperature: 3 }, "temperature", "a number from 0 to 2"],
      [{ max_completion_tokens: 0 }, "max_completion_tokens", "an integer of at least 1"],
      [{ image_ids: Array.from({ length: 9 }, () => id) }, "image_ids", "at most 8 items"]
    ] as const) {
      expect(await refused(settings)).toMatchObject({
        error: { code: "invalid_value", param, message: `Invalid value for '${param}': Expected ${expected}.` }
      })
    }
  })

  it("write at most four answers for a person at the same time", async () => {
    const five = await Promise.all([1, 2, 3, 4, 5].map(() => begin()))
    for (const id of five.slice(0, 4)) await chat().ask(id, "long")
    const fifth = () =>
      person.send("POST", `${root}/${five[4]}/messages`, { content: "x", model: "acme/large", artifacts: false })
    expect(await codeOf(fifth())).toEqual([429, "rate_limit_exceeded"])
    await chat().stop(five[0] ?? "")
    expect((await fifth()).status).toBe(202)
    for (const id of five) await chat().stop(id)
    used = talker.talks.length
  })

  describe("end for who reads them, within a second or so on every node", () => {
    let other: AccountNode
    beforeAll(async () => {
      other = kind === "embedded" ? node : await service.node()
    }, 60_000)
    afterAll(async () => {
      if (other !== node) await other.stop()
    })
    /** Readers of an answer that goes on, one at each node. */
    const reading = async (writer: Person, reads: Person) => {
      const { id } = await talkOf(writer).create(project)
      const { assistant_message } = await talkOf(writer).ask(id, "long")
      const talk = await talker.talk(used++)
      const readers = [await new Reader().open(node.url, reads, id), await new Reader().open(other.url, reads, id)]
      talk.say("before")
      for (const reader of readers) await reader.until(({ texts }) => texts.get(assistant_message.id) === "before")
      return { id, talk, readers }
    }
    const end = async (readers: ReadonlyArray<Reader>) => {
      const begun = Date.now()
      await Promise.all(readers.map(({ done }) => done))
      // less than the minute after which each reader is looked at, with room for a busy machine
      expect(Date.now() - begun).toBeLessThan(30_000)
      for (const reader of readers) expect(reader.named("conversation")).toEqual([])
    }

    it("when their session is revoked", async () => {
      const link = await jsonOf<{ readonly url: string }>(person.send("POST", "/api/session/links"), 201)
      const signIn = { code: link.url.split("code=")[1], transport: "bearer" }
      const { token } = await jsonOf<{ readonly token: string }>(
        sendTo(node.url, {})("POST", "/api/session", signIn),
        201
      )
      const second = { ...person, token, send: sendTo(node.url, { authorization: `Bearer ${token}` }) }
      const { id, readers, talk } = await reading(person, second)
      const own = await new Reader().open(node.url, person, id)
      expect((await second.send("DELETE", "/api/session")).status).toBe(204)
      await end(readers)
      expect(await codeOf(second.send("GET", `${root}/${id}/events`))).toEqual([401, expect.any(String)])
      // the other session of the person reads on
      talk.say(", after")
      talk.finish()
      await own.done
      expect(own.events.at(-1)?.data).toMatchObject({ running: false })
    })

    it("when the person is no longer a member of the project", async () => {
      const member = await newPerson(node, "a member")
      await jsonOf(
        person.send("POST", `/api/projects/${project}/members`, { user_id: member.userId, role: "member" }),
        201
      )
      const { id, readers, talk } = await reading(member, member)
      expect((await person.send("DELETE", `/api/projects/${project}/members?user_id=${member.userId}`)).status).toBe(
        204
      )
      await end(readers)
      expect(await codeOf(member.send("GET", `${root}/${id}/events`))).toEqual([404, "not_found"])
      talk.finish()
    })
  })

  it("are listed by the last change, in pages, by title and project", async () => {
    const other = await newPerson(node)
    const { id: own } = await jsonOf<{ readonly id: string }>(
      other.send("POST", "/api/me/projects", { name: "own" }),
      201
    )
    const made: Array<string> = []
    for (const title of ["alpha", "beta", "gamma"]) made.push((await talkOf(other).create(own, title)).id)
    await jsonOf(other.send("PATCH", `${root}/${made[0]}`, { title: "alpha two" }))
    const list = (query: string) =>
      jsonOf<{
        readonly items: ReadonlyArray<{ readonly title: string }>
        readonly has_more: boolean
        readonly next_cursor: string | null
      }>(other.send("GET", `${root}?${query}`))
    const first = await list("limit=2")
    expect([first.items.map(({ title }) => title), first.has_more]).toEqual([["alpha two", "gamma"], true])
    const second = await list(`limit=2&cursor=${first.next_cursor}`)
    expect([second.items.map(({ title }) => title), second.has_more, second.next_cursor]).toEqual([
      ["beta"],
      false,
      null
    ])
    expect((await list("q=ALPHA")).items).toMatchObject([{ title: "alpha two" }])
    expect((await list(`project_id=${project}`)).items).toEqual([])
    expect(await codeOf(other.send("GET", `${root}?cursor=nonsense`))).toEqual([400, expect.any(String)])
    expect(await jsonOf(other.send("GET", "/api/chat/projects"))).toMatchObject({
      items: [{ id: own, name: "own" }],
      has_more: false
    })
    expect(await jsonOf(other.send("GET", `/api/chat/models?project_id=${own}&limit=2`))).toEqual({
      items: [
        { id: "auto", provider: "gateway" },
        { id: "acme/large", provider: "acme" }
      ],
      has_more: true,
      next_cursor: expect.any(String)
    })
  })
})
