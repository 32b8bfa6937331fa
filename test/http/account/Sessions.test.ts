import { request as rawRequest } from "node:http"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { derive } from "../../../src/credentials/MasterKey.ts"
import * as SignInProof from "../../../src/identity/sessions/SignInProof.ts"
import {
  codeAtStart,
  databaseKinds,
  newPerson,
  operatorOf,
  type Person,
  sendTo,
  startsNode
} from "../../support/AccountService.ts"
import { masterKey, testKey } from "../../support/Service.ts"

const unauthenticated = {
  error: {
    message:
      "A valid credential is required: for calls a project API key as a bearer token (for Anthropic's Messages also as `x-api-key`), for the account API a session or an identity token, to sign in a code that has not been used or expired.",
    type: "authentication_error",
    param: null,
    code: "invalid_api_key"
  }
}

interface CookieSession {
  readonly cookie: string
  readonly pageToken: string
}

describe.each(databaseKinds)("sessions on %s", (kind) => {
  const node = startsNode(kind)

  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    sendTo(node.url, {})("POST", path, body, headers)

  const cookieSession = async (): Promise<CookieSession> => {
    const response = await post("/api/session", { code: await codeAtStart(node), transport: "cookie" })
    expect(response.status).toBe(201)
    const { csrf_token } = (await response.json()) as { readonly csrf_token: string }
    return { cookie: response.headers.get("set-cookie")?.split(";")[0] ?? "", pageToken: csrf_token }
  }

  it("begin with a code that works once", async () => {
    const code = await codeAtStart(node)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => post("/api/session", { code, transport: "bearer" }))
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401, 401])
    const refused = answers.find(({ status }) => status === 401)
    expect(await refused?.json()).toEqual(unauthenticated)
  })

  it("set a cookie that no script reads, that no other site sends, and that names the port", async () => {
    const response = await post("/api/session", { code: await codeAtStart(node), transport: "cookie" })
    const port = new URL(node.url).port
    expect(response.headers.get("set-cookie")).toMatch(
      new RegExp(`^gateway_session_${port}=mrg_st_[\\w-]{43}; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict$`)
    )
    const body = (await response.json()) as Record<string, string>
    expect(Object.keys(body)).toEqual(["csrf_token", "expires_at"])
    expect(response.headers.get("set-cookie")).not.toContain(body["csrf_token"] ?? "")
  })

  it("take the cookie only together with the page token, and from pages of this origin", async () => {
    const { cookie, pageToken } = await cookieSession()
    const status = async (headers: Readonly<Record<string, string>>) =>
      (await sendTo(node.url, {})("GET", "/api/session", undefined, headers)).status
    expect(await status({ cookie, "x-csrf-token": pageToken })).toBe(200)
    expect(await status({ cookie })).toBe(401)
    expect(await status({ cookie, "x-csrf-token": `${pageToken}x` })).toBe(401)
    expect(await status({ "x-csrf-token": pageToken })).toBe(401)
    expect(await status({ authorization: `Bearer ${cookie.split("=")[1]}` })).toBe(401)
    expect(await status({ cookie, "x-csrf-token": pageToken, authorization: "Bearer x" })).toBe(401)
    // fetch does not let its caller set this header
    const fromSite = (site: string) =>
      new Promise<number | undefined>((resolve, reject) =>
        rawRequest(
          `${node.url}/api/session`,
          { headers: { cookie, "x-csrf-token": pageToken, "sec-fetch-site": site } },
          (response) => {
            response.resume()
            resolve(response.statusCode)
          }
        )
          .on("error", reject)
          .end()
      )
    expect(await fromSite("same-origin")).toBe(200)
    expect(await Promise.all(["same-site", "cross-site", "none"].map(fromSite))).toEqual([401, 401, 401])
  })

  it("end at sign-out, at once and for every copy of the token", async () => {
    const { cookie, pageToken } = await cookieSession()
    const send = sendTo(node.url, { cookie, "x-csrf-token": pageToken })
    expect((await send("GET", "/api/me")).status).toBe(200)
    const out = await send("DELETE", "/api/session")
    expect(out.status).toBe(204)
    expect(out.headers.get("set-cookie")).toContain("Max-Age=0")
    const after = await send("GET", "/api/me")
    expect([after.status, await after.json()]).toEqual([401, unauthenticated])
  })

  it("are listed newest first, by pages, and revoked by their owner only", async () => {
    const [person, stranger] = [await newPerson(node), await newPerson(node)]
    const list = async (query: string) =>
      (await (await person.send("GET", `/api/sessions${query}`)).json()) as {
        readonly items: ReadonlyArray<{ readonly id: string; readonly is_current: boolean }>
        readonly has_more: boolean
        readonly next_cursor: string | null
      }
    for (let more = 0; more < 2; more++) {
      const link = (await (await person.send("POST", "/api/session/links")).json()) as { readonly url: string }
      const code = new URL(link.url).hash.slice("#code=".length)
      expect((await post("/api/session", { code, transport: "bearer" })).status).toBe(201)
    }
    const first = await list("?limit=2")
    expect([first.items.length, first.has_more]).toEqual([2, true])
    const rest = await list(`?limit=2&cursor=${first.next_cursor}`)
    expect([rest.items.length, rest.has_more, rest.next_cursor]).toEqual([1, false, null])
    const ids = [...first.items, ...rest.items].map(({ id }) => id)
    expect(ids).toEqual([...ids].sort().reverse())
    expect(rest.items[0]?.is_current).toBe(true)

    const newest = ids[0] ?? ""
    expect((await stranger.send("DELETE", `/api/sessions/${newest}`)).status).toBe(404)
    expect((await person.send("DELETE", `/api/sessions/${newest}`)).status).toBe(204)
    expect((await person.send("DELETE", `/api/sessions/${newest}`)).status).toBe(404)
    expect((await list("")).items.map(({ id }) => id)).not.toContain(newest)
  })

  it("are not begun by a link of a session that was revoked or has ended", async () => {
    const codeBy = async (send: Person["send"]) => {
      const { url } = (await (await send("POST", "/api/session/links")).json()) as { readonly url: string }
      return new URL(url).hash.slice("#code=".length)
    }
    const enter = (code: string) => post("/api/session", { code, transport: "bearer" })
    const entered = async (code: string) => {
      const { token } = (await (await enter(code)).json()) as { readonly token: string }
      return sendTo(node.url, { authorization: `Bearer ${token}` })
    }
    const person = await newPerson(node)
    const [stolen, own] = [await entered(await codeBy(person.send)), await entered(await codeBy(person.send))]
    const codes = [await codeBy(stolen), await codeBy(own), await codeBy(person.send)] as const
    const { id } = (await (await stolen("GET", "/api/session")).json()) as { readonly id: string }
    expect((await person.send("DELETE", `/api/sessions/${id}`)).status).toBe(204)
    expect((await enter(codes[0])).status).toBe(401)
    expect((await own("DELETE", "/api/session")).status).toBe(204)
    expect((await enter(codes[1])).status).toBe(401)
    await node.run(
      Effect.flatMap(SqlClient, (sql) => sql`update session set expires_at = now() where user_id = ${person.userId}`)
    )
    expect((await enter(codes[2])).status).toBe(401)
  })

  it("are begun by one link for an Idempotency-Key", async () => {
    const person = await newPerson(node)
    const link = (key: string) => person.send("POST", "/api/session/links", undefined, { "idempotency-key": key })
    const [first, again, other] = [await link("one"), await link("one"), await link("other")]
    expect([first.status, again.status, other.status]).toEqual([201, 201, 201])
    expect([first, again, other].map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, "true", null])
    const links = await Promise.all([first, again, other].map(async (each) => JSON.stringify(await each.json())))
    expect(links[1]).toBe(links[0])
    expect(links[2]).not.toBe(links[0])
  })

  it("can be begun by whoever has the master key, once with each proof", async () => {
    const key = derive(Buffer.from(masterKey, "base64"), SignInProof.proofPurpose)
    const link = (proof: string) => post("/api/session/links", undefined, { "x-sign-in-proof": proof })
    const fill = (bytes: Uint8Array) => void crypto.getRandomValues(bytes)
    const proof = SignInProof.make(key, Date.now(), fill)
    const made = await link(proof)
    expect(made.status).toBe(201)
    const { url } = (await made.json()) as { readonly url: string }
    expect(url.startsWith(`${node.url}/dashboard/sign-in#code=`)).toBe(true)
    expect((await link(proof)).status).toBe(401)
    expect((await link(SignInProof.make(key, Date.now() - 61_000, fill))).status).toBe(401)
    expect((await link(SignInProof.make(Buffer.alloc(32), Date.now(), fill))).status).toBe(401)
    expect((await link("")).status).toBe(401)
  })

  it("count nothing on /v1, and project keys nothing here: one 401 for all", async () => {
    const { token } = await operatorOf(node)
    const { cookie, pageToken } = await cookieSession()
    const answers = await Promise.all([
      sendTo(node.url, { authorization: `Bearer ${token}` })("GET", "/v1/models"),
      sendTo(node.url, { cookie, "x-csrf-token": pageToken })("GET", "/v1/models"),
      sendTo(node.url, { authorization: `Bearer ${testKey}` })("GET", "/api/me"),
      sendTo(node.url, { authorization: `Basic ${token}` })("GET", "/api/me"),
      sendTo(node.url, {})("GET", "/api/me"),
      post("/api/session", { code: testKey, transport: "bearer" })
    ])
    for (const answer of answers) {
      expect(answer.status).toBe(401)
      expect(answer.headers.get("www-authenticate")).toBe("Bearer")
      expect(await answer.json()).toEqual(unauthenticated)
    }
    expect((await sendTo(node.url, { authorization: `Bearer ${testKey}` })("GET", "/v1/models")).status).toBe(200)
  })
})
