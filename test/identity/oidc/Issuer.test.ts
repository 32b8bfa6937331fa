import { createHmac, createPublicKey, type JsonWebKey } from "node:crypto"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import type { JWTPayload } from "jose"
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest"
import { IssuerUnavailable } from "../../../src/domain/AccountError.ts"
import { Unauthenticated } from "../../../src/domain/GatewayError.ts"
import { Timers } from "../../../src/domain/Timers.ts"
import { Issuer } from "../../../src/identity/oidc/Issuer.ts"
import { flowOf } from "../../../src/identity/oidc/SignInFlow.ts"
import * as VirtualTimers from "../../../src/testing/doubles/VirtualTimers.ts"
import { type IssuerKey, keyOf, type StubIssuer, signed, startIssuer } from "../../support/StubIssuer.ts"

const startMillis = Date.UTC(2026, 0, 1)
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

let keys: ReadonlyArray<IssuerKey>
let foreign: IssuerKey
beforeAll(async () => {
  keys = await Promise.all((["RS256", "PS256", "ES256", "EdDSA"] as const).map((alg) => keyOf(alg, `key ${alg}`)))
  foreign = await keyOf("RS256", "key RS256")
})

let issuer: StubIssuer
let timers: VirtualTimers.VirtualTimers
let runtime: ManagedRuntime.ManagedRuntime<Issuer, never>
let key: IssuerKey
/** Of the log. */
let lines: Array<string>
beforeEach(async () => {
  lines = []
  issuer = await startIssuer()
  issuer.keys = keys.map(({ publicJwk }) => publicJwk)
  key = keys[0] as IssuerKey
  timers = VirtualTimers.make(startMillis)
  runtime = ManagedRuntime.make(
    Issuer.layer({
      issuer: issuer.url,
      audience: "the gateway",
      clientId: "the client",
      clientSecret: null,
      operator: { claim: "groups", value: "operators" }
    }).pipe(
      Layer.provide(NodeHttpClient.layerUndici),
      Layer.provide(Layer.succeed(Timers, timers)),
      Layer.provide(
        Logger.replace(
          Logger.defaultLogger,
          Logger.make(({ message }) => {
            lines.push(String(message))
          })
        )
      )
    )
  )
})
afterEach(async () => {
  await runtime.dispose()
  await issuer.close()
})

const seconds = (offset = 0) => Math.floor(timers.now() / 1_000) + offset
const claims = (changes: JWTPayload = {}): JWTPayload => ({
  iss: issuer.url,
  aud: "the gateway",
  sub: "alice",
  iat: seconds(),
  exp: seconds(300),
  ...changes
})
const verify = (token: string) => runtime.runPromise(Effect.flatMap(Issuer, (one) => Effect.merge(one.verify(token))))
const isAccepted = async (token: string) => {
  const found = await verify(token)
  if (!(found instanceof Unauthenticated)) expect(found).toMatchObject({ issuer: issuer.url, subject: "alice" })
  return !(found instanceof Unauthenticated)
}
const accepts = async (changes: JWTPayload) => isAccepted(await signed(key, claims(changes)))
const without = (name: string): JWTPayload => {
  const { [name]: _, ...others } = claims()
  return others
}

