// Promise: The document names every header of the account API's answers.
import { randomUUID } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
import { openApiDocument } from "../../../src/http/operations/OpenApiDocument.ts"
import { codeAtStart, operatorOf, type Person, sendTo, startsNode } from "../../support/AccountService.ts"

type Operations = Record<
  string,
  Record<string, { responses: Record<string, { headers?: Record<string, unknown> }> } | undefined>
>
const { paths } = JSON.parse(JSON.stringify(openApiDocument())) as { paths: Operations }

/** Headers of node itself, which no document names. */
const transport = ["connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding"]

/** Those of one answer that the document does not have. */
const undocumented = (method: string, path: string, { headers, status }: Response): ReadonlyArray<string> => {
  const documented = paths[path]?.[method.toLowerCase()]?.responses[status]
  if (documented === undefined) return [`${status}`]
  const named = Object.keys(documented.headers ?? {}).map((name) => name.toLowerCase())
  return [...headers.keys()].filter((name) => !named.includes(name) && !transport.includes(name))
}

describe("the OpenAPI document", () => {
  const node = startsNode("embedded", { SIMULATED_PROVIDERS: "on", METRICS_TOKEN: "scrape" })
  let operator: Person

  beforeAll(async () => {
    operator = await operatorOf(node)
  })

  it("names every header of answers with entity tags, replays, cookies, exports, limits and refusals", async () => {
    const me = (await (await operator.send("GET", "/api/me")).json()) as { default_project_id: string }
    const id = me.default_project_id
    const found: Array<readonly [string, ReadonlyArray<string>]> = []
    const sent = new Set<string>()
    const ask = async (
      method: string,
      path: string,
      body?: unknown,
      headers: Readonly<Record<string, string>> = {},
      send = operator.send
    ) => {
      const response = await send(method, path.replace("{id}", id), body, headers)
      for (const name of response.headers.keys()) sent.add(name)
      found.push([`${method} ${path} ${response.status}`, undocumented(method, path, response)])
      await response.arrayBuffer()
    }
    const nobody = sendTo(node.url, {})
    await ask("GET", "/api/projects/{id}")
    await ask("PATCH", "/api/projects/{id}", { rate_limits: { requests_per_minute: 1_000 } })
    await ask("GET", "/api/projects/{id}/policy", undefined, {}, nobody)
    for (const part of ["policy", "billing-mode", "alerts", "capture"]) await ask("GET", `/api/projects/{id}/${part}`)
    const once = { "idempotency-key": randomUUID() }
    for (const name of ["one", "one", "two"]) await ask("POST", "/api/me/projects", { name }, once)
    const code = await codeAtStart(node)
    await ask("POST", "/api/session", { code, transport: "cookie" }, {}, nobody)
    await ask("GET", "/api/projects/{id}/capture/export")
    const chat = "/api/projects/{id}/chat/completions"
    const messages = [{ role: "user", content: "hi" }]
    const again = { "idempotency-key": randomUUID() }
    for (const model of ["auto", "auto", "nobody/nothing", "sim/fail"]) {
      await ask("POST", chat, { model, messages }, model === "auto" ? again : {})
    }
    await ask("POST", chat, { model: "auto", messages, stream: true })
    expect(found.filter(([, names]) => names.length > 0)).toEqual([])
    const expected = ["etag", "idempotent-replayed", "set-cookie", "content-disposition", "www-authenticate"]
    expect([...sent]).toEqual(expect.arrayContaining([...expected, "x-ratelimit-limit-requests"]))
  })

  it("names the content types of exports", async () => {
    const { default_project_id } = (await (await operator.send("GET", "/api/me")).json()) as Record<string, string>
    const path = "/api/projects/{id}/requests"
    const sent = []
    for (const accept of ["text/csv", "application/x-ndjson"]) {
      const url = path.replace("{id}", `${default_project_id}`)
      const response = await operator.send("GET", url, undefined, { accept })
      await response.arrayBuffer()
      sent.push(`${response.headers.get("content-type")}`.replace(/;.*/, ""))
    }
    expect(paths[path]?.["get"]).toMatchObject({
      "x-exports": Object.fromEntries(sent.map((type) => [type, { schema: expect.any(Object) }]))
    })
  })

  it("names every header and status of followed conversations and of the operator endpoints", async () => {
    const { default_project_id } = (await (await operator.send("GET", "/api/me")).json()) as Record<string, string>
    const made = await operator.send("POST", "/api/chat/conversations", { project_id: default_project_id })
    const { id } = (await made.json()) as { id: string }
    const events = "/api/chat/conversations/{id}/events"
    const found: Array<readonly [string, ReadonlyArray<string>]> = []
    const look = async (path: string, response: Response) => {
      await response.arrayBuffer()
      found.push([`${path} ${response.status}`, undocumented("GET", path, response)])
    }
    await look(events, await operator.send("GET", events.replace("{id}", id)))
    const nobody = sendTo(node.url, {})
    for (const path of ["/livez", "/readyz", "/metrics"]) await look(path, await nobody("GET", path))
    await look("/metrics", await nobody("GET", "/metrics", undefined, { authorization: "Bearer scrape" }))
    expect(found).toEqual(
      [`${events} 200`, "/livez 200", "/readyz 200", "/metrics 401", "/metrics 200"].map((answer) => [answer, []])
    )
  })
})
