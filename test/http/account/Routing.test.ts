import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { beforeAll, describe, expect, it } from "vitest"
import { applyConfiguration } from "../../../src/app/FirstStartConfiguration.ts"
import type { CatalogPage } from "../../../src/wire/account/Models.ts"
import type { ProjectOut } from "../../../src/wire/account/Projects.ts"
import type { RouteOut } from "../../../src/wire/account/Route.ts"
import type {
  RoutingConfigurationOut,
  RoutingConfigurationsPage,
  RoutingVersionsPage
} from "../../../src/wire/account/Routing.ts"
import {
  databaseKinds,
  newPerson,
  operatorOf,
  type Person,
  type Send,
  sendTo,
  startsNode
} from "../../support/AccountService.ts"
import { withOpenTransaction } from "../../support/OpenTransaction.ts"
import { errorOf, jsonOf } from "../../support/Responses.ts"

type Out = typeof RoutingConfigurationOut.Encoded
type Route = typeof RouteOut.Encoded

const settings = {
  models: null,
  providers: null,
  alpha: null,
  max_input_price_microusd_per_million: null,
  max_output_price_microusd_per_million: null,
  enable_fallback: true
}
/** As the operator's file has it. */
const filed = {
  slug: "filed",
  name: null,
  models: { allow: ["sim/fast"], deny: [] },
  providers: { allow: null, deny: [] },
  alpha: null,
  maxInputPriceMicroUsdPerMillion: null,
  maxOutputPriceMicroUsdPerMillion: null,
  enableFallback: true
}
const hello = { messages: [{ role: "user", content: "hello" }] }