describe("a token of the issuer", () => {
  it.each([0, 1, 2, 3])("is accepted with each of the four algorithms (%i)", async (at) => {
    expect(await isAccepted(await signed(keys[at] as IssuerKey, claims()))).toBe(true)
  })

  it("counts for its audience only, and from its issuer only", async () => {
    expect(await accepts({ aud: ["another", "the gateway"] })).toBe(true)
    expect(await accepts({ aud: "another" })).toBe(false)
    expect(await accepts({ aud: [] })).toBe(false)
    expect(await accepts({ iss: `${issuer.url}/` })).toBe(false)
    expect(await accepts({ iss: "https://another.example.com" })).toBe(false)
  })

  it("counts within its times, with a minute of leeway", async () => {
    expect(await accepts({ exp: seconds(-59) })).toBe(true)
    expect(await accepts({ exp: seconds(-60) })).toBe(false)
    expect(await accepts({ nbf: seconds(60) })).toBe(true)
    expect(await accepts({ nbf: seconds(61) })).toBe(false)
    expect(await accepts({ iat: seconds(60) })).toBe(true)
    expect(await accepts({ iat: seconds(61) })).toBe(false)
  })

  it("must have its subject, its time of issue and its end", async () => {
    for (const name of ["sub", "iat", "exp", "iss", "aud"]) {
      expect([name, await isAccepted(await signed(key, without(name)))]).toEqual([name, false])
    }
    expect(await accepts({ sub: "" })).toBe(false)
    expect(await accepts({ sub: "x".repeat(256) })).toBe(false)
  })

  it("is refused without a signature, and with one that anybody could make", async () => {
    const body = base64url(claims())
    expect(await isAccepted(`${base64url({ alg: "none" })}.${body}.`)).toBe(false)
    expect(await isAccepted(`${base64url({ alg: "none", kid: key.kid })}.${body}.x`)).toBe(false)
    const pem = createPublicKey({ key: key.publicJwk as JsonWebKey, format: "jwk" }).export({
      type: "spki",
      format: "pem"
    })
    const secrets = [pem, JSON.stringify(key.publicJwk), key.publicJwk.n ?? ""]
    for (const secret of secrets) {
      const head = base64url({ alg: "HS256", kid: key.kid })
      const mac = createHmac("sha256", secret).update(`${head}.${body}`).digest("base64url")
      expect(await isAccepted(`${head}.${body}.${mac}`)).toBe(false)
    }
    // even where the issuer publishes a symmetric key
    issuer.keys = [{ kty: "oct", k: Buffer.alloc(32, 1).toString("base64url"), kid: "shared", alg: "HS256" }]
    const head = base64url({ alg: "HS256", kid: "shared" })
    const mac = createHmac("sha256", Buffer.alloc(32, 1)).update(`${head}.${body}`).digest("base64url")
    timers.advance(600_000)
    expect(await isAccepted(`${head}.${body}.${mac}`)).toBe(false)
  })

  it("is refused with a key that the issuer does not publish, whatever its header says", async () => {
    expect(await isAccepted(await signed(foreign, claims()))).toBe(false)
    expect(await isAccepted(await signed({ ...foreign, kid: "unknown" }, claims()))).toBe(false)
    expect(await isAccepted(await signed(foreign, claims(), { jwk: foreign.publicJwk }))).toBe(false)
    expect(await isAccepted(await signed(foreign, claims(), { jku: `${issuer.url}/other`, kid: "unknown" }))).toBe(
      false
    )
    // the key of another algorithm
    expect(await isAccepted(await signed({ ...key, kid: "key ES256" }, claims()))).toBe(false)
    expect(issuer.requests).not.toContain("/other")
  })

  it("is refused after a change of any part", async () => {
    const [head = "", , signature = ""] = (await signed(key, claims())).split(".")
    expect(await isAccepted(`${head}.${base64url(claims({ sub: "alice", groups: "operators" }))}.${signature}`)).toBe(
      false
    )
    for (const text of ["", "x", "a.b", "a.b.c", "a.b.c.d.e", `${head}..${signature}`]) {
      expect([text, await isAccepted(text)]).toEqual([text, false])
    }
  })

  it("makes an operator by the configured claim alone", async () => {
    const isOperator = async (changes: JWTPayload) => {
      const found = await verify(await signed(key, claims(changes)))
      return found instanceof Unauthenticated || found instanceof IssuerUnavailable ? found : found.isOperator
    }
    expect(await isOperator({})).toBe(false)
    expect(await isOperator({ groups: "operators" })).toBe(true)
    expect(await isOperator({ groups: ["people", "operators"] })).toBe(true)
    expect(await isOperator({ groups: ["people"] })).toBe(false)
    expect(await isOperator({ groups: "operators people" })).toBe(false)
    expect(await isOperator({ groups: { operators: true } })).toBe(false)
    expect(await isOperator({ roles: "operators" })).toBe(false)
  })
})

