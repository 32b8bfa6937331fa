import { beforeAll, describe, expect, it } from "vitest"
import { databaseKinds, operatorOf, type Person, sendTo, startsNode } from "../../support/AccountService.ts"
import { jsonOf } from "../../support/Responses.ts"

type WithId = { readonly id: string }

describe.each(databaseKinds)("a service without any provider of its own on %s", (kind) => {
  const node = startsNode(kind, { SIMULATED_PROVIDERS: "off" })
  let owner: Person
  beforeAll(async () => {
    owner = await operatorOf(node)
  })

  const newProject = async (name: string) => {
    const { id } = await jsonOf<WithId>(await owner.send("POST", "/api/me/projects", { name }))
    const { api_key } = await jsonOf<{ readonly api_key: string }>(
      await owner.send("POST", `/api/projects/${id}/keys`, { name: "a key" })
    )
    const asKey = sendTo(node.url, { authorization: `Bearer ${api_key}` })
    const listed = async () => (await jsonOf<{ data: ReadonlyArray<WithId> }>(await asKey("GET", "/v1/models"))).data
    return { id, asKey, listed }
  }

  it("routes the calls of a project with a credential of its own, and of no other", async () => {
    const [with_, without] = [await newProject("with a key"), await newProject("without a key")]
    const credential = { provider: "openai", label: "ours", secret: "sk-0000-aaaa" }
    expect((await owner.send("POST", `/api/projects/${with_.id}/credentials`, credential)).status).toBe(201)
    const byok = await owner.send("PUT", `/api/projects/${with_.id}/billing-mode`, { billing_mode: "byok" })
    expect(byok.status).toBe(200)

    expect(new Set((await with_.listed()).map(({ id }) => id.split("/", 1)[0]))).toEqual(new Set(["auto", "openai"]))
    const body = { model: "openai/gpt-5", messages: [{ role: "user", content: "hi" }] }
    const route = await jsonOf<{ readonly candidates: ReadonlyArray<{ readonly model: string }> }>(
      await with_.asKey("POST", "/v1/route", body)
    )
    expect(route.candidates[0]?.model).toBe("openai/gpt-5")

    expect(await without.listed()).toEqual([])
    for (const model of ["auto", "openai/gpt-5"]) {
      const refused = await without.asKey("POST", "/v1/chat/completions", { ...body, model })
      expect(refused.status).toBe(404)
    }
  })

  it("sells no test money, which would buy nothing", async () => {
    const checkout = await owner.send("POST", "/api/me/checkout", { credit_amount_cents: 1_000 })
    expect(await jsonOf(checkout)).toMatchObject({ error: { code: "payments_not_configured" } })
  })
})
