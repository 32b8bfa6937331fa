import * as Effect from "effect/Effect"
import { beforeAll, describe, expect, it } from "vitest"
import { AuditStore } from "../../../src/audit/AuditStore.ts"
import { ProjectId } from "../../../src/domain/Ids.ts"
import { Policy } from "../../../src/policy/Policy.ts"
import type { AdminProjectOut, UserOut } from "../../../src/wire/account/Admin.ts"
import { databaseKinds, newPerson, operatorOf, type Person, startsNode } from "../../support/AccountService.ts"
import { jsonOf } from "../../support/Responses.ts"

type Project = typeof AdminProjectOut.Encoded

interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly next_cursor: string | null
}

const errorOf = async (response: Response) => {
  const { error } = await jsonOf<{
    readonly error: { readonly type: string; readonly code: string; readonly param: string | null }
  }>(response)
  return [response.status, error.type, error.code, error.param] as const
}

describe.each(databaseKinds)("the admin endpoints on %s", (kind) => {
  const node = startsNode(kind)
  let operator: Person
  let person: Person
  beforeAll(async () => {
    operator = await operatorOf(node)
    person = await newPerson(node, "a person")
  })

  const policy = {
    allowed_models: ["openai/*"],
    excluded_models: ["openai/o3"],
    allowed_providers: ["openai"],
    excluded_providers: ["sim"],
    max_input_price_microusd_per_million: 2_000_000,
    max_output_price_microusd_per_million: 0,
    default_alpha: 0.25,
    enable_fallback: false
  }
  const create = (by: Person, body: object, headers?: Readonly<Record<string, string>>) =>
    by.send("POST", "/api/admin/projects", { user_id: person.userId, name: "made for others", ...body }, headers)

  it("create a project with its policy in the account of another person", async () => {
    const response = await create(operator, policy)
    const made = await jsonOf<Project>(response)
    expect([response.status, made]).toEqual([
      201,
      {
        id: expect.any(String),
        name: "made for others",
        account_id: person.accountId,
        user_id: person.userId,
        billing_mode: "managed",
        spend_limit_microusd: null,
        total_spent_microusd: 0,
        ...policy,
        created_at: expect.any(String),
        updated_at: expect.any(String)
      }
    ])
    expect(await jsonOf(await person.send("GET", `/api/projects/${made.id}`))).toMatchObject({ role: "owner" })
    // operators manage accounts; what is in a project is for its members
    expect((await operator.send("GET", `/api/projects/${made.id}`)).status).toBe(404)
    const stored = await node.run(Effect.flatMap(Policy, (policies) => policies.ofProject(ProjectId.make(made.id))))
    expect(stored).toMatchObject({
      models: { allow: ["openai/*"], deny: ["openai/o3"] },
      providers: { allow: ["openai"], deny: ["sim"] },
      maxInputPriceMicroUsdPerMillion: 2_000_000,
      maxOutputPriceMicroUsdPerMillion: 0,
      defaultAlpha: 0.25,
      enableFallback: false
    })
    const rows = await node.run(Effect.flatMap(AuditStore, (store) => store.chain(person.accountId, 1, 10)))
    expect(rows.map(({ action, actorUserId, targetId }) => [action, actorUserId, targetId])).toEqual([
      ["project.create", operator.userId, made.id]
    ])
  })

  it("create a project that allows everything where no policy is given, and ignore unknown fields", async () => {
    const made = await jsonOf<Project>(await create(operator, { allowed_models: null, colour: "blue" }))
    expect(made).toMatchObject({
      allowed_models: null,
      excluded_models: null,
      default_alpha: null,
      enable_fallback: true
    })
  })

  it("create it once for an Idempotency-Key", async () => {
    const key = { "idempotency-key": "admin project" }
    const [first, again] = [await create(operator, policy, key), await create(operator, policy, key)]
    expect([first.status, again.status, again.headers.get("idempotent-replayed")]).toEqual([201, 201, "true"])
    expect(await again.json()).toEqual(await first.json())
  })

  it("list all projects and all people, newest first", async () => {
    const own = await jsonOf<{ readonly id: string }>(await person.send("POST", "/api/me/projects", { name: "own" }))
    const page = await jsonOf<Page<Project>>(await operator.send("GET", "/api/admin/projects?limit=1"))
    expect(page.items.map(({ id, user_id }) => [id, user_id])).toEqual([[own.id, person.userId]])
    const rest = await jsonOf<Page<Project>>(
      await operator.send("GET", `/api/admin/projects?limit=100&cursor=${page.next_cursor}`)
    )
    expect(rest.items.map(({ name }) => name)).toContain("default")
    expect(rest.items.map(({ id }) => id)).not.toContain(own.id)

    const newest = await newPerson(node, "the newest")
    const people = await jsonOf<Page<typeof UserOut.Encoded>>(await operator.send("GET", "/api/admin/users"))
    expect(people.items.map(({ id }) => id)).toEqual([newest.userId, person.userId, operator.userId])
    expect(people.items.at(-1)).toEqual({
      id: operator.userId,
      name: "owner",
      account_id: operator.accountId,
      issuer: null,
      subject: null,
      is_operator: true,
      created_at: expect.any(String)
    })
  })

  it("reject values that no policy has, and people who do not exist", async () => {
    const invalid = async (body: object) => (await errorOf(await create(operator, body))).slice(2)
    expect(await invalid({ default_alpha: 2 })).toEqual(["invalid_value", "default_alpha"])
    expect(await invalid({ max_input_price_microusd_per_million: -1 })).toEqual([
      "invalid_value",
      "max_input_price_microusd_per_million"
    ])
    expect(await invalid({ allowed_models: ["a b"] })).toEqual(["invalid_value", "allowed_models[0]"])
    expect(await invalid({ user_id: operator.accountId })).toEqual(["not_found", null])
    expect(await invalid({ user_id: "x" })).toEqual(["invalid_value", "user_id"])
  })

  it("are for operators only", async () => {
    const refused = [403, "permission_error", "operator_required", null]
    expect(await errorOf(await person.send("GET", "/api/admin/projects"))).toEqual(refused)
    expect(await errorOf(await create(person, {}))).toEqual(refused)
    expect(await errorOf(await person.send("GET", "/api/admin/users"))).toEqual(refused)
  })
})