describe("the keys of the issuer", () => {
  const keyRequests = () => issuer.requests.filter((path) => path === "/jwks").length

  it("are fetched once, and again after ten minutes", async () => {
    const token = await signed(key, claims({ exp: seconds(86_400) }))
    await Promise.all(Array.from({ length: 10 }, () => isAccepted(token)))
    expect(keyRequests()).toBe(1)
    timers.advance(599_999)
    expect(await isAccepted(token)).toBe(true)
    expect(keyRequests()).toBe(1)
    timers.advance(1)
    expect(await isAccepted(token)).toBe(true)
    await vi.waitFor(() => expect(keyRequests()).toBe(2))
  })

  it("that are known are used at once while an issuer that is silent is asked for new ones", async () => {
    expect(await accepts({})).toBe(true)
    issuer.isSilent = true
    timers.advance(600_000)
    expect(await Promise.all(Array.from({ length: 20 }, () => accepts({})))).not.toContain(false)
    await vi.waitFor(() => expect(issuer.requests).toHaveLength(3))
  }, 4_000)

  it("that nobody knows yet are waited for by all together, and not asked for again as soon as that has failed", async () => {
    issuer.isSilent = true
    const token = await signed(key, claims())
    const all = Promise.all([verify(token), verify(token), verify(token)])
    await vi.waitFor(() => expect(issuer.requests).toHaveLength(1))
    timers.advance(5_000)
    Object.assign(issuer, { isSilent: false }).drop()
    expect(await all).toEqual(Array.from({ length: 3 }, () => expect.any(IssuerUnavailable)))
    timers.advance(4_999)
    expect(await verify(token)).toBeInstanceOf(IssuerUnavailable)
  })

  it("are fetched for an unknown key, but not more often than every five seconds", async () => {
    expect(await accepts({})).toBe(true)
    const next = await keyOf("ES256", "the next key")
    issuer.keys = [next.publicJwk]
    expect(await isAccepted(await signed(next, claims()))).toBe(false)
    expect(keyRequests()).toBe(1)
    timers.advance(5_000)
    expect(await isAccepted(await signed(next, claims()))).toBe(true)
    // the withdrawn key no longer counts, and asking for it makes no request
    const flood = await Promise.all(Array.from({ length: 20 }, () => accepts({})))
    expect(flood).toEqual(flood.map(() => false))
    expect(keyRequests()).toBe(2)
  })

  it("count for a day while the issuer cannot be reached", async () => {
    const token = await signed(key, claims({ exp: seconds(7 * 86_400) }))
    expect(await isAccepted(token)).toBe(true)
    issuer.isDown = true
    timers.advance(86_399_999)
    expect(await isAccepted(token)).toBe(true)
    timers.advance(5_001)
    expect(await verify(token)).toEqual(new IssuerUnavailable({ message: "The identity provider cannot be reached." }))
    issuer.isDown = false
    timers.advance(5_000)
    expect(await isAccepted(token)).toBe(true)
  })

  it("are asked for again soon after an issuer that was down at the start", async () => {
    issuer.isDown = true
    const token = await signed(key, claims())
    expect(await verify(token)).toBeInstanceOf(IssuerUnavailable)
    issuer.isDown = false
    expect(await verify(token)).toBeInstanceOf(IssuerUnavailable)
    timers.advance(5_000)
    expect(await isAccepted(token)).toBe(true)
  })

  it("that cannot be fetched are logged with what the connection failed with", async () => {
    await issuer.close()
    expect(await verify(await signed(key, claims()))).toBeInstanceOf(IssuerUnavailable)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain("its discovery document is unusable (connect ECONNREFUSED")
  })
})

