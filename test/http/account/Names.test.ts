import { beforeAll, describe, expect, it } from "vitest"
import { operatorOf, type Person, startsNode } from "../../support/AccountService.ts"

const secret = "sk-12345678"

describe("the names that people give", () => {
  const node = startsNode("embedded", { SIMULATED_PROVIDERS: "on" })
  let operator: Person
  let project: string
  let key: string
  let credential: string
  let conversation: string
  beforeAll(async () => {
    operator = await operatorOf(node)
    project = await created("/api/me/projects", { name: "named" })
    key = await created(`/api/projects/${project}/keys`, { name: "named" })
    credential = await created(`/api/projects/${project}/credentials`, { provider: "openai", label: "named", secret })
    conversation = await created("/api/chat/conversations", { project_id: project })
    await created(`/api/projects/${project}/routing-configurations`, { slug: "named" })
  })

  const created = async (path: string, body: object) => {
    const response = await operator.send("POST", path, body)
    expect(response.status).toBe(201)
    return ((await response.json()) as { readonly id: string }).id
  }
  const withName = (
    field: string,
    text: string
  ): ReadonlyArray<readonly [method: string, path: string, body: object]> => {
    const of = `/api/projects/${project}`
    switch (field) {
      case "label":
        return [
          ["POST", `${of}/credentials`, { provider: "openai", label: text, secret }],
          ["PATCH", `/api/credentials/${credential}`, { label: text }]
        ]
      case "title":
        return [
          ["POST", "/api/chat/conversations", { project_id: project, title: text }],
          ["PATCH", `/api/chat/conversations/${conversation}`, { title: text }]
        ]
      case "note":
        return [["POST", `/api/admin/accounts/${operator.accountId}/credits`, { amount_microusd: 1, note: text }]]
      default:
        return [
          ["POST", "/api/me/projects", { name: text }],
          ["PATCH", of, { name: text }],
          ["POST", "/api/admin/projects", { user_id: operator.userId, name: text }],
          ["POST", "/api/me/keys", { name: text }],
          ["POST", `${of}/keys`, { name: text }],
          ["POST", "/api/admin/keys", { project_id: project, name: text }],
          ["PATCH", `/api/keys/${key}`, { name: text }],
          ["POST", `${of}/routing-configurations`, { slug: `s-${crypto.randomUUID()}`, name: text }],
          ["PUT", `${of}/routing-configurations/named`, { name: text }]
        ]
    }
  }
  const fields = ["name", "label", "title", "note"]
  const send = (method: string, path: string, body: object) =>
    operator.send(method, path, body, { "idempotency-key": crypto.randomUUID() })

  it.each(fields)("are not only spaces: %s", async (field) => {
    for (const spaces of [" ", "\t\n", "\u00a0\u2003"]) {
      for (const [method, path, body] of withName(field, spaces)) {
        const response = await send(method, path, body)
        const { error } = (await response.json()) as { readonly error?: object }
        expect([method, path, response.status, error]).toEqual([
          method,
          path,
          400,
          {
            message: `Invalid value for '${field}': Expected 1 to 200 characters, not only spaces.`,
            type: "invalid_request_error",
            param: field,
            code: "invalid_value"
          }
        ])
      }
    }
  })

  it.each(fields.filter((field) => field !== "note"))("are kept without the spaces around them: %s", async (field) => {
    for (const [at] of withName(field, "").entries()) {
      const kept = `a ${field} ${at}`
      const [method, path, body] = withName(field, ` ${kept} \n`)[at] ?? expect.fail()
      const response = await send(method, path, body)
      expect([method, path, await response.json()]).toEqual([method, path, expect.objectContaining({ [field]: kept })])
    }
  })
})
