import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { applyConfiguration } from "../../../src/app/FirstStartConfiguration.ts"
import type { PolicyOut, PolicySimulationOut } from "../../../src/wire/account/Policy.ts"
import type { ProjectOut } from "../../../src/wire/account/Projects.ts"
import {
  databaseKinds,
  newPerson,
  operatorOf,
  type Person,
  sendTo,
  startNode,
  startsNode
} from "../../support/AccountService.ts"
import { errorOf, jsonOf } from "../../support/Responses.ts"

const open = {
  allowed_models: null,
  excluded_models: [],
  allowed_providers: null,
  excluded_providers: [],
  default_alpha: null,
  exploration_share: 0,
  max_input_price_microusd_per_million: null,
  max_output_price_microusd_per_million: null,
  enable_fallback: true
}

describe.each(databaseKinds)("policies on %s", (kind) => {
  const node = startsNode(kind)
  let person: Person
  let project: string
  beforeAll(async () => {
    person = await newPerson(node)
    project = (await jsonOf<typeof ProjectOut.Encoded>(await person.send("POST", "/api/me/projects", { name: "p" }))).id
  })

  const path = () => `/api/projects/${project}/policy`
  const put = (body: unknown, headers?: Readonly<Record<string, string>>) => person.send("PUT", path(), body, headers)

  it("of a new project are open; a written one is complete, and has another version", async () => {
    const first = await person.send("GET", path())
    expect(await jsonOf(first)).toEqual({ ...open, policy_version: 1, managed_by_configuration: false })
    const written = await put({ allowed_providers: ["sim"], default_alpha: 1, enable_fallback: null })
    const expected = { ...open, allowed_providers: ["sim"], default_alpha: 1 }
    expect(await jsonOf(written)).toEqual({ ...expected, policy_version: 2, managed_by_configuration: false })
    expect(await errorOf(await put({}, { "if-match": first.headers.get("etag") ?? "" }))).toEqual([
      412,
      "version_mismatch",
      null
    ])
    // the same policy is no new version
    expect(await jsonOf(await put(expected))).toMatchObject({ policy_version: 2 })
    expect(await jsonOf(await put({ ...expected, exploration_share: 0.02 }))).toMatchObject({
      exploration_share: 0.02,
      policy_version: 3
    })
    expect(await jsonOf(await put(expected))).toMatchObject({ exploration_share: 0, policy_version: 4 })
    expect(await jsonOf(await put({}, { "if-match": written.headers.get("etag") ?? "" }))).toEqual({
      ...open,
      policy_version: 5,
      managed_by_configuration: false
    })
  })

  it("reject what is no policy", async () => {
    expect(await errorOf(await put({ allowed: [] }))).toEqual([400, "unsupported_parameter", "allowed"])
    expect(await errorOf(await put({ allowed_models: ["a b"] }))).toEqual([400, "invalid_value", "allowed_models[0]"])
    expect(await errorOf(await put({ default_alpha: 2 }))).toEqual([400, "invalid_value", "default_alpha"])
    expect(await errorOf(await put({ exploration_share: 0.021 }))).toEqual([400, "invalid_value", "exploration_share"])
  })

  it("hold for the keys of the project at once", async () => {
    const { api_key } = await jsonOf<{ readonly api_key: string }>(
      await person.send("POST", "/api/me/keys", { name: "key" })
    )
    const ids = async () => {
      const list = await sendTo(node.url, { authorization: `Bearer ${api_key}` })("GET", "/v1/models")
      return (await jsonOf<{ readonly data: ReadonlyArray<{ readonly id: string }> }>(list)).data.map(({ id }) => id)
    }
    expect(await ids()).toContain("sim/best")
    await put({ allowed_models: ["sim/fast"] })
    expect(await ids()).toEqual(["auto", "sim/fast"])
    await put({})
  })

  it("are simulated: what they would allow, and what would have nothing left to choose", async () => {
    const simulate = async (body: unknown) =>
      jsonOf<typeof PolicySimulationOut.Encoded>(await person.send("POST", `${path()}/simulate`, body))
    const some = await simulate({ allowed_models: ["sim/*"], excluded_models: ["sim/best"] })
    expect(some.before.models).toContain("sim/best")
    expect(some.after.models).toEqual(some.before.models.filter((id) => id.startsWith("sim/") && id !== "sim/best"))
    expect(some.becomes_empty).toEqual([])
    const none = await simulate({ max_input_price_microusd_per_million: 0 })
    expect(none).toMatchObject({ after: { models: [] }, becomes_empty: ["auto"] })
    expect(await jsonOf(await person.send("GET", path()))).toMatchObject(open)
  })
})

it("a policy of GATEWAY_CONFIG is read and simulated, but not written", async () => {
  const policy = { excluded_models: ["sim/best"] }
  const file = join(await mkdtemp(join(tmpdir(), "policy-")), "gateway.json")
  await writeFile(file, JSON.stringify({ policy }))
  const node = await startNode({ DATA_DIR: ":memory:", GATEWAY_CONFIG: file })
  const operator = await operatorOf(node)
  const { default_project_id } = await jsonOf<{ readonly default_project_id: string }>(
    await operator.send("GET", "/api/me")
  )
  await node.run(
    applyConfiguration(
      {
        models: { allow: null, deny: policy.excluded_models },
        providers: { allow: null, deny: [] },
        maxInputPriceMicroUsdPerMillion: null,
        maxOutputPriceMicroUsdPerMillion: null,
        defaultAlpha: null,
        explorationShare: 0,
        enableFallback: true
      },
      []
    )
  )
  const path = `/api/projects/${default_project_id}/policy`
  expect(await jsonOf<typeof PolicyOut.Encoded>(await operator.send("GET", path))).toMatchObject({
    ...policy,
    managed_by_configuration: true
  })
  expect(await errorOf(await operator.send("PUT", path, {}))).toEqual([409, "managed_by_configuration", null])
  expect((await operator.send("POST", `${path}/simulate`, {})).status).toBe(200)
  await node.stop()
})

it("lists of GATEWAY_CONFIG are read whole, also where a request could not have as many items", async () => {
  const node = await startNode({ DATA_DIR: ":memory:" })
  const operator = await operatorOf(node)
  const { default_project_id } = await jsonOf<{ readonly default_project_id: string }>(
    await operator.send("GET", "/api/me")
  )
  const many = Array.from({ length: 2_001 }, (_, index) => `acme/${index}`)
  const nothing = {
    maxInputPriceMicroUsdPerMillion: null,
    maxOutputPriceMicroUsdPerMillion: null,
    enableFallback: true
  }
  const providers = { allow: null, deny: [] }
  await node.run(
    applyConfiguration(
      { ...nothing, models: { allow: null, deny: many }, providers, defaultAlpha: null, explorationShare: 0 },
      [{ ...nothing, models: { allow: many, deny: [] }, providers, slug: "filed", name: null, alpha: null }]
    )
  )
  const path = `/api/projects/${default_project_id}`
  expect(await jsonOf(await operator.send("GET", `${path}/policy`))).toMatchObject({ excluded_models: many })
  expect(await jsonOf(await operator.send("GET", `${path}/routing-configurations`))).toMatchObject({
    items: [{ slug: "filed", models: many }]
  })
  expect(await errorOf(await operator.send("POST", `${path}/policy/simulate`, { excluded_models: many }))).toEqual([
    400,
    "invalid_value",
    "excluded_models"
  ])
  await node.stop()
})