describe("a code of the issuer", () => {
  const flow = flowOf("the browser's secret")
  const redirectUri = "http://127.0.0.1:1/api/session/oidc/callback"
  const redeem = (query: Record<string, string> = { code: "the code", state: flow.state }) =>
    runtime.runPromise(
      Effect.flatMap(Issuer, (one) =>
        Effect.merge(one.redeem(flow, redirectUri, new URLSearchParams(query).toString()))
      )
    )
  // the library that exchanges the code has the clock of the process
  const idClaims = (changes: JWTPayload = {}): JWTPayload => ({
    iss: issuer.url,
    aud: "the client",
    sub: "alice",
    iat: Math.floor(Date.now() / 1_000),
    exp: Math.floor(Date.now() / 1_000) + 300,
    nonce: flow.nonce,
    ...changes
  })
  const redeemed = async (changes: JWTPayload, by: IssuerKey = key) => {
    issuer.idToken = await signed(by, idClaims(changes))
    return redeem()
  }
  beforeEach(() => timers.advance(Date.now() - startMillis))

  it("is exchanged with the verifier whose challenge was sent", async () => {
    const url = new URL(
      await runtime.runPromise(Effect.flatMap(Issuer, (one) => one.authorizationUrl(flow, redirectUri)))
    )
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: "the client",
      response_type: "code",
      redirect_uri: redirectUri,
      scope: "openid profile email",
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: flow.codeChallenge,
      code_challenge_method: "S256"
    })
    expect(await redeemed({ name: "Alice", groups: ["operators"] })).toEqual({
      issuer: issuer.url,
      subject: "alice",
      name: "Alice",
      isOperator: true
    })
    expect(Object.fromEntries(issuer.tokenRequests[0]?.body ?? [])).toMatchObject({
      code: "the code",
      code_verifier: flow.codeVerifier,
      redirect_uri: redirectUri
    })
  })

  it("is refused where the issuer's token is for another sign-in, person or client", async () => {
    const refused = new Unauthenticated()
    expect(await redeemed({ nonce: "another" })).toEqual(refused)
    expect(await redeemed({ nonce: undefined })).toEqual(refused)
    expect(await redeemed({ aud: "the gateway" })).toEqual(refused)
    expect(await redeemed({ iss: "https://another.example.com" })).toEqual(refused)
    expect(await redeemed({ exp: Math.floor(Date.now() / 1_000) - 90 })).toEqual(refused)
    expect(await redeemed({}, foreign)).toEqual(refused)
    expect(await redeemed({}, { ...foreign, kid: "unknown" })).toEqual(refused)
    issuer.idToken = `${base64url({ alg: "none" })}.${base64url(idClaims())}.`
    expect(await redeem()).toEqual(refused)
    const head = base64url({ alg: "HS256" })
    const body = base64url(idClaims())
    issuer.idToken = `${head}.${body}.${createHmac("sha256", "").update(`${head}.${body}`).digest("base64url")}`
    expect(await redeem()).toEqual(refused)
    expect(await redeemed({})).toMatchObject({ subject: "alice" })
  })

  const fault = (status: number, body: object | string, headers: Record<string, string> = {}) => {
    issuer.tokenFault = { status, headers, body: typeof body === "string" ? body : JSON.stringify(body) }
    return redeem()
  }
  const told = () => lines.splice(0)

  it("is refused where the issuer does not know it, which is nothing for the log", async () => {
    expect(await fault(400, { error: "invalid_grant" })).toEqual(new Unauthenticated())
    expect(told()).toEqual([])
  })

  it.each([
    ["refuses the client", 401, { error: "invalid_client" }, {}, "invalid_client"],
    ["challenges the client", 401, { error: "invalid_client" }, { "www-authenticate": "Basic" }, "401"],
    ["does not allow it", 400, { error: "unauthorized_client" }, {}, "unauthorized_client"],
    ["fails", 500, "", {}, "unexpected HTTP response status code"],
    ["redirects", 302, "", { location: "/elsewhere" }, "unexpected HTTP response status code"],
    ["answers with a page", 200, "<html>", { "content-type": "text/html" }, "unexpected response content-type"],
    ["answers with no JSON", 200, "<html>", {}, "parsing error"]
  ] as const)("waits for an issuer that %s, and the log says why", async (_, status, body, headers, reason) => {
    expect(await fault(status, body, headers)).toBeInstanceOf(IssuerUnavailable)
    expect(told()).toEqual([expect.stringContaining(reason)])
    // a stranger can have it fail as often as they like
    expect(await redeem()).toBeInstanceOf(IssuerUnavailable)
    expect(told()).toEqual([])
    timers.advance(5_000)
    expect(await redeem()).toBeInstanceOf(IssuerUnavailable)
    expect(told()).toEqual([expect.stringContaining(reason)])
  })

  it("waits for an issuer that does not answer, and the log says why", async () => {
    issuer.idToken = await signed(key, idClaims())
    await runtime.runPromise(Effect.flatMap(Issuer, (one) => one.authorizationUrl(flow, redirectUri)))
    await issuer.close()
    expect(await redeem()).toEqual(new IssuerUnavailable({ message: "The identity provider cannot be reached." }))
    expect(told()).toEqual([expect.stringContaining("POST")])
  })

  it.each([
    ["temporarily_unavailable", "The identity provider cannot sign in users at the moment; try again later."],
    ["server_error", "The identity provider cannot sign in users at the moment; try again later."],
    ["invalid_scope", "The identity provider did not identify the user; the log of the service has the reason."],
    ["unauthorized_client", "The identity provider did not identify the user; the log of the service has the reason."]
  ])("waits for an issuer that sends %s in its place, and the log says so", async (error, message) => {
    expect(await redeem({ error, state: flow.state })).toEqual(new IssuerUnavailable({ message }))
    expect(told()).toEqual([expect.stringContaining(error)])
    expect(issuer.tokenRequests).toEqual([])
    // with another state it is not from the issuer
    expect(await redeem({ error, state: "another" })).toEqual(new Unauthenticated())
    expect(told()).toEqual([])
  })

  it.each(["access_denied", "login_required", "another"])("is refused where the issuer sends %s", async (error) => {
    expect(await redeem({ error, state: flow.state })).toEqual(new Unauthenticated())
    expect(told()).toEqual([])
  })

  it("is refused with a token of another clock, and the log says why", async () => {
    const ahead = Math.floor(Date.now() / 1_000) + 120
    expect(await redeemed({ iat: ahead, exp: ahead + 300 })).toEqual(new Unauthenticated())
    expect(told()).toEqual([expect.stringContaining("issued in the future")])
    timers.advance(5_000)
    expect(await redeemed({ iss: "https://another.example.com" })).toEqual(new Unauthenticated())
    expect(told()).toEqual([expect.stringContaining("unexpected JWT claim value")])
  })

  it("is refused with another state, before it is exchanged", async () => {
    const refused = new Unauthenticated()
    expect(await redeem({ code: "the code", state: "another" })).toEqual(refused)
    expect(await redeem({ code: "the code" })).toEqual(refused)
    expect(await redeem({ code: "the code", state: flow.state, iss: "https://another.example.com" })).toEqual(refused)
    expect(await redeem({ error: "access_denied", state: flow.state })).toEqual(refused)
    expect(await redeem({})).toEqual(refused)
    expect(issuer.tokenRequests).toEqual([])
  })
})
