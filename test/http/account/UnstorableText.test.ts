import { SignJWT } from "jose"
import { beforeAll, describe, expect, it } from "vitest"
import { databaseKinds, operatorOf, type Person, sendTo, startNode, startsNode } from "../../support/AccountService.ts"
import { keyOf, startIssuer } from "../../support/StubIssuer.ts"

/** As they stand in JSON: NUL, and the first half of a surrogate pair. */
const unstorable = ["\\u0000", "\\ud83d"]

const errorOf = async (response: Response) => {
  const { error } = (await response.json()) as { readonly error?: { readonly code: string; readonly param: string } }
  return [response.status, error?.code, error?.param]
}
const idOf = async (response: Response) => ((await response.json()) as { readonly id: string }).id

describe.each(databaseKinds)("text that a database cannot store on %s", (kind) => {
  const node = startsNode(kind, { SIMULATED_PROVIDERS: "on" })
  let operator: Person
  let project: string
  let conversation: string
  beforeAll(async () => {
    operator = await operatorOf(node)
    project = await idOf(await operator.send("POST", "/api/me/projects", { name: "text" }))
    conversation = await idOf(await operator.send("POST", "/api/chat/conversations", { project_id: project }))
  })

  it.each(unstorable)("is an invalid value wherever it would be written: %s", async (character) => {
    const text = `a${character}b`
    const of = `/api/projects/${project}`
    const models = JSON.parse(`["${text}"]`) as ReadonlyArray<string>
    const written: ReadonlyArray<readonly [method: string, path: string, body: object, param: string]> = [
      ["POST", "/api/me/projects", { name: text }, "name"],
      ["PATCH", of, { name: text }, "name"],
      ["POST", "/api/me/keys", { name: text }, "name"],
      ["POST", `${of}/keys`, { name: text }, "name"],
      ["PUT", `${of}/policy`, { allowed_models: [text] }, "allowed_models[0]"],
      ["POST", `${of}/policy/simulate`, { excluded_models: [text] }, "excluded_models[0]"],
      ["POST", `${of}/routing-configurations`, { slug: "a", name: text }, "name"],
      ["POST", `${of}/credentials`, { provider: "openai", label: text, secret: "sk-12345678" }, "label"],
      [
        "POST",
        `${of}/credentials`,
        { provider: "openai", label: "a", secret: "sk-12345678", allowed_models: [text] },
        "allowed_models[0]"
      ],
      ["PUT", `${of}/alerts`, { webhook_url: `https://example.com/${text}`, thresholds: [] }, "webhook_url"],
      [
        "PUT",
        `${of}/capture`,
        { enabled: false, sampling_rate: 1, config_version: 0, content_warning: text },
        "content_warning"
      ],
      ["POST", "/api/admin/projects", { user_id: operator.userId, name: text }, "name"],
      [
        "POST",
        "/api/admin/projects",
        { user_id: operator.userId, name: "a", allowed_models: [text] },
        "allowed_models[0]"
      ],
      ["POST", `/api/admin/accounts/${operator.accountId}/credits`, { amount_microusd: 1, note: text }, "note"],
      ["POST", "/api/chat/conversations", { project_id: project, title: text }, "title"],
      ["POST", `/api/chat/conversations/${conversation}/messages`, { content: "a", model: text }, "model"],
      [
        "POST",
        `/api/chat/conversations/${conversation}/messages`,
        { content: "a", model: "auto", system: text },
        "system"
      ],
      [
        "POST",
        `/api/chat/conversations/${conversation}/artifacts`,
        { name: text, media_type: "text/plain", content: "a" },
        "name"
      ]
    ]
    expect(models).toHaveLength(1)
    for (const [method, path, body, param] of written) {
      const json = JSON.stringify(body).replaceAll("\\\\u", "\\u")
      const headers = { "idempotency-key": `${character.slice(1)} ${path} ${param}` }
      expect([method, path, ...(await errorOf(await operator.send(method, path, json, headers)))]).toEqual([
        method,
        path,
        400,
        "invalid_value",
        param
      ])
    }
  })

  it("finds nothing", async () => {
    expect(await errorOf(await operator.send("GET", "/api/me/checkout/a%00b"))).toEqual([404, "not_found", null])
    expect((await sendTo(node.url, {})("GET", "/checkout/test?session=a%00b")).status).toBe(404)
    const requests = `/api/projects/${project}/requests?q=a%00b`
    expect(await errorOf(await operator.send("GET", requests))).toEqual([400, "invalid_value", "q"])
  })
})

describe("a token of an issuer with text that a database cannot store", () => {
  it("is refused by its subject, and has the name without it", async () => {
    const issuer = await startIssuer()
    const key = await keyOf("RS256", "a")
    issuer.keys = [key.publicJwk]
    const node = await startNode({
      DATA_DIR: ":memory:",
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: "gateway",
      OIDC_CLIENT_SECRET: "a"
    })
    const me = async (claims: object) => {
      const token = await new SignJWT({ iss: issuer.url, aud: "gateway", ...claims })
        .setProtectedHeader({ alg: "RS256", kid: "a" })
        .setIssuedAt()
        .setExpirationTime("1h")
        .sign(key.privateKey)
      return sendTo(node.url, { authorization: `Bearer ${token}` })("GET", "/api/me")
    }
    try {
      for (const sub of ["a\0b", "a\ud83db"]) expect((await me({ sub })).status).toBe(401)
      expect(await (await me({ sub: "alice", name: "Al\0ice" })).json()).toMatchObject({
        user: { name: "Al\ufffdice" }
      })
    } finally {
      await node.stop()
      await issuer.close()
    }
  }, 120_000)
})
