import { randomFillSync } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { AuditStore } from "../../../src/audit/AuditStore.ts"
import { derive } from "../../../src/credentials/MasterKey.ts"
import { AccountId } from "../../../src/domain/Ids.ts"
import { flowOf, mintSecret } from "../../../src/identity/oidc/SignInFlow.ts"
import * as SignInProof from "../../../src/identity/sessions/SignInProof.ts"
import { Scopes } from "../../../src/ledger/Scopes.ts"
import {
  type AccountNode,
  codeAtStart,
  databaseKinds,
  newPerson,
  openDatabase,
  sendTo,
  startNode
} from "../../support/AccountService.ts"
import { type Browser, openBrowser } from "../../support/Browser.ts"
import { clientSecret, type OpenIdProvider, startProvider } from "../../support/OpenIdProvider.ts"
import { masterKey } from "../../support/Service.ts"
import { type IssuerKey, keyOf, type StubIssuer, signed, startIssuer } from "../../support/StubIssuer.ts"

interface Me {
  readonly user: { readonly id: string; readonly name: string; readonly issuer: string; readonly subject: string }
  readonly accounts: ReadonlyArray<{ readonly id: string }>
  readonly roles: ReadonlyArray<string>
}

const refusalOf = async (response: Response) => [response.status, await response.text()] as const
const nobody = async (node: AccountNode) => refusalOf(await sendTo(node.url, {})("GET", "/api/me"))

const roles = new Map<string, ReadonlyArray<string>>([["alice", ["people", "operators"]]])