describe.each(databaseKinds)("routing on %s", (kind) => {
  const node = startsNode(kind)
  let person: Person
  let project: string
  let withKey: Send
  beforeAll(async () => {
    person = await newPerson(node)
    project = (await jsonOf<typeof ProjectOut.Encoded>(await person.send("POST", "/api/me/projects", { name: "p" }))).id
    const { api_key } = await jsonOf<{ readonly api_key: string }>(
      await person.send("POST", "/api/me/keys", { name: "key" })
    )
    withKey = sendTo(node.url, { authorization: `Bearer ${api_key}` })
  })

  const path = (rest = "") => `/api/projects/${project}/routing-configurations${rest}`
  const preview = async (body: object) => jsonOf<Route>(await withKey("POST", "/v1/route", { ...hello, ...body }))
  const chosen = async (model: string) => (await preview({ model })).candidates.map((candidate) => candidate.model)

  it("has configurations whose versions never change, one of them active", async () => {
    const created = await person.send("POST", path(), { slug: "cheap", models: ["sim/fast"] })
    expect(created.status).toBe(201)
    const first = await jsonOf<Out>(created)
    expect(first).toMatchObject({
      ...settings,
      project_id: project,
      slug: "cheap",
      name: "cheap",
      models: ["sim/fast"],
      active_version: 1,
      managed_by_configuration: false
    })
    expect(await chosen("auto:cheap")).toEqual(["sim/fast"])
    expect(await errorOf(await person.send("POST", path(), { slug: "cheap" }))).toEqual([409, "already_exists", null])

    const etag = (await person.send("GET", path("/cheap"))).headers.get("etag") ?? ""
    const replaced = await person.send(
      "PUT",
      path("/cheap"),
      { name: "Cheaper", models: ["sim/best"], max_output_price_microusd_per_million: 25_000_000 },
      { "if-match": etag }
    )
    expect(await jsonOf(replaced)).toMatchObject({ name: "Cheaper", models: ["sim/best"], active_version: 2 })
    expect(await chosen("auto:cheap")).toEqual(["sim/best"])
    expect(await errorOf(await person.send("PUT", path("/cheap"), {}, { "if-match": etag }))).toEqual([
      412,
      "version_mismatch",
      null
    ])

    const activated = await person.send("POST", path("/cheap/activate"), { version: 1 })
    expect(await jsonOf(activated)).toEqual({ ...first, updated_at: expect.any(String) })
    expect(await chosen("auto:cheap")).toEqual(["sim/fast"])
    expect(await errorOf(await person.send("POST", path("/cheap/activate"), { version: 3 }))).toEqual([
      400,
      "invalid_value",
      "version"
    ])
    const versions = async (query: string) =>
      jsonOf<typeof RoutingVersionsPage.Encoded>(await person.send("GET", path(`/cheap/versions${query}`)))
    const newest = await versions("?limit=1")
    expect(newest).toMatchObject({
      items: [{ version: 2, is_active: false, name: "Cheaper", models: ["sim/best"], created_by: person.userId }],
      has_more: true
    })
    expect(await versions(`?limit=1&cursor=${newest.next_cursor}`)).toMatchObject({
      items: [{ version: 1, is_active: true, models: ["sim/fast"] }],
      has_more: false
    })

    await person.send("POST", path(), { slug: "other" })
    const page = await jsonOf<typeof RoutingConfigurationsPage.Encoded>(await person.send("GET", path("?limit=1")))
    expect(page).toMatchObject({ items: [{ slug: "other" }], has_more: true })
    expect((await person.send("DELETE", path("/cheap"))).status).toBe(204)
    expect(await errorOf(await person.send("GET", path("/cheap")))).toEqual([404, "not_found", null])
    expect((await preview({ model: "auto:cheap" })).error?.code).toBe("model_not_found")
    expect(await jsonOf(await person.send("GET", `/api/projects/${project}/policy`))).toMatchObject({
      policy_version: 6
    })
  })

  it("have so many characters of patterns together that a node reads them at once", async () => {
    const { id } = await jsonOf<typeof ProjectOut.Encoded>(await person.send("POST", "/api/me/projects", { name: "p" }))
    const all = `/api/projects/${id}/routing-configurations`
    const list = Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(300, "x"))
    expect(await errorOf(await person.send("POST", all, { slug: "long", models: [list, list, list].flat() }))).toEqual([
      400,
      "invalid_value",
      "models"
    ])
    for (let index = 0; index < 16; index++) {
      const body = { slug: `c${index}`, models: list, providers: list }
      expect((await person.send("POST", all, body)).status).toBe(201)
    }
    const tooMuch = [400, "invalid_value", null]
    const full = { models: list, providers: list }
    expect(await errorOf(await person.send("POST", all, { slug: "more", ...full }))).toEqual(tooMuch)
    expect((await person.send("POST", all, { slug: "more", models: list })).status).toBe(201)
    expect(await errorOf(await person.send("PUT", `${all}/more`, full))).toEqual(tooMuch)
    // neither refusal has left anything
    expect(await jsonOf(await person.send("GET", `${all}/more`))).toMatchObject({ active_version: 1, providers: null })
    expect((await person.send("PUT", `${all}/c0`, {})).status).toBe(200)
    expect((await person.send("PUT", `${all}/more`, full)).status).toBe(200)
    expect(await errorOf(await person.send("POST", `${all}/c0/activate`, { version: 1 }))).toEqual(tooMuch)
  })

  it("shows what GATEWAY_CONFIG has, and does not change it", async () => {
    const operator = await operatorOf(node)
    const { default_project_id } = await jsonOf<{ readonly default_project_id: string }>(
      await operator.send("GET", "/api/me")
    )
    const at = (rest: string) => `/api/projects/${default_project_id}/routing-configurations${rest}`
    // the file's one takes the place of a person's of the same slug
    await operator.send("POST", at(""), { slug: "filed" })
    await node.run(applyConfiguration(null, [filed]))
    expect(await jsonOf(await operator.send("GET", at("/filed")))).toMatchObject({
      models: ["sim/fast"],
      active_version: null,
      managed_by_configuration: true
    })
    const answers = await Promise.all([
      operator.send("PUT", at("/filed"), {}),
      operator.send("POST", at("/filed/activate"), { version: 1 }),
      operator.send("DELETE", at("/filed"))
    ])
    for (const answer of answers) expect(await errorOf(answer)).toEqual([409, "managed_by_configuration", null])
  })

  it("gives a configuration back to the person who had made it when GATEWAY_CONFIG names it no more", async () => {
    const operator = await operatorOf(node)
    const { default_project_id } = await jsonOf<{ readonly default_project_id: string }>(
      await operator.send("GET", "/api/me")
    )
    const at = (rest: string) => `/api/projects/${default_project_id}/routing-configurations${rest}`
    const own = { models: ["sim/best", "sim/deep"], alpha: 0.8 }
    expect((await operator.send("POST", at(""), { slug: "returned", models: ["sim/best"] })).status).toBe(201)
    expect((await operator.send("PUT", at("/returned"), own)).status).toBe(200)
    await node.run(
      applyConfiguration(null, [
        { ...filed, slug: "returned" },
        { ...filed, slug: "of-the-file" }
      ])
    )
    await node.run(applyConfiguration(null, []))
    expect(await jsonOf(await operator.send("GET", at("/returned")))).toMatchObject({
      ...own,
      active_version: 2,
      managed_by_configuration: false
    })
    expect((await operator.send("PUT", at("/returned"), { alpha: 0.1 })).status).toBe(200)
    expect((await operator.send("GET", at("/of-the-file"))).status).toBe(404)
  })

  it.skipIf(kind === "embedded")(
    "has what the file says, also where a person changes the same one meanwhile",
    async () => {
      const operator = await operatorOf(node)
      const { default_project_id } = await jsonOf<{ readonly default_project_id: string }>(
        await operator.send("GET", "/api/me")
      )
      const slug = "changed-by-both"
      const all = `/api/projects/${default_project_id}/routing-configurations`
      expect((await operator.send("POST", all, { slug })).status).toBe(201)
      await withOpenTransaction(node.env.DATABASE_URL, async (other) => {
        // as the account API does: the project first, then its configuration
        await other.query("select from project where id = $1 for no key update", [default_project_id])
        const applied = node.run(Effect.exit(applyConfiguration(null, [{ ...filed, slug }])))
        await other.holdsBack(applied)
        await other.query("update routing_configuration set alpha = 1 where slug = $1", [slug])
        await other.commit()
        expect(await applied).toEqual(Exit.succeed(true))
      })
      expect(await jsonOf(await operator.send("GET", `${all}/${slug}`))).toMatchObject({
        models: ["sim/fast"],
        alpha: null,
        managed_by_configuration: true
      })
    }
  )

  it("previews a request: candidates with costs, or the error that a call would get; nothing is charged", async () => {
    const auto = await preview({ model: "auto", alpha: 0, temperature: 1 })
    expect(auto).toMatchObject({ requested_model: "auto", reason: "cheapest_eligible", alpha: 0, error: null })
    expect(auto.candidates.length).toBeGreaterThan(2)
    for (const { expected_cost_microusd, max_cost_microusd } of auto.candidates) {
      expect(max_cost_microusd).toBeGreaterThan(expected_cost_microusd)
    }
    const scores = auto.candidates.map(({ score }) => score)
    expect(Math.max(...scores)).toBe(scores[0])
    const asPerson = await person.send("POST", `/api/projects/${project}/route`, { ...hello, model: "auto", alpha: 0 })
    expect((await jsonOf<Route>(asPerson)).candidates.map(({ model }) => model)).toEqual(
      auto.candidates.map(({ model }) => model)
    )
    expect(await preview({ model: "sim/fast", alpha: 1 })).toMatchObject({ reason: "pinned_model", alpha: null })
    expect(await preview({ model: "auto", models: { allow: [] } })).toMatchObject({
      candidates: [],
      error: { code: "no_eligible_model", param: "models" },
      excluded: { request_restriction: expect.any(Number) }
    })
    expect(await errorOf(await withKey("POST", "/v1/route", { model: "auto" }))).toEqual([
      400,
      "missing_required_parameter",
      "messages"
    ])
    expect(await errorOf(await person.send("POST", `/api/projects/${project}/route`, { model: "auto" }))).toEqual([
      400,
      "missing_required_parameter",
      "messages"
    ])
    expect(await errorOf(await withKey("GET", "/v1/route"))).toEqual([400, "method_not_allowed", null])
    expect((await sendTo(node.url, {})("POST", "/v1/route", hello)).status).toBe(401)
  })

  it("previews an error with the name of the field that was sent", async () => {
    const paramOf = async (body: object) => (await preview({ model: "sim/fast", ...body })).error?.param
    expect(await paramOf({ reasoning: { effort: "high" } })).toBe("reasoning.effort")
    expect(await paramOf({ reasoning_effort: "high" })).toBe("reasoning_effort")
    const asPerson = await person.send("POST", `/api/projects/${project}/route`, {
      ...hello,
      model: "sim/fast",
      reasoning: { effort: "high" }
    })
    expect((await jsonOf<Route>(asPerson)).error?.param).toBe("reasoning.effort")
  })

  it("lists the catalog by pages, with prices, capabilities and health", async () => {
    const ids: Array<string> = []
    let cursor: string | null = null
    do {
      const query: string = cursor === null ? "" : `&cursor=${cursor}`
      const page: typeof CatalogPage.Encoded = await jsonOf(await person.send("GET", `/api/models?limit=2${query}`))
      expect(page.items.length).toBeLessThanOrEqual(2)
      ids.push(...page.items.map(({ id }) => id))
      cursor = page.next_cursor
    } while (cursor !== null)
    expect(ids).toEqual([...new Set(ids)].sort())
    expect(ids).toContain("sim/fast")
    const all = await jsonOf<typeof CatalogPage.Encoded>(await person.send("GET", "/api/models?limit=100"))
    expect(all.items.find(({ id }) => id === "sim/fast")).toMatchObject({
      provider: "sim",
      listed: true,
      prices: { input: 100_000, output: 400_000, tiers: [] },
      capabilities: { tools: true },
      health: { open_for_ms: 0, latency_ms: null }
    })
    expect(await errorOf(await person.send("GET", "/api/models?cursor=%20"))).toEqual([400, "invalid_value", "cursor"])
  })

  it.each([100, 101, 120])("takes a slug of %i characters in every path", async (length) => {
    const slug = "s".repeat(length)
    const { id } = await jsonOf<typeof ProjectOut.Encoded>(await person.send("POST", "/api/me/projects", { name: "q" }))
    const path = `/api/projects/${id}/routing-configurations`
    expect((await person.send("POST", path, { ...settings, slug })).status).toBe(201)
    for (const [method, rest, body] of [
      ["GET", "", undefined],
      ["PUT", "", settings],
      ["GET", "/versions", undefined],
      ["POST", "/activate", { version: 1 }]
    ] as const) {
      expect([method, rest, (await person.send(method, `${path}/${slug}${rest}`, body)).status]).toEqual([
        method,
        rest,
        200
      ])
    }
    expect((await person.send("DELETE", `${path}/${slug}`)).status).toBe(204)
  })

  it("answers with an error where a parameter of the path is longer than any that exists", async () => {
    const long = "s".repeat(5_000)
    expect(await errorOf(await person.send("GET", `/api/projects/${project}/routing-configurations/${long}`))).toEqual([
      400,
      "invalid_value",
      "slug"
    ])
    expect(await errorOf(await person.send("GET", `/api/projects/${long}`))).toEqual([400, "invalid_value", "id"])
    expect(await errorOf(await person.send("GET", `/api/me/checkout/${long}`))).toEqual([404, "not_found", null])
    expect(await errorOf(await person.send("GET", `/content/images/${long}`))).toEqual([404, "not_found", null])
  })
})
