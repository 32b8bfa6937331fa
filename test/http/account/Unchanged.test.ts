import { beforeAll, describe, expect, it } from "vitest"
import { operatorOf, type Person, startsNode } from "../../support/AccountService.ts"

const limits = { requests_per_minute: 7, tokens_per_minute: null, concurrent_requests: 2 }

describe("a PATCH", () => {
  const node = startsNode("embedded", { SIMULATED_PROVIDERS: "on" })
  let operator: Person
  let project: string
  beforeAll(async () => {
    operator = await operatorOf(node)
    project = await created("/api/me/projects", { name: "patched" })
  })

  const created = async (path: string, body: object) => {
    const response = await operator.send("POST", path, body)
    expect(response.status).toBe(201)
    return ((await response.json()) as { readonly id: string }).id
  }
  const newestRow = async () => (await operator.send("GET", "/api/audit?limit=1")).json()
  const stateOf = async (response: Response) => ({
    status: response.status,
    etag: response.headers.get("etag"),
    body: await response.json()
  })

  it.each([
    [
      "of a project",
      () => `/api/projects/${project}`,
      { name: "changed", spend_limit_microusd: 7, limit_reset: "week", rate_limits: limits }
    ],
    [
      "of a key",
      async () => `/api/keys/${await created(`/api/projects/${project}/keys`, { name: "patched" })}`,
      {
        name: "changed",
        is_active: false,
        spend_limit_microusd: 7,
        limit_reset: "day",
        expires_at: "2100-01-01T00:00:00Z",
        rate_limits: limits
      }
    ],
    [
      "of a credential",
      async () => {
        const credential = { provider: "openai", label: "patched", secret: "sk-12345678" }
        return `/api/credentials/${await created(`/api/projects/${project}/credentials`, credential)}`
      },
      { label: "changed", allowed_models: ["openai/*", "other"] }
    ]
  ])("%s that changes nothing answers what is, and leaves no audit row", async (_, path, patch) => {
    const at = await path()
    const changed = await stateOf(await operator.send("PATCH", at, patch))
    expect(changed).toMatchObject({ status: 200, etag: expect.any(String) })
    const row = await newestRow()
    for (const same of [{}, patch]) {
      expect(await stateOf(await operator.send("PATCH", at, same))).toEqual(changed)
      expect(await newestRow()).toEqual(row)
    }
    expect((await operator.send("PATCH", at, {}, { "if-match": '"of another version"' })).status).toBe(412)
    const [field] = Object.keys(patch)
    await operator.send("PATCH", at, { [field ?? ""]: "again" })
    expect(await newestRow()).not.toEqual(row)
  })

  it("of a conversation by its own title leaves no audit row, once a person has given it", async () => {
    const at = `/api/chat/conversations/${await created("/api/chat/conversations", { project_id: project })}`
    const { title } = (await (await operator.send("GET", at)).json()) as { readonly title: string }
    const before = await newestRow()
    const changed = await stateOf(await operator.send("PATCH", at, { title }))
    const row = await newestRow()
    expect(row).not.toEqual(before)
    expect(await stateOf(await operator.send("PATCH", at, { title }))).toEqual(changed)
    expect(await newestRow()).toEqual(row)
  })
})