describe.each(databaseKinds)("signing in at an OpenID provider on %s", (kind) => {
  let database: Awaited<ReturnType<typeof openDatabase>>
  let node: AccountNode
  let provider: OpenIdProvider
  let issuer: string
  beforeAll(async () => {
    database = await openDatabase(kind)
    provider = await startProvider("127.0.0.1", (login) => roles.get(login) ?? [])
    issuer = provider.url
    node = await startNode({
      ...database.env,
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: "gateway",
      OIDC_CLIENT_SECRET: clientSecret,
      OIDC_OPERATOR: "roles=operators"
    })
    provider.serve(node.url)
  }, 120_000)
  afterAll(async () => {
    await node.stop()
    await provider.stop()
    await database.close()
  })

  const isCallback = (url: string) => url.startsWith(`${node.url}/api/session/oidc/callback`)
  const isDashboard = (url: string) => url.startsWith(`${node.url}/dashboard/`)
  const formOf = (html: string) => /action="([^"]+)"/.exec(html)?.[1] ?? ""

  /** Up to the redirect back to the gateway, which is not followed. */
  const upToCallback = async (browser: Browser, login: string): Promise<string> => {
    const page = await browser.follow(`${node.url}/api/session/oidc/start`, isCallback)
    // whom the provider knows from before is not asked again
    if (isCallback(page.url)) return page.url
    const consent = await browser.submit(formOf(page.html), { prompt: "login", login, password: "x" }, isCallback)
    return (await browser.submit(formOf(consent.html), { prompt: "consent" }, isCallback)).url
  }
  const signIn = async (login: string) => {
    const browser = openBrowser()
    const { url } = await browser.follow(await upToCallback(browser, login), isDashboard)
    const token = new URLSearchParams(new URL(url).hash.slice(1)).get("csrf_token") ?? ""
    const name = `gateway_session_${new URL(node.url).port}`
    const cookie = `${name}=${browser.cookies.get(name)}`
    return { url, browser, send: sendTo(node.url, { cookie, "x-csrf-token": token }) }
  }
  const meOf = async (send: ReturnType<typeof sendTo>) => (await (await send("GET", "/api/me")).json()) as Me

  it("gives the browser a session, and the person an account of balance 0", async () => {
    const { browser, send, url } = await signIn("alice")
    expect(url).toMatch(/\/dashboard\/sign-in#csrf_token=[\w-]{43}&expires_at=\d{4}-/)
    expect([...browser.cookies.keys()].filter((name) => name.startsWith("gateway"))).toEqual([
      `gateway_session_${new URL(node.url).port}`
    ])
    const me = await meOf(send)
    expect(me).toMatchObject({
      user: { name: "alice by name", issuer, subject: "alice" },
      roles: ["operator"],
      default_project_id: null
    })
    const accountId = AccountId.make(me.accounts[0]?.id ?? "")
    const scope = await node.run(Effect.flatMap(Scopes, (scopes) => scopes.read(accountId)))
    expect(Option.getOrUndefined(scope)).toMatchObject({ kind: "account", limitMicroUsd: 0, spentMicroUsd: 0 })
    const rows = await node.run(Effect.flatMap(AuditStore, (store) => store.chain(accountId, 0, 10)))
    expect(rows.map(({ action, actorUserId }) => [action, actorUserId])).toEqual([
      ["user.create", me.user.id],
      ["session.create", me.user.id]
    ])
    expect((await send("POST", "/api/me/projects", { name: "a project" })).status).toBe(201)
    expect((await send("DELETE", "/api/session")).status).toBe(204)
    expect(await refusalOf(await send("GET", "/api/me"))).toEqual(await nobody(node))
  })

  it("is the same person again, with the rights of the last sign-in in all sessions", async () => {
    const first = await signIn("carol")
    expect((await meOf(first.send)).roles).toEqual([])
    expect((await first.send("GET", "/api/admin/users")).status).toBe(403)
    roles.set("carol", ["operators"])
    const second = await signIn("carol")
    expect((await meOf(second.send)).user.id).toBe((await meOf(first.send)).user.id)
    expect((await meOf(first.send)).roles).toEqual(["operator"])
    roles.delete("carol")
    await signIn("carol")
    expect((await meOf(second.send)).roles).toEqual([])
  })

  it("sends the browser to the provider with a cookie that only this gateway gets", async () => {
    const response = await fetch(`${node.url}/api/session/oidc/start`, { redirect: "manual" })
    expect(response.status).toBe(303)
    expect(response.headers.get("location")?.startsWith(`${issuer}/auth?`)).toBe(true)
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        new RegExp(
          `^gateway_sign_in_${new URL(node.url).port}=[\\w-]{51}; Max-Age=600; Path=/; HttpOnly; SameSite=Lax$`
        )
      )
    ])
    expect(response.headers.get("cache-control")).toBe("no-store")
  })

  it("ends once, at the browser that began", async () => {
    const [browser, other] = [openBrowser(), openBrowser()]
    const callback = await upToCallback(browser, "alice")
    const secret = [...browser.cookies].find(([name]) => name.startsWith("gateway_sign_in"))
    expect(await refusalOf(await other.get(callback))).toEqual(await nobody(node))
    // with a cookie of its own
    await other.get(`${node.url}/api/session/oidc/start`)
    expect(await refusalOf(await other.get(callback))).toEqual(await nobody(node))
    expect((await browser.get(callback)).status).toBe(303)
    browser.cookies.set(...(secret ?? ["", ""]))
    expect(await refusalOf(await browser.get(callback))).toEqual(await nobody(node))
  })

  it("ends in each tab that began, in whatever order they come back", async () => {
    const browser = openBrowser()
    const [first, second] = [await upToCallback(browser, "alice"), await upToCallback(browser, "alice")]
    // as another site could have the browser open it
    const forged = new URL(first)
    forged.searchParams.set("state", "of another site")
    expect(await refusalOf(await browser.get(forged.href))).toEqual(await nobody(node))
    expect((await browser.get(first)).status).toBe(303)
    expect((await browser.get(second)).status).toBe(303)
    expect([...browser.cookies.keys()].filter((name) => name.startsWith("gateway_sign_in"))).toEqual([])
  })

  it("gives up the oldest sign-in of a browser that begins many", async () => {
    const browser = openBrowser()
    const begun: Array<string> = []
    for (let tab = 0; tab < 6; tab += 1) begun.push(await upToCallback(browser, "alice"))
    const answers = []
    for (const callback of begun) answers.push((await browser.get(callback)).status)
    expect(answers).toEqual([401, 401, 303, 303, 303, 303])
  })

  it.each(["state", "code", "iss"])("is refused with another %s", async (name) => {
    const browser = openBrowser()
    const url = new URL(await upToCallback(browser, "alice"))
    url.searchParams.set(name, `${url.searchParams.get(name)}x`)
    expect(await refusalOf(await browser.get(url.href))).toEqual(await nobody(node))
  })

  it("is refused where the person says no", async () => {
    const browser = openBrowser()
    const page = await browser.follow(`${node.url}/api/session/oidc/start`, isCallback)
    const { url } = await browser.follow(`${page.url}/abort`, isCallback)
    expect(new URL(url).searchParams.get("error")).toBe("access_denied")
    expect(await refusalOf(await browser.get(url))).toEqual(await nobody(node))
  })

  it.each(["temporarily_unavailable", "server_error"])(
    "can be tried again where the provider sends %s",
    async (error) => {
      const returned = async (headers: Record<string, string>) => {
        const begun = await fetch(`${node.url}/api/session/oidc/start`, { redirect: "manual" })
        const state = new URL(begun.headers.get("location") ?? "").searchParams.get("state") ?? ""
        const cookie = begun.headers.getSetCookie()[0]?.split(";")[0] ?? ""
        const query = new URLSearchParams({ error, state, iss: issuer })
        return fetch(`${node.url}/api/session/oidc/callback?${query}`, {
          redirect: "manual",
          headers: { cookie, ...headers }
        })
      }
      const page = await returned({ accept: "text/html" })
      expect(page.headers.get("location")).toBe(`${node.url}/dashboard/sign-in#error=unavailable`)
      const script = await returned({})
      expect([script.status, await script.json()]).toMatchObject([503, { error: { type: "server_error" } }])
    }
  )

  it("leads a browser that cannot be signed in to the page where it can try again", async () => {
    const response = await fetch(`${node.url}/api/session/oidc/callback?code=x&state=y`, {
      redirect: "manual",
      headers: { accept: "text/html,application/xhtml+xml" }
    })
    expect([response.status, response.headers.get("location")]).toEqual([
      303,
      `${node.url}/dashboard/sign-in#error=refused`
    ])
  })

  it("turns local sign-in off", async () => {
    expect(await codeAtStart(node)).toBe("")
    const send = sendTo(node.url, {})
    const code = `mrg_sc_${"x".repeat(43)}`
    expect(await refusalOf(await send("POST", "/api/session", { code, transport: "bearer" }))).toEqual(
      await nobody(node)
    )
    const key = derive(Buffer.from(masterKey, "base64"), SignInProof.proofPurpose)
    const proof = SignInProof.make(key, Date.now(), (bytes) => bytes.fill(1))
    const headers = { "x-sign-in-proof": proof }
    expect(await refusalOf(await send("POST", "/api/session/links", undefined, headers))).toEqual(await nobody(node))
    expect((await (await signIn("alice")).send("POST", "/api/session/links")).status).toBe(404)
    // also a session of one who had signed in by a link before
    const { send: before } = await newPerson(node)
    expect(await refusalOf(await before("GET", "/api/me"))).toEqual(await nobody(node))
  })
})

