import { type IncomingMessage, request as requestTo } from "node:http"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { beforeEach, describe, expect, it } from "vitest"
import { codeAtStart, databaseKinds, operatorOf, type Person, startsNode } from "../../support/AccountService.ts"
import { jsonOf } from "../../support/Responses.ts"

/** As of a client that sends slowly: the node has authenticated the request by then. */
const lateMillis = 400

/** The head of a request and the first byte of its body; `answered` sends the others, and is the response; `rest` is its status. */
const begun = async (url: string, headers: Readonly<Record<string, string>>, body: string) => {
  const request = requestTo(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers, "content-length": String(body.length) }
  })
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    request.on("error", reject)
    request.on("response", resolve)
  })
  request.write(body.slice(0, 1))
  await sleep(lateMillis)
  const answered = async () => {
    request.end(body.slice(1))
    const received = await response
    return { status: received.statusCode, body: await text(received) }
  }
  return { answered, rest: async () => (await answered()).status }
}

const question = { messages: [{ role: "user", content: "Hi" }] }
const call = JSON.stringify({ model: "auto", ...question })

describe.each(databaseKinds)("a request whose body comes late on %s", (kind) => {
  const node = startsNode(kind)
  let person: Person
  let bearer: Readonly<Record<string, string>>
  let project: string
  let key: { readonly id: string; readonly api_key: string }
  beforeEach(async () => {
    person = await operatorOf(node)
    bearer = { authorization: `Bearer ${person.token}` }
    project = (
      await jsonOf<{ readonly id: string }>(await person.send("POST", "/api/me/projects", { name: "of this test" }))
    ).id
    key = await jsonOf(await person.send("POST", `/api/projects/${project}/keys`, { name: "of this test" }))
  })

  it.each([
    ["/v1/chat/completions", call, 200],
    ["/v1/messages/count_tokens", call, 200],
    ["/v1/route", call, 200]
  ])("is refused at %s where its key has been revoked meanwhile", async (path, body, status) => {
    const send = () => begun(`${node.url}${path}`, { authorization: `Bearer ${key.api_key}` }, body)
    expect(await (await send()).rest()).toBe(status)
    const late = await send()
    expect((await person.send("POST", `/api/keys/${key.id}/revoke`)).status).toBe(200)
    expect(await late.rest()).toBe(401)
  })

  it.each(["/v1/chat/completions", "/v1/route"])("is answered at %s for its project as it is by then", async (path) => {
    const authorization = `Bearer ${key.api_key}`
    const body = JSON.stringify({ model: "sim/fast", ...question })
    const credential = { provider: "openai", label: "of another provider", secret: "sk-of-this-test" }
    expect((await person.send("POST", `/api/projects/${project}/credentials`, credential)).status).toBe(201)
    const asNow = async () => {
      const headers = { authorization, "content-type": "application/json" }
      const response = await fetch(`${node.url}${path}`, { method: "POST", headers, body })
      return { status: response.status, body: await response.text() }
    }
    /** A preview names no candidate where a call is refused. */
    const isServed = (answer: { readonly status: number | undefined; readonly body: string }) =>
      answer.status === 200 && !answer.body.includes(`"candidates":[]`)
    const before = await asNow()
    const late = await begun(`${node.url}${path}`, { authorization }, body)
    const mode = await person.send("PUT", `/api/projects/${project}/billing-mode`, { billing_mode: "byok" })
    expect(mode.status).toBe(200)
    expect([before, await late.answered(), await asNow()].map(isServed)).toEqual([true, false, false])
  })

  it.each([
    ["a change", () => "/api/me/projects", JSON.stringify({ name: "late" }), 201],
    ["an image", () => "/api/chat/images?filename=late.png", "no image", 400],
    ["a call", () => `/api/projects/${project}/chat/completions`, call, 200]
  ])("is refused where its session has ended meanwhile, as %s", async (_, path, body, status) => {
    const send = () => begun(`${node.url}${path()}`, bearer, body)
    expect(await (await send()).rest()).toBe(status)
    const late = await send()
    expect((await person.send("DELETE", "/api/session")).status).toBe(204)
    expect(await late.rest()).toBe(401)
  })

  it("needs no identity to sign in, whatever cookie the browser still has", async () => {
    const body = JSON.stringify({ code: await codeAtStart(node), transport: "cookie" })
    const cookie = `gateway_session_${new URL(node.url).port}=mrg_st_${"x".repeat(43)}`
    expect(await (await begun(`${node.url}/api/session`, { cookie }, body)).rest()).toBe(201)
  })
})
