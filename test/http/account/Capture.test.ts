import { createHash, randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { ProjectSamples } from "../../../src/account/capture/ProjectSamples.ts"
import { Capture } from "../../../src/capture/Capture.ts"
import { Captured } from "../../../src/capture/Captured.ts"
import { CaptureKeys } from "../../../src/capture/CaptureKeys.ts"
import type { NewSample } from "../../../src/capture/CaptureRecords.ts"
import { CaptureStore } from "../../../src/capture/CaptureStore.ts"
import { factsOf } from "../../../src/capture/Facts.ts"
import { encode } from "../../../src/capture/worker/sample.js"
import { CurrentUser } from "../../../src/domain/CurrentUser.ts"
import { KeyId, ProjectId, RequestId } from "../../../src/domain/Ids.ts"
import { exportTo } from "../../../src/sql/transfer/Export.ts"
import type { CaptureSample, CaptureSettings } from "../../../src/wire/account/Capture.ts"
import { observedCall } from "../../capture/Observed.ts"
import { record } from "../../ledger/fixtures.ts"
import {
  databaseKinds,
  newPerson,
  operatorOf,
  type Person,
  sendTo,
  startNode,
  startsNode
} from "../../support/AccountService.ts"
import { withOpenTransaction } from "../../support/OpenTransaction.ts"

type Settings = typeof CaptureSettings.Encoded
type SampleRecord = typeof CaptureSample.Encoded

interface Project {
  readonly id: string
  readonly key: string
  readonly keyId: string
}

describe.each(databaseKinds)("capture on %s", (kind) => {
  const node = startsNode(kind, { SIMULATED_PROVIDERS: "on" })
  let owner: Person
  let operator: Person
  let stranger: Person

  beforeAll(async () => {
    owner = await newPerson(node)
    operator = await operatorOf(node)
    stranger = await newPerson(node)
    await operator.send(
      "POST",
      `/api/admin/accounts/${owner.accountId}/credits`,
      { amount_microusd: 100_000_000, note: "x" },
      { "idempotency-key": "credit" }
    )
  })

  const json = async <A>(answer: Promise<Response>): Promise<A> => (await (await answer).json()) as A
  const newKey = async (project: string) => {
    const made = await json<{ id: string; api_key: string }>(
      owner.send("POST", `/api/projects/${project}/keys`, { name: "one" })
    )
    return { key: made.api_key, keyId: made.id }
  }
  const newProject = async (): Promise<Project> => {
    const { id } = await json<{ id: string }>(owner.send("POST", "/api/me/projects", { name: "collecting" }))
    return { id, ...(await newKey(id)) }
  }
  const settings = (project: string) => json<Settings>(owner.send("GET", `/api/projects/${project}/capture`))
  const change = async (project: string, parts: Partial<Settings> = {}) =>
    json<Settings>(
      owner.send("PUT", `/api/projects/${project}/capture`, {
        enabled: true,
        sampling_rate: 1,
        config_version: (await settings(project)).config_version,
        ...parts
      })
    )
  const chat = (key: string, body: object) =>
    sendTo(node.url, { authorization: `Bearer ${key}` })("POST", "/v1/chat/completions", {
      model: "sim/fast",
      token_doctor: true,
      ...body
    })
  const says = (text: string) => ({ messages: [{ role: "user", content: text }] })
  const called = async (key: string, body: object): Promise<string> => {
    const answer = await chat(key, body)
    expect(answer.status).toBe(200)
    await answer.text()
    return answer.headers.get("x-request-id") ?? ""
  }
  const flushed = () => node.run(Effect.flatMap(Capture, (capture) => capture.flushed))
  const samples = async (project: string): Promise<ReadonlyArray<SampleRecord>> => {
    await flushed()
    return (
      await json<{ items: ReadonlyArray<SampleRecord> }>(
        owner.send("GET", `/api/projects/${project}/capture/samples?limit=100`)
      )
    ).items
  }
  /** An answer has been read before its call is handed over: this waits for the sample. */
  const sample = (id: string) =>
    vi.waitFor(async () => {
      await flushed()
      const answer = await owner.send("GET", `/api/capture/samples/${id}`)
      expect(answer.status).toBe(200)
      return (await answer.json()) as SampleRecord
    }, 10_000)
  /** As another node writes it, which has taken a call and made all of its sample. */
  const writtenLate = (
    project: Project,
    conversation: string,
    id: string,
    capturedAt: Date,
    seal = (_dayKey: Uint8Array, _day: string): Uint8Array => Buffer.alloc(1)
  ) =>
    node.run(
      Effect.gen(function* () {
        const store = yield* CaptureStore
        const projectId = ProjectId.make(project.id)
        const place = { projectId, configVersion: 1, conversation }
        const today = new Date().toISOString().slice(0, 10)
        const day = (yield* store.place(place, 0.5, "named", today, today)) ?? today
        const dayKey = yield* (yield* CaptureKeys).ofDay(projectId, day)
        const sample: NewSample = {
          ...place,
          id: RequestId.make(id),
          day,
          dayKey: dayKey?.sealed ?? Buffer.alloc(0),
          base: null,
          keyId: KeyId.make(project.keyId),
          endUser: null,
          flowAuthorized: false,
          capturedAt,
          expiresAt: new Date("2200-01-01"),
          shared: [],
          sealed: seal(dayKey?.key ?? Buffer.alloc(0), day)
        }
        return yield* store.write(place, [sample])
      })
    )
  /** What is stored of the calls of a project, with the keys. */
  const stored = (project: string) =>
    node.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql`select 'sample' as kind from capture_sample where project_id = ${project}
          union all select 'shared' from capture_shared where project_id = ${project}
          union all select 'conversation' from capture_conversation where project_id = ${project}
          union all select 'day key' from capture_day_key where project_id = ${project}
          union all select 'project key' from capture_project_key where project_id = ${project}`
      )
    )
  const dump = async () => {
    let text = ""
    await node.run(
      exportTo((lines) =>
        Effect.sync(() => {
          text += lines
        })
      )
    )
    return text
  }

  it("keeps a call of an open window whole, and shows it to members", async () => {
    const project = await newProject()
    expect(await settings(project.id)).toMatchObject({
      enabled: false,
      config_version: 0,
      retention_days: 30,
      max_samples: 10_000,
      content: "full",
      samples_stored: 0
    })
    expect((await settings(project.id)).content_warning).toContain("Redaction is not implemented")
    expect(await change(project.id)).toMatchObject({ enabled: true, config_version: 1 })
    const tools = [
      { type: "function", function: { name: "search", description: "finds", parameters: { type: "object" } } }
    ]
    const first = [
      { role: "system", content: "be brief" },
      { role: "user", content: "what is a hold?" }
    ]
    const id = await called(project.key, { messages: first, tools, tool_choice: "none", user: "u-1", temperature: 0.5 })
    const next = [...first, { role: "assistant", content: "money" }, { role: "user", content: "and a settlement?" }]
    const second = await called(project.key, { messages: next, tools, tool_choice: "none", user: "u-1", stream: true })
    // a stream has been read to its end before its sample is handed over
    await expect.poll(async () => (await samples(project.id)).map((one) => one.id)).toEqual([second, id])
    const [one, two] = [await sample(id), await sample(second)]
    expect(one.sample.request).toMatchObject({ messages: first, tools, tools_offered: ["search"] })
    expect(two.sample.request).toMatchObject({ messages: next, tools, params: { stream: true, toolChoice: "none" } })
    expect(two.sample.response?.message).toMatchObject({ role: "assistant", content: expect.stringMatching(/./) })
    expect(two.sample.response?.finish).toBe("stop")
    expect(one.sample).toMatchObject({
      request_id: id,
      endpoint: "chat",
      key_id: project.keyId,
      conversation: two.sample.conversation,
      end_user: two.sample.end_user,
      class: null,
      window: { config_version: 1, sampling_rate: 1, inclusion: 1 },
      candidate_pool: { models: ["sim/fast"] },
      decision: { requested_model: "sim/fast", reason: "pinned_model", alpha: null },
      attempts: [{ model: "sim/fast", status: "success" }],
      truncated: false
    })
    expect(one.sample.end_user).toMatch(/^[0-9a-f]{32}$/)
    expect(one.sample.attempts[0]?.usage).toEqual(one.sample.usage)
    expect(one.sample.usage?.output_tokens).toBeGreaterThan(0)
    expect(two.sample.request.blocks.slice(0, 3).map((block) => block.id)).toEqual(
      one.sample.request.blocks.map((block) => block.id)
    )
    expect(await settings(project.id)).toMatchObject({ samples_stored: 2 })
    const log = await json<{ items: ReadonlyArray<{ action: string }> }>(owner.send("GET", "/api/audit?limit=100"))
    expect(log.items.filter(({ action }) => action === "capture.read")).toHaveLength(2)
  })

  it("keeps what Responses and Messages ask as the gateway understands it", async () => {
    const project = await newProject()
    await change(project.id)
    const send = sendTo(node.url, { authorization: `Bearer ${project.key}` })
    const body = { model: "sim/fast", token_doctor: true }
    const responses = await send("POST", "/v1/responses", { ...body, input: "from Responses" })
    await responses.text()
    const messages = await send("POST", "/v1/messages", {
      ...body,
      max_tokens: 50,
      messages: [{ role: "user", content: "from Messages" }]
    })
    await messages.text()
    expect([responses.status, messages.status]).toEqual([200, 200])
    const kept = await samples(project.id)
    expect(kept.map((one) => one.sample.endpoint).sort()).toEqual(["messages", "responses"])
    for (const {
      id,
      sample: { endpoint }
    } of kept) {
      expect(JSON.stringify((await sample(id)).sample.request.messages)).toContain(
        endpoint === "messages" ? "from Messages" : "from Responses"
      )
    }
  })

  it("leaves no trace of what did not opt in, was switched off meanwhile, or is not to be stored", async () => {
    const project = await newProject()
    const canary = `canary-${project.id}`
    await called(project.key, says(canary))
    await change(project.id)
    await called(project.key, { ...says(canary), token_doctor: false })
    await called(project.key, { ...says(canary), store: false })
    // goes on until it is stopped
    const running = await chat(project.key, { ...says(canary), model: "sim/stall-mid", stream: true })
    await change(project.id, { enabled: false })
    const call = running.headers.get("x-request-id")
    expect((await owner.send("POST", `/api/projects/${project.id}/in-flight/${call}/stop`)).status).toBe(202)
    expect(await running.text()).toContain(`"code":"call_stopped"`)
    await called(project.key, says(canary))
    expect(await samples(project.id)).toEqual([])
    const rows = await node.run(
      Effect.flatMap(SqlClient, (sql) => sql`select 1 from capture_sample where project_id = ${project.id}`)
    )
    expect(rows).toEqual([])
    expect(await dump()).not.toContain(canary)
  })

  it("stores nothing readable: the dump of a kept call does not have its text", async () => {
    const project = await newProject()
    await change(project.id)
    const canary = `canary-${project.id}`
    const id = await called(project.key, { ...says(canary), user: `user-${canary}` })
    await flushed()
    expect(JSON.stringify(await sample(id))).toContain(canary)
    const text = await dump()
    expect(text).toContain(id)
    expect(text).not.toContain(canary)
    expect(text).not.toContain(Buffer.from(canary).toString("hex"))
  })

  it("keeps no media, no encrypted reasoning and no signature", async () => {
    const project = await newProject()
    await change(project.id, { replay_allowed: true })
    const png = Buffer.alloc(40)
    png.writeUInt32BE(0x89504e47, 0)
    png.writeUInt32BE(640, 16)
    png.writeUInt32BE(480, 20)
    const data = png.toString("base64")
    const id = await called(project.key, {
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }
          ]
        },
        {
          role: "assistant",
          content: "seen",
          reasoning_details: [
            { type: "reasoning.encrypted", data: "secret-reason", signature: "secret-signature", format: "sim/fast" }
          ]
        },
        { role: "user", content: "go on" }
      ]
    })
    await flushed()
    const kept = await sample(id)
    const text = JSON.stringify(kept)
    for (const never of [data, "secret-reason", "secret-signature"]) expect(text).not.toContain(never)
    expect(text).toContain("omitted:13")
    expect(kept.sample.request.media).toMatchObject([
      { type: "image", media_type: "image/png", bytes: 40, pixels: { width: 640, height: 480 } }
    ])
    expect(kept.flow_authorized).toBe(false)
    const plain = await called(project.key, says("only text"))
    await flushed()
    expect((await sample(plain)).flow_authorized).toBe(true)
  })

  it("erases calls that were taken and wait to be written", async () => {
    for (const target of ["project", "key"] as const) {
      const project = await newProject()
      await change(project.id)
      await Promise.all(Array.from({ length: 30 }, (_, nth) => called(project.key, says(`question ${nth}`))))
      await owner.send("POST", `/api/projects/${project.id}/capture/erase`, {
        target,
        ...(target === "key" ? { key_id: project.keyId } : {})
      })
      expect(await samples(project.id)).toEqual([])
    }
  })

  it("erases nothing for a member who was removed while it waited for calls to be written", async () => {
    const project = await newProject()
    await change(project.id)
    const id = await called(project.key, says("stored"))
    await sample(id)
    const members = `/api/projects/${project.id}/members`
    expect((await owner.send("POST", members, { user_id: stranger.userId, role: "member" })).status).toBe(201)
    const removesMember = Layer.effect(
      Capture,
      Effect.map(Capture, (capture) => ({
        ...capture,
        flushed: Effect.asVoid(Effect.promise(() => owner.send("DELETE", `${members}?user_id=${stranger.userId}`)))
      }))
    )
    const { accountId, userId } = stranger
    const refused = await node.run(
      Effect.flatMap(ProjectSamples, (samples) =>
        Effect.flip(samples.erase(ProjectId.make(project.id), { _tag: "Project" }))
      ).pipe(
        Effect.provide(Layer.provide(ProjectSamples.layer, removesMember)),
        Effect.provideService(CurrentUser, {
          userId,
          accountId,
          isOperator: false,
          sessionId: null,
          transport: "bearer",
          address: "127.0.0.1",
          requestId: RequestId.make(randomUUID())
        })
      )
    )
    expect(refused).toMatchObject({ _tag: "NotFound" })
    expect((await samples(project.id)).map((one) => one.id)).toEqual([id])
  })

  it("drops what began before an erasure and waits to be written on another node", async () => {
    const project = await newProject()
    await change(project.id)
    const { conversation } = (await sample(await called(project.key, { ...says("stored"), user: "anna" }))).sample
    const waiting = (id: string, capturedAt: Date) => writtenLate(project, conversation, id, capturedAt)
    for (const [nth, target] of [
      { target: "key", key_id: project.keyId },
      { target: "end_user", end_user: "anna" },
      { target: "conversation", conversation },
      { target: "project" }
    ].entries()) {
      const before = new Date()
      await owner.send("POST", `/api/projects/${project.id}/capture/erase`, target)
      const late = await waiting(randomUUID(), new Date(before.getTime() - 1))
      expect([nth, late]).toEqual([nth, { isOpen: true, erased: 1, written: new Set() }])
      const id = randomUUID()
      const { erased, written } = await waiting(id, new Date(Date.now() + 1))
      expect([erased, [...written]]).toEqual([0, [id]])
    }
    expect((await settings(project.id)).config_version).toBe(1)
  })

  it("keeps nothing of calls that end or wait to be written when their project is deleted, and makes no new keys", async () => {
    const project = await newProject()
    await change(project.id)
    const { conversation } = (await sample(await called(project.key, says("stored")))).sample
    await Promise.all(Array.from({ length: 30 }, (_, nth) => called(project.key, says(`question ${nth}`))))
    await owner.send("POST", `/api/keys/${project.keyId}/revoke`)
    expect((await owner.send("DELETE", `/api/projects/${project.id}`)).status).toBe(204)
    const late = await writtenLate(project, conversation, randomUUID(), new Date(Date.now() + 1))
    expect(late).toEqual({ isOpen: false, erased: 0, written: new Set() })
    await flushed()
    // a key that was made during the deletion has nothing under it, and goes with what has expired
    await node.run(Effect.flatMap(CaptureStore, (store) => store.deleteExpired(new Date(), 100)))
    expect(await stored(project.id)).toEqual([])
  })

  it.skipIf(kind === "embedded")("waits with a write for the deletion of the project, and then drops it", async () => {
    const project = await newProject()
    await change(project.id)
    await sample(await called(project.key, says("stored")))
    await owner.send("POST", `/api/keys/${project.keyId}/revoke`)
    await withOpenTransaction(node.env.DATABASE_URL, async (other) => {
      // the deletion stops here, when everything else is deleted
      await other.query("select from capture_conversation where project_id = $1 for update", [project.id])
      const deleted = owner.send("DELETE", `/api/projects/${project.id}`)
      await other.holdsBack(deleted)
      const place = { projectId: ProjectId.make(project.id), configVersion: 1 }
      const write = node.run(Effect.flatMap(CaptureStore, (store) => store.write(place, [])))
      await other.holdsBack(deleted, write)
      await other.commit()
      expect((await deleted).status).toBe(204)
      expect((await write).isOpen).toBe(false)
    })
    expect(await stored(project.id)).toEqual([])
  })

  it("keeps no text where fingerprints are wanted, but tells blocks apart", async () => {
    const project = await newProject()
    await change(project.id, { content: "fingerprint" })
    const texts = ["2026-01-01T10:00:00Z", "2026-01-02T11:30:00Z"]
    const ids = []
    for (const time of texts) {
      ids.push(
        await called(project.key, {
          messages: [
            { role: "system", content: `now ${time}` },
            { role: "user", content: "the same" }
          ]
        })
      )
    }
    await flushed()
    const [one, two] = await Promise.all(ids.map(sample))
    expect(one?.sample.request.messages).toBeNull()
    expect(one?.sample.response?.message).toBeNull()
    const [a, b] = [one, two].map((found) => found?.sample.request.blocks ?? [])
    expect(a?.map((block) => block.kind)).toEqual(["system", "user"])
    expect(a?.[0]?.id).not.toBe(b?.[0]?.id)
    expect(a?.[0]?.canonical_id).toBe(b?.[0]?.canonical_id)
    expect(a?.[1]?.id).toBe(b?.[1]?.id)
  })

  it("shows no text of parameters in a list, nor in a fingerprint of an earlier version", async () => {
    const project = await newProject()
    await change(project.id)
    const secret = "Jane Roe"
    const fields = { ...says("hello"), stop: [secret] }
    const full = await called(project.key, fields)
    expect((await sample(full)).sample.request.params).toMatchObject({ stop: [secret] })
    const request = observedCall({ stop: [secret] }).request
    const error = { code: "invalid_value", message: `Invalid content: '${secret}'` }
    const earlier = randomUUID()
    const facts = { ...factsOf(record({ status: "error", error }), request, null) }
    await writtenLate(project, "ab".repeat(16), earlier, new Date(), (dayKey, day) => {
      const prompt = { messages: request.messages, tools: [] }
      const rest = { content: "fingerprint", body: undefined, answer: null } as const
      return encode({ id: earlier, project: project.id, day, dayKey, facts, prompt, ...rest }, null).sealed
    })
    const listed = await samples(project.id)
    expect(listed.map(({ id }) => id).sort()).toEqual([earlier, full].sort())
    expect(JSON.stringify(listed)).not.toContain(secret)
    expect(listed.map((one) => one.sample.request.params)).toMatchObject([{ stopCount: 1 }, { stopCount: 1 }])
    const read = (await sample(earlier)).sample
    expect(read).toMatchObject({
      error: { code: "invalid_value", message: null },
      request: { params: { stopCount: 1 } }
    })
    expect(JSON.stringify(read)).not.toContain(secret)
  })

  it("sends the version of the settings as a tag, and refuses a change with the tag of another", async () => {
    const project = await newProject()
    const path = `/api/projects/${project.id}/capture`
    const put = (ifMatch: string, config_version: number) =>
      owner.send("PUT", path, { enabled: true, sampling_rate: 1, config_version }, { "if-match": ifMatch })
    const unset = (await owner.send("GET", path)).headers.get("etag") ?? ""
    expect(unset).toMatch(/^"[^"]+"$/)
    const first = await put(unset, 0)
    expect(first.status).toBe(200)
    const stale = await put(unset, 1)
    expect([stale.status, await stale.json()]).toMatchObject([412, { error: { code: "version_mismatch" } }])
    expect(await settings(project.id)).toMatchObject({ config_version: 1 })
    await called(project.key, says("a sample is no new version"))
    expect((await owner.send("GET", path)).headers.get("etag")).toBe(first.headers.get("etag"))
    expect((await put(first.headers.get("etag") ?? "", 1)).status).toBe(200)
  })

  it.runIf(kind === "PostgreSQL")(
    "can be changed while a row that refers to the project is being written",
    async () => {
      const project = await newProject()
      const changed = node.run(
        Effect.flatMap(SqlClient, (sql) =>
          sql.withTransaction(
            Effect.zipRight(
              // as a foreign key locks it
              sql`select from project where id = ${project.id} for key share`,
              Effect.promise(() => change(project.id))
            )
          )
        )
      )
      expect(await changed).toMatchObject({ config_version: 1 })
    }
  )

  it("refuses a change that is meant for another version, and opens a window at each", async () => {
    const project = await newProject()
    await change(project.id)
    const stale = await owner.send("PUT", `/api/projects/${project.id}/capture`, {
      enabled: false,
      sampling_rate: 1,
      config_version: 0
    })
    expect([stale.status, await stale.json()]).toMatchObject([409, { error: { code: "config_version_mismatch" } }])
    expect(await change(project.id, { max_samples: 5 })).toMatchObject({
      config_version: 2,
      max_samples: 5,
      enabled: true
    })
  })

  it("shows nothing to others: neither a stranger nor an operator nor a project key", async () => {
    const project = await newProject()
    await change(project.id)
    const id = await called(project.key, says("theirs"))
    await flushed()
    for (const person of [stranger, operator]) {
      for (const [method, path] of [
        ["GET", `/api/projects/${project.id}/capture`],
        ["GET", `/api/projects/${project.id}/capture/samples`],
        ["GET", `/api/projects/${project.id}/capture/export`],
        ["GET", `/api/capture/samples/${id}`],
        ["DELETE", `/api/capture/samples/${id}`]
      ] as const) {
        expect((await person.send(method, path)).status).toBe(404)
      }
    }
    const asKey = sendTo(node.url, { authorization: `Bearer ${project.key}` })
    expect((await asKey("GET", `/api/capture/samples/${id}`)).status).toBe(401)
    expect((await sample(id)).id).toBe(id)
  })

  it("gives equal texts of two projects nothing in common", async () => {
    const ids: Array<string> = []
    for (const project of [await newProject(), await newProject()]) {
      await change(project.id)
      const id = await called(project.key, { ...says("the very same"), user: "the same user" })
      await flushed()
      const { sample: found } = await sample(id)
      ids.push(found.conversation, found.end_user ?? "", ...found.request.blocks.map((block) => block.id))
      ids.push(...found.request.blocks.map((block) => block.canonical_id))
    }
    expect(new Set(ids).size).toBe(ids.length)
  })

  it("erases by key, end user, conversation, sample and project, and leaves the others as they were", async () => {
    const project = await newProject()
    await change(project.id)
    const other = await newKey(project.id)
    const system = { role: "system", content: "the instructions of everybody ".repeat(40) }
    const talk = async (key: string, user: string, cacheKey: string, turns: ReadonlyArray<string>) => {
      const messages: Array<object> = [system]
      const ids = []
      for (const turn of turns) {
        messages.push({ role: "user", content: turn })
        ids.push(await called(key, { messages: [...messages], user, prompt_cache_key: cacheKey }))
        messages.push({ role: "assistant", content: `answer to ${turn}` })
      }
      return ids
    }
    const shared = await talk(project.key, "anna", "c1", ["one", "two"])
    const ofOther = await talk(other.key, "anna", "c1", ["one", "secret three"])
    const again = await talk(project.key, "anna", "c1", ["one", "two", "four"])
    const ofBert = await talk(project.key, "bert", "c2", ["five"])
    const ofCarl = await talk(project.key, "carl", "c3", ["six"])
    const ofDora = await talk(project.key, "dora", "c4", ["seven", "eight"])
    await flushed()
    const all = [...shared, ...ofOther, ...again, ...ofBert, ...ofCarl, ...ofDora]
    const before = new Map(await Promise.all(all.map(async (id) => [id, JSON.stringify(await sample(id))] as const)))
    const gone = new Set<string>()
    const erase = async (body: object) =>
      (await json<{ erased: number }>(owner.send("POST", `/api/projects/${project.id}/capture/erase`, body))).erased
    const check = async () => {
      for (const id of all) {
        const answer = await owner.send("GET", `/api/capture/samples/${id}`)
        if (gone.has(id)) expect(answer.status).toBe(404)
        else expect(await answer.text()).toBe(before.get(id))
      }
    }
    await check()
    expect(await erase({ target: "key", key_id: other.keyId })).toBe(2)
    for (const id of ofOther) gone.add(id)
    await check()
    expect(await erase({ target: "end_user", end_user: "bert" })).toBe(1)
    for (const id of ofBert) gone.add(id)
    await check()
    const { conversation } = (await sample(ofCarl[0] ?? "")).sample
    expect(await erase({ target: "conversation", conversation })).toBe(1)
    for (const id of ofCarl) gone.add(id)
    await check()
    expect((await owner.send("DELETE", `/api/capture/samples/${ofDora[0]}`)).status).toBe(204)
    gone.add(ofDora[0] ?? "")
    await check()
    const later = await called(project.key, {
      messages: [system, { role: "user", content: "seven" }],
      prompt_cache_key: "c4"
    })
    await flushed()
    expect((await sample(later)).sample.request.messages).toEqual([system, { role: "user", content: "seven" }])
    expect(await erase({ target: "project" })).toBe(all.length - gone.size + 1)
    const { items: log } = await json<{
      items: ReadonlyArray<{ action: string; target_id: string; before: object | null }>
    }>(owner.send("GET", "/api/audit?limit=100"))
    const erasures = log.filter(({ action, target_id }) => action === "capture.erase" && target_id === project.id)
    expect(erasures.map(({ before }) => before)).toEqual([
      { target: "project" },
      { target: "conversation", conversation },
      { target: "end_user" },
      { target: "key", key_id: other.keyId }
    ])
    for (const id of all) gone.add(id)
    await check()
    const rows = await node.run(
      Effect.flatMap(
        SqlClient,
        (sql) => sql`select 1 from capture_shared where project_id = ${project.id}
          union all select 1 from capture_day_key where project_id = ${project.id}
          union all select 1 from capture_project_key where project_id = ${project.id}`
      )
    )
    expect(rows).toEqual([])
    const afterwards = await called(project.key, says("a new start"))
    await flushed()
    expect((await sample(afterwards)).sample.request.messages).toEqual([{ role: "user", content: "a new start" }])
  })

  it("goes on with a conversation whose newest sample was erased", async () => {
    const project = await newProject()
    await change(project.id)
    const messages: Array<object> = []
    const ids: Array<string> = []
    for (const turn of ["one", "two", "three", "four"]) {
      messages.push({ role: "user", content: turn })
      const id = await called(project.key, { messages: [...messages], prompt_cache_key: "c1" })
      expect((await sample(id)).sample.request.messages).toEqual(messages)
      if (turn === "two") expect((await owner.send("DELETE", `/api/capture/samples/${id}`)).status).toBe(204)
      else ids.unshift(id)
    }
    expect((await samples(project.id)).map((one) => one.id)).toEqual(ids)
  })

  it("erases by whatever a request may have as `user`", async () => {
    const project = await newProject()
    await change(project.id)
    for (const user of ["", " ", "é\0\ud83d", "u".repeat(513), "👋".repeat(100_000)]) {
      await sample(await called(project.key, { ...says("hello"), user }))
      expect(
        await json(
          owner.send("POST", `/api/projects/${project.id}/capture/erase`, { target: "end_user", end_user: user })
        )
      ).toEqual({ erased: 1 })
    }
    expect(await samples(project.id)).toEqual([])
  })

  it.skipIf(kind === "embedded")(
    "is 503 on a node that cannot open it, which then neither hides nor erases what it cannot read",
    async () => {
      const project = await newProject()
      await change(project.id)
      const talk = (text: string) => called(project.key, { ...says(text), user: "anna", prompt_cache_key: "c1" })
      const ids = [await talk("one"), await talk("two")]
      for (const id of ids) await sample(id)
      const of = `/api/projects/${project.id}/capture`
      for (const masterKey of [Buffer.alloc(32, 9).toString("base64"), ""]) {
        const blind = await startNode({ ...node.env, SIMULATED_PROVIDERS: "on", GATEWAY_MASTER_KEY: masterKey })
        try {
          const send = sendTo(blind.url, { authorization: `Bearer ${owner.token}` })
          for (const [method, path, body] of [
            ["PUT", of, { enabled: true, sampling_rate: 1, config_version: 1 }],
            ["GET", `${of}/samples`],
            ["GET", `${of}/export`],
            ["GET", `/api/capture/samples/${ids[0]}`],
            ["DELETE", `/api/capture/samples/${ids[0]}`],
            ["POST", `${of}/erase`, { target: "end_user", end_user: "anna" }],
            ["POST", `${of}/erase`, { target: "key", key_id: project.keyId }]
          ] as const) {
            const answer = await send(method, path, body)
            expect([method, path, answer.status]).toEqual([method, path, 503])
            expect(await answer.json()).toMatchObject({
              error: { code: "sealing_unavailable", message: expect.stringContaining("GATEWAY_MASTER_KEY") }
            })
          }
          for (const id of ids) await sample(id)
          if (masterKey !== "") continue
          // everything can be erased unread
          expect(await json(send("POST", `${of}/erase`, { target: "project" }))).toEqual({ erased: 2 })
          expect((await send("GET", `${of}/samples`)).status).toBe(200)
        } finally {
          await blind.stop()
        }
      }
    }
  )

  it("exports every sample with a count and a checksum at the end", async () => {
    const project = await newProject()
    await change(project.id)
    const ids = [await called(project.key, says("a")), await called(project.key, says("b"))]
    await flushed()
    const text = await (await owner.send("GET", `/api/projects/${project.id}/capture/export`)).text()
    const lines = text.split("\n").filter((line) => line !== "")
    const end = JSON.parse(lines.pop() ?? "") as object
    const body = lines.map((line) => `${line}\n`).join("")
    expect(end).toEqual({ count: 2, sha256: createHash("sha256").update(body).digest("hex") })
    const exported = lines.map((line) => JSON.parse(line) as SampleRecord)
    expect(exported.map((one) => one.id).sort()).toEqual([...ids].sort())
    for (const one of exported) expect(one).toEqual(await sample(one.id))
  })

  it("says how probable it was that a conversation is among the first that are read", async () => {
    const project = await newProject()
    await change(project.id)
    for (let at = 0; at < 3; at++) await sample(await called(project.key, says(`conversation ${at}`)))
    const first = (max: number) =>
      node.run(
        Effect.flatMap(Captured, (captured) =>
          captured.conversations(ProjectId.make(project.id), { from: new Date(0), to: new Date("2200-01-01"), max })
        )
      )
    const all = await first(3)
    expect(all.map(({ inclusion }) => inclusion)).toEqual([1, 1, 1])
    const cut = all[2]?.position
    expect((await first(2)).map(({ inclusion }) => inclusion)).toEqual([cut, cut])
  })

  it("keeps at most max_samples", async () => {
    const project = await newProject()
    await change(project.id, { max_samples: 3 })
    for (let at = 0; at < 8; at++) await called(project.key, says(`conversation ${at}`))
    const kept = await samples(project.id)
    expect(kept).toHaveLength(3)
    for (const one of kept) expect(one.sample.window.inclusion).toBeLessThan(1)
  })
})