describe.each(databaseKinds)("a token of the identity provider as bearer on %s", (kind) => {
  let database: Awaited<ReturnType<typeof openDatabase>>
  let node: AccountNode
  let issuer: StubIssuer
  let key: IssuerKey
  beforeAll(async () => {
    database = await openDatabase(kind)
    issuer = await startIssuer()
    key = await keyOf("ES256", "the key")
    issuer.keys = [key.publicJwk]
    node = await startNode({
      ...database.env,
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: "gateway",
      OIDC_AUDIENCE: "gateway-api",
      OIDC_OPERATOR: "groups=operators"
    })
  }, 120_000)
  afterAll(async () => {
    await node.stop()
    await issuer.close()
    await database.close()
  })

  const send = async (claims: object) => {
    const now = Math.floor(Date.now() / 1_000)
    const token = await signed(key, { iss: issuer.url, aud: "gateway-api", iat: now, exp: now + 60, ...claims })
    return sendTo(node.url, { authorization: `Bearer ${token}` })
  }

  it("is the person's identity: one user, however many requests come first", async () => {
    const by = await send({ sub: "script", preferred_username: "a script" })
    const answers = await Promise.all(Array.from({ length: 6 }, () => by("GET", "/api/me")))
    const found = await Promise.all(answers.map(async (answer) => (await answer.json()) as Me))
    expect(new Set(found.map(({ user }) => user.id)).size).toBe(1)
    expect(found[0]).toMatchObject({ user: { name: "a script", issuer: issuer.url, subject: "script" }, roles: [] })
    expect((await by("POST", "/api/me/projects", { name: "by a script" })).status).toBe(201)
    // there is no session
    expect((await by("GET", "/api/session")).status).toBe(404)
    expect((await by("DELETE", "/api/session")).status).toBe(404)
  })

  it("has the rights of its own claims", async () => {
    const [operator, person] = [await send({ sub: "erin", groups: ["operators"] }), await send({ sub: "erin" })]
    expect((await operator("GET", "/api/admin/users")).status).toBe(200)
    expect((await person("GET", "/api/admin/users")).status).toBe(403)
    expect(((await (await person("GET", "/api/me")).json()) as Me).roles).toEqual([])
  })

  it("is refused like every wrong credential", async () => {
    for (const claims of [{ sub: "x", aud: "gateway" }, { sub: "x", exp: 1 }, { sub: "x", iss: "https://e.com" }, {}]) {
      expect(await refusalOf(await (await send(claims))("GET", "/api/me"))).toEqual(await nobody(node))
    }
  })

  it("is never accepted on /v1", async () => {
    const by = await send({ sub: "script" })
    expect((await by("GET", "/v1/models")).status).toBe(401)
  })
})

