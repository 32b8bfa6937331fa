import { beforeAll, describe, expect, it } from "vitest"
import {
  codeAtStart,
  databaseKinds,
  newPerson,
  operatorOf,
  type Person,
  sendTo,
  startsNode
} from "../../support/AccountService.ts"
import { readStream } from "../../support/EventStream.ts"

interface KeyRecord {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly spent_microusd: number
}

const message = { model: "sim/fast", messages: [{ role: "user", content: "Say hello" }] }

describe.each(databaseKinds)("chat completions of a person, on %s", (kind) => {
  const node = startsNode(kind, { SIMULATED_PROVIDERS: "on" })
  let owner: Person
  let path = ""
  let projectId = ""

  beforeAll(async () => {
    owner = await operatorOf(node)
    const me = (await (await owner.send("GET", "/api/me")).json()) as { readonly default_project_id: string }
    projectId = me.default_project_id
    path = `/api/projects/${projectId}/chat/completions`
  })

  const keysOfPersons = async () => {
    const { items } = (await (await owner.send("GET", `/api/projects/${projectId}/keys`)).json()) as {
      readonly items: ReadonlyArray<KeyRecord>
    }
    return items.filter((key) => key.kind === "dashboard")
  }

  it("are answered like those of a key, and count by one key of the person's own", async () => {
    const answers = await Promise.all([1, 2, 3].map(() => owner.send("POST", path, { ...message, stream: true })))
    const streams = await Promise.all(answers.map(readStream))
    expect(streams.map(({ content, isDone }) => [isDone, content.length > 0])).toEqual(
      [1, 2, 3].map(() => [true, true])
    )
    const plain = await owner.send("POST", path, message)
    expect(plain.status).toBe(200)
    const metadata = (
      (await plain.json()) as { router_metadata: { request_id: string; cost: { amount_microusd: number } } }
    ).router_metadata
    const keys = await keysOfPersons()
    expect(keys.map(({ name }) => name)).toEqual(["Chat of owner"])
    // a settlement is written with a batch, shortly after its answer
    await expect.poll(async () => (await keysOfPersons())[0]?.spent_microusd).toBe(4 * metadata.cost.amount_microusd)
    const logged = await owner.send("GET", `/api/requests/${metadata.request_id}`)
    expect(await logged.json()).toMatchObject({ key_id: keys[0]?.id, endpoint: "chat", status: "success" })
  })

  it("are run once for an Idempotency-Key, whichever session of the person sends them", async () => {
    const link = (await (await owner.send("POST", "/api/session/links")).json()) as { readonly url: string }
    const signIn = { code: link.url.split("code=")[1], transport: "bearer" }
    const session = await sendTo(node.url, {})("POST", "/api/session", signIn)
    const { token } = (await session.json()) as { readonly token: string }
    const once = { "idempotency-key": "one question" }
    const first = await owner.send("POST", path, message, once)
    const again = await sendTo(node.url, { authorization: `Bearer ${token}` })("POST", path, message, once)
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"])
    expect(await again.text()).toBe(await first.text())
  })

  it("are refused by the limit of that key, and when it is switched off", async () => {
    const [key] = await keysOfPersons()
    const of = `/api/keys/${key?.id}`
    await owner.send("PATCH", of, { spend_limit_microusd: 0 })
    const refused = await owner.send("POST", path, message)
    expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
      402,
      "spend_limit_exceeded"
    ])
    await owner.send("PATCH", of, { spend_limit_microusd: null, is_active: false })
    const off = await owner.send("POST", path, message)
    expect([off.status, ((await off.json()) as { error: { code: string } }).error.code]).toEqual([403, "role_required"])
    await owner.send("PATCH", of, { is_active: true })

    await owner.send("POST", `${of}/revoke`)
    // what is permanent says how a person comes to another one
    const revoked = await owner.send("POST", path, message)
    expect([revoked.status, await revoked.json()]).toMatchObject([
      403,
      { error: { code: "role_required", message: expect.stringContaining("or delete it") } }
    ])
    expect((await owner.send("DELETE", of)).status).toBe(204)
    expect((await owner.send("POST", path, message)).status).toBe(200)
    const made = await keysOfPersons()
    expect([made.length, made[0]?.id === key?.id]).toEqual([1, false])
  })

  it("need no secret, and that key never gets one", async () => {
    const [key] = await keysOfPersons()
    const rotated = await owner.send("POST", `/api/keys/${key?.id}/rotate`, {})
    expect([rotated.status, ((await rotated.json()) as { error: { param: string } }).error.param]).toEqual([400, "id"])
  })

  it("are for members of the project alone, each by a key of their own", async () => {
    const stranger = await newPerson(node)
    const hidden = await stranger.send("POST", path, message)
    expect([hidden.status, ((await hidden.json()) as { error: { code: string } }).error.code]).toEqual([
      404,
      "not_found"
    ])
    const viewer = await newPerson(node, "a viewer")
    await owner.send("POST", `/api/projects/${projectId}/members`, { user_id: viewer.userId, role: "viewer" })
    expect((await viewer.send("POST", path, message)).status).toBe(403)
    const member = await newPerson(node, "Ada")
    await owner.send("POST", `/api/projects/${projectId}/members`, { user_id: member.userId, role: "member" })
    expect((await member.send("POST", path, message)).status).toBe(200)
    expect((await keysOfPersons()).map(({ name }) => name).sort()).toEqual(["Chat of Ada", "Chat of owner"])
  })

  it("are refused without an identity, and to a cookie without its page token", async () => {
    const send = sendTo(node.url, {})
    expect((await send("POST", path, message)).status).toBe(401)
    const entered = await send("POST", "/api/session", { code: await codeAtStart(node), transport: "cookie" })
    const cookie = entered.headers.getSetCookie()[0]?.split(";")[0] ?? ""
    const { csrf_token } = (await entered.json()) as { readonly csrf_token: string }
    expect((await send("POST", path, message, { cookie })).status).toBe(401)
    expect((await send("POST", path, message, { cookie, "x-csrf-token": csrf_token })).status).toBe(200)
    const crossSite = { cookie, "x-csrf-token": csrf_token, "sec-fetch-site": "same-site" }
    expect((await send("POST", path, message, crossSite)).status).toBe(401)
  })

  it("are found in no project that is not one, and read by no other method", async () => {
    expect((await owner.send("POST", "/api/projects/none/chat/completions", message)).status).toBe(404)
    expect((await owner.send("GET", path)).status).toBe(400)
  })
})
