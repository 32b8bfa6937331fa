import * as HttpApi from "@effect/platform/HttpApi"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { beforeAll, describe, expect, it } from "vitest"
import { SealedCredentials } from "../../../src/credentials/SealedCredentials.ts"
import { AccountApi } from "../../../src/http/account/AccountApi.ts"
import { databaseKinds, newPerson, operatorOf, type Person, sendTo, startsNode } from "../../support/AccountService.ts"
import { jsonOf } from "../../support/Responses.ts"

const id = "01a207bd-3472-7061-948f-9706a05590dc"

const bodyOf = async (response: Response) => JSON.stringify(await response.json())

describe("an id in capitals", () => {
  const parameters: Array<readonly [endpoint: string, schema: Schema.Schema<unknown, unknown>]> = []
  HttpApi.reflect(AccountApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      for (const schema of [endpoint.pathSchema, endpoint.urlParamsSchema]) {
        if (Option.isSome(schema)) parameters.push([`${endpoint.method} ${endpoint.path}`, schema.value as never])
      }
    }
  })

  it("is decoded in lower case wherever a path or a query has an id", () => {
    const ids = ["id", "project_id", "key", "user_id", "request_id", "message_id", "artifact_id"]
    const others = { slug: "a", session_id: "a", action_id: "a" }
    let decoded = 0
    for (const [endpoint, schema] of parameters) {
      const given = { ...Object.fromEntries(ids.map((name) => [name, id.toUpperCase()])), ...others }
      const result = Schema.decodeUnknownEither(schema)(given)
      // the query of /v1 has texts in place of ids
      if (Either.isLeft(result)) continue
      decoded++
      expect([endpoint, JSON.stringify(result.right)]).toEqual([
        endpoint,
        expect.not.stringContaining(id.toUpperCase())
      ])
    }
    expect(decoded).toBeGreaterThan(60)
  })
})

describe.each(databaseKinds)("an id in capitals on %s", (kind) => {
  const node = startsNode(kind, { SIMULATED_PROVIDERS: "on" })
  let operator: Person
  beforeAll(async () => {
    operator = await operatorOf(node)
  })
  const newProject = async (): Promise<string> =>
    (await jsonOf<{ readonly id: string }>(await operator.send("POST", "/api/me/projects", { name: "capitals" }))).id

  it("ends the session that it names", async () => {
    const { url } = await jsonOf<{ readonly url: string }>(await operator.send("POST", "/api/session/links"))
    const code = new URL(url).hash.slice("#code=".length)
    const opened = await sendTo(node.url, {})("POST", "/api/session", { code, transport: "bearer" })
    const { token } = await jsonOf<{ readonly token: string }>(opened)
    const other = sendTo(node.url, { authorization: `Bearer ${token}` })
    const session = await jsonOf<{ readonly id: string }>(await other("GET", "/api/session"))
    expect((await operator.send("DELETE", `/api/sessions/${session.id.toUpperCase()}`)).status).toBe(204)
    await expect.poll(async () => (await other("GET", "/api/me")).status).toBe(401)
  })

  it("changes the policy of the next call", async () => {
    const project = await newProject()
    const key = await operator.send("POST", `/api/projects/${project}/keys`, { name: "k" })
    const { api_key } = await jsonOf<{ readonly api_key: string }>(key)
    const call = () =>
      sendTo(node.url, { authorization: `Bearer ${api_key}` })("POST", "/v1/chat/completions", {
        model: "auto",
        messages: [{ role: "user", content: "hello" }]
      })
    expect((await call()).status).toBe(200)
    const path = `/api/projects/${project.toUpperCase()}/policy`
    expect((await operator.send("PUT", path, { allowed_models: ["nothing/*"] })).status).toBe(200)
    await expect.poll(async () => (await call()).status).toBe(404)
  })

  it("seals a credential so that calls can open it", async () => {
    const project = (await newProject()).toUpperCase()
    const secret = { provider: "openai", label: "ours", secret: "sk-of-the-project-good1" }
    const created = await operator.send("POST", `/api/projects/${project}/credentials`, secret)
    expect(created.status).toBe(201)
    const reseal = Effect.flatMap(SealedCredentials, (credentials) => credentials.reseal)
    expect(await node.run(reseal)).toEqual({ resealed: 0, unreadable: 0 })
  })

  it("lets a person leave a project, and is answered and logged in lower case", async () => {
    const project = await newProject()
    const viewer = await newPerson(node, "a viewer")
    const members = `/api/projects/${project}/members`
    const capitals = viewer.userId.toUpperCase()
    const added = await operator.send("POST", members, { user_id: capitals, role: "viewer" })
    expect(await bodyOf(added)).not.toContain(capitals)
    expect((await viewer.send("DELETE", `${members}?user_id=${capitals}`)).status).toBe(204)
    expect(await bodyOf(await operator.send("GET", "/api/audit?limit=5"))).not.toContain(capitals)
  })

  it("names the project of a call by a person", async () => {
    const project = await newProject()
    const call = await operator.send("POST", `/api/projects/${project.toUpperCase()}/chat/completions`, {
      model: "auto",
      messages: [{ role: "user", content: "hello" }]
    })
    expect(call.status).toBe(200)
    const chat = await operator.send("POST", "/api/chat/conversations", { project_id: project.toUpperCase() })
    expect(await jsonOf(chat)).toMatchObject({ project_id: project })
  })
})