describe.each(databaseKinds)("a sign-in that a browser has begun on %s", (kind) => {
  let database: Awaited<ReturnType<typeof openDatabase>>
  let node: AccountNode
  let issuer: StubIssuer
  let key: IssuerKey
  beforeAll(async () => {
    database = await openDatabase(kind)
    issuer = await startIssuer()
    key = await keyOf("RS256", "the key")
    issuer.keys = [key.publicJwk]
    node = await startNode({ ...database.env, OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: "gateway" })
  }, 120_000)
  afterAll(async () => {
    await node.stop()
    await issuer.close()
    await database.close()
  })

  const start = () => fetch(`${node.url}/api/session/oidc/start`, { redirect: "manual" })
  const begin = async () => (await start()).headers.getSetCookie()[0]?.split(/[=;]/)[1] ?? ""
  const claimsOf = (person: object) => {
    const now = Math.floor(Date.now() / 1_000)
    return { iss: issuer.url, aud: "gateway", iat: now, exp: now + 60, ...person }
  }
  /** The issuer of these tests takes any code again and again. */
  const end = async (secret: string, person: object = { sub: "alice" }) => {
    const { nonce, state } = flowOf(secret)
    issuer.idToken = await signed(key, { ...claimsOf(person), nonce })
    const query = new URLSearchParams({ code: "a code", state })
    const cookie = `gateway_sign_in_${new URL(node.url).port}=${secret}`
    return (await fetch(`${node.url}/api/session/oidc/callback?${query}`, { redirect: "manual", headers: { cookie } }))
      .status
  }
  const stored = () =>
    node.run(
      Effect.flatMap(SqlClient, (sql) => sql<{ readonly rows: number }>`select count(*)::int as rows from sign_in_flow`)
    )

  it("is not stored before it ends", async () => {
    for (const response of await Promise.all(Array.from({ length: 20 }, start))) expect(response.status).toBe(303)
    expect(await stored()).toEqual([{ rows: 0 }])
    expect(await end(await begin())).toBe(303)
    expect(await stored()).toEqual([{ rows: 1 }])
  })

  it("ends once, whatever the issuer makes of its code", async () => {
    const secret = await begin()
    const answers = await Promise.all([end(secret), end(secret), end(secret)])
    expect(answers.sort()).toEqual([303, 401, 401])
    expect(await end(secret)).toBe(401)
  })

  it("can be ended again after a fault of the issuer", async () => {
    const secret = await begin()
    issuer.tokenFault = { status: 500, body: "" }
    expect(await end(secret)).toBe(503)
    issuer.tokenFault = null
    expect(await end(secret)).toBe(303)
  })

  it("gives the person the name that they have at the issuer now", async () => {
    const nameOf = async (sub: string) => {
      const send = sendTo(node.url, { authorization: `Bearer ${await signed(key, claimsOf({ sub }))}` })
      return ((await (await send("GET", "/api/me")).json()) as Me).user.name
    }
    expect(await end(await begin(), { sub: "1", email: "sam@example.com" })).toBe(303)
    expect(await nameOf("1")).toBe("sam@example.com")
    // the address is another person's now
    expect(await end(await begin(), { sub: "1", email: "sam.old@example.com" })).toBe(303)
    expect(await end(await begin(), { sub: "2", email: "sam@example.com" })).toBe(303)
    expect([await nameOf("1"), await nameOf("2")]).toEqual(["sam.old@example.com", "sam@example.com"])
  })

  it("lasts for ten minutes, on nodes whose clocks differ by a minute", async () => {
    const begun = (millisAgo: number) => mintSecret(randomFillSync, Date.now() - millisAgo)
    expect(await end(begun(590_000))).toBe(303)
    expect(await end(begun(-30_000))).toBe(303)
    expect(await end(begun(601_000))).toBe(401)
    expect(await end(begun(-90_000))).toBe(401)
    const another = begun(0).slice(8)
    expect(await end(`${begun(601_000).slice(0, 8)}${another}`)).toBe(401)
    expect(await end(another)).toBe(401)
  })
})
