import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import { makeSnapshot } from "../../src/catalog/Catalog.ts"
import type { ChatRequest, Effort } from "../../src/domain/Chat.ts"
import type { Model } from "../../src/domain/Model.ts"
import { intersectPolicies } from "../../src/policy/EffectivePolicy.ts"
import type { ProjectPolicy, RoutingConfiguration } from "../../src/policy/Policy.ts"
import { permittedModels } from "../../src/routing/PermittedModels.ts"
import type { RouteHealth } from "../../src/routing/RouteHealth.ts"
import { type Ranked, rank } from "../../src/routing/Router.ts"
import { configuration, controls, expected, healthy, model, prices, project, request, supporting } from "./models.ts"

interface Setting {
  readonly asked?: Partial<ChatRequest>
  readonly project?: Partial<ProjectPolicy>
  readonly configuration?: Partial<RoutingConfiguration>
  readonly health?: Readonly<Record<string, Partial<RouteHealth>>>
  readonly promptTokens?: number
  readonly imagesAndFiles?: number
  readonly billingMode?: "managed" | "byok"
}

const run = (models: ReadonlyArray<Model>, setting: Setting = {}) => {
  const asked = request(setting.asked)
  return rank({
    snapshot: makeSnapshot(models),
    policy: intersectPolicies(
      project(setting.project),
      setting.configuration === undefined ? null : configuration(setting.configuration),
      asked.routing
    ),
    request: asked,
    ...expected(asked, setting.promptTokens ?? 1_000, setting.imagesAndFiles),
    health: ({ id }) => ({ ...healthy, ...setting.health?.[id] }),
    nowMillis: 1_000_000,
    billingMode: setting.billingMode ?? "managed"
  })
}
const ranked = (models: ReadonlyArray<Model>, setting?: Setting): Ranked => Either.getOrThrow(run(models, setting))
const ids = (models: ReadonlyArray<Model>, setting?: Setting) =>
  ranked(models, setting)
    .candidates.all()
    .map((candidate) => candidate.model.id)
const failure = (models: ReadonlyArray<Model>, setting?: Setting) =>
  Either.getOrThrow(Either.flip(run(models, setting)))

const cheap = model("acme/cheap", { quality: 0.4, prices: prices(100_000, 400_000) })
const middle = model("beta/middle", { quality: 0.7, prices: prices(1_000_000, 4_000_000) })
const best = model("cera/best", { quality: 0.9, prices: prices(10_000_000, 40_000_000) })
const three = [cheap, middle, best]
const at = (alpha: number) => ({ asked: { routing: controls({ alpha }) } })
const tool = { type: "function", function: { name: "f" } } as const

describe("The model auto", () => {
  it("alpha 0 is the cheapest, 1 the best, between them a tradeoff; the reason says which", () => {
    expect(ids(three, at(0))).toEqual(["acme/cheap", "beta/middle", "cera/best"])
    expect(ids(three, at(1))).toEqual(["cera/best", "beta/middle", "acme/cheap"])
    expect(ranked(three, at(0)).reason).toBe("cheapest_eligible")
    expect(ranked(three, at(1)).reason).toBe("highest_quality")
    expect(ranked(three, at(0.5)).reason).toBe("quality_cost_tradeoff")
    expect(ids(three, at(0.35))[0]).toBe("beta/middle")
  })

  it("alpha 0 asks for nothing but the cost, and alpha 1 for nothing but the quality, however near the other two are", () => {
    const poor = model("acme/poor", { quality: 0.1, prices: prices(1_000_000, 4_000_000) })
    const good = model("beta/good", { quality: 0.95, prices: prices(1_001_000, 4_004_000) })
    const great = model("cera/great", { quality: 0.951, prices: prices(100_000_000, 400_000_000) })
    expect(ids([great, good, poor], at(0))).toEqual(["acme/poor", "beta/good", "cera/great"])
    expect(ids([great, good, poor], at(1))).toEqual(["cera/great", "beta/good", "acme/poor"])
  })

  it("only listed models are candidates", () => {
    expect(ids([...three, model("sim/fail", { quality: 1, listed: false })], at(1))).not.toContain("sim/fail")
  })

  it("auto:<slug> is auto: the configuration has already narrowed it", () => {
    const limits = { models: { allow: ["beta/*"], deny: [] } }
    const { candidates, excluded, reason } = ranked(three, { asked: { model: "auto:cheap" }, configuration: limits })
    expect(candidates.all().map((one) => one.model.id)).toEqual(["beta/middle"])
    expect(reason).toBe("only_candidate")
    expect(excluded).toEqual({ routing_config: 2 })
  })

  it("nothing left by policy, restrictions and caps is no_eligible_model, with the counts", () => {
    expect(
      failure(three, {
        project: { models: { allow: null, deny: ["acme/*"] } },
        configuration: { maxInputPriceMicroUsdPerMillion: 1_000_000 },
        asked: { routing: controls({ models: { allow: [], deny: [] } }) }
      })
    ).toMatchObject({
      _tag: "NoEligibleModel",
      excluded: { project_policy: 1, routing_config_price_cap: 1, request_restriction: 1 }
    })
    expect(failure([])).toMatchObject({ _tag: "NoEligibleModel", excluded: {} })
  })

  it("compares with a price cap the tier that the whole prompt falls into, with its images and files", () => {
    const high = { abovePromptTokens: 200_000, input: 2_500_000, output: 15_000_000, cacheRead: null, cacheWrite: null }
    const tiered = model("acme/tiered", {
      prices: prices(1_250_000, 10_000_000, [high]),
      contextTokens: 1_000_000,
      imageTokens: 1_200
    })
    const capped = (imagesAndFiles: number) =>
      rank({
        snapshot: makeSnapshot([tiered]),
        policy: intersectPolicies(project({ maxInputPriceMicroUsdPerMillion: 2_000_000 }), null, controls()),
        request: request(),
        ...expected(request(), 195_000, imagesAndFiles),
        health: () => healthy,
        nowMillis: 0,
        billingMode: "managed"
      })
    expect(Either.isRight(capped(4))).toBe(true)
    expect(Either.flip(capped(5))).toMatchObject({ right: { excluded: { project_price_cap: 1 } } })
  })

  it("no_eligible_model names the field of the request that excluded most", () => {
    const none = { allow: [], deny: [] }
    const blamed = (routing: Parameters<typeof controls>[0], more: object = {}) =>
      failure(three, { asked: { routing: controls(routing) }, ...more })
    expect(blamed({ models: none })).toMatchObject({ param: "models" })
    expect(blamed({ providers: none })).toMatchObject({ param: "provider" })
    expect(blamed({ maxInputPriceMicroUsdPerMillion: 0 })).toMatchObject({
      param: "max_input_price_microusd_per_million"
    })
    expect(blamed({ maxOutputPriceMicroUsdPerMillion: 0 })).toMatchObject({
      param: "max_output_price_microusd_per_million"
    })
    const configuration = { models: none }
    expect(blamed({ routingConfig: "cheap" }, { configuration })).toMatchObject({ param: "routing_config" })
    expect(blamed({}, { configuration })).toMatchObject({ param: "model" })
    expect(blamed({}, { project: { models: none } })).toMatchObject({ param: "model" })
  })

  it("nothing left by capabilities is a 400 with the param that excluded most", () => {
    const blind = { vision: false, tools: true }
    const handless = { vision: true, tools: false }
    const pool = [blind, handless, handless].map((more, index) => {
      const one = model(`acme/${index}`)
      return { ...one, capabilities: { ...one.capabilities, ...more } }
    })
    const asked: Partial<ChatRequest> = {
      tools: [tool],
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }] }]
    }
    expect(failure(pool, { asked })).toMatchObject({
      _tag: "InvalidRequest",
      code: "unsupported_for_provider",
      param: "tools"
    })
    expect(failure(pool.slice(0, 1), { asked })).toMatchObject({ param: "messages[0].content[0].type" })
  })

  it("nothing left by context is context_length_exceeded", () => {
    const blind = { ...cheap, support: supporting({ tools: "refused" }) }
    expect(failure([blind, middle], { asked: { tools: [tool] }, promptTokens: 200_000 })).toMatchObject({
      _tag: "InvalidRequest",
      code: "context_length_exceeded",
      param: "messages"
    })
  })

  it("fallback is as project, configuration and request have it; all candidates are ranked either way", () => {
    expect(ranked(three).fallbackEnabled).toBe(true)
    const off = ranked(three, { asked: { routing: controls({ enableFallback: false }) } })
    expect(off.fallbackEnabled).toBe(false)
    expect(off.candidates.all()).toHaveLength(3)
  })

  it("the tier that the prompt falls into decides the expected cost", () => {
    const tier = { abovePromptTokens: 5_000, input: 50_000_000, output: 50_000_000, cacheRead: null, cacheWrite: null }
    const tiered = { ...cheap, prices: prices(100_000, 400_000, [tier]) }
    expect(ids([tiered, middle], { ...at(0), promptTokens: 5_000 })[0]).toBe("acme/cheap")
    expect(ids([tiered, middle], { ...at(0), promptTokens: 5_001 })[0]).toBe("beta/middle")
  })

  it("expected cost counts 400 tokens of output, more for a model that reasons, never more than the cap", () => {
    const costs = (asked: Partial<ChatRequest>, more: Partial<Model> = {}) =>
      ranked([{ ...middle, ...more }], { asked }).candidates.first.expectedCost
    expect(costs({})).toBe(1_000 + 1_600)
    expect(costs({ maxOutputTokens: 100 })).toBe(1_000 + 400)
    expect(costs({}, { reasonsByDefault: true })).toBe(1_000 + 6_400)
    expect(costs({ maxOutputTokens: 100 }, { reasonsByDefault: true })).toBe(1_000 + 400)
    expect(costs({}, { outputTokens: 50 })).toBe(1_000 + 200)
    const profile = { effort: null, maxOutputTokens: 25, apiVersion: null }
    expect(costs({}, { profile })).toBe(1_000 + 100)
  })

  it("images and files count at each model's own rate, for its expected cost and its tier", () => {
    const large = { ...middle, imageTokens: 3_000 }
    const small = { ...middle, id: "beta/small", imageTokens: 200 }
    const setting = { ...at(0), imagesAndFiles: 10 }
    const { candidates } = ranked([large, small], setting)
    expect(candidates.all().map(({ expectedCost, model }) => [model.id, expectedCost])).toEqual([
      ["beta/small", 1_000 + 10 * 200 + 1_600],
      ["beta/middle", 1_000 + 10 * 3_000 + 1_600]
    ])
    const tier = { abovePromptTokens: 30_000, input: 2_000_000, output: 4_000_000, cacheRead: null, cacheWrite: null }
    const tiered = { ...large, prices: prices(1_000_000, 4_000_000, [tier]) }
    expect(ranked([tiered], setting).candidates.first.expectedCost).toBe(2 * 31_000 + 1_600)
    // how long they really are is only known to the provider: no limit of a prompt refuses them
    expect(ids([{ ...large, contextTokens: 2_000 }], setting)).toEqual(["beta/middle"])
  })

  it("a route without prices ranks as dear as the dearest where the project pays itself", () => {
    const unpriced = model("acme/unpriced", { quality: 0.9, prices: null })
    expect(ids([unpriced, ...three], { ...at(0), billingMode: "byok" }).slice(0, 2)).toEqual([
      "acme/cheap",
      "beta/middle"
    ])
    expect(ranked([unpriced], { billingMode: "byok" }).candidates.first.expectedCost).toBe(0)
  })

  it("a named effort is ignored and noted, each model runs by its profile", () => {
    const reasoning = {
      efforts: ["low", "high"],
      style: "effort",
      budget: null,
      defaultEffort: null,
      mandatory: false,
      depth: null
    } as const
    const thinker = model("acme/thinker", {
      reasoning,
      profile: { effort: "low", maxOutputTokens: null, apiVersion: null }
    })
    const { candidates } = ranked([thinker, middle], { asked: { effort: "high" } })
    expect(candidates.all().map((one) => [one.model.id, one.effort, one.dropped, one.altered])).toEqual(
      expect.arrayContaining([
        ["acme/thinker", "low", [], ["reasoning_effort"]],
        ["beta/middle", undefined, ["reasoning_effort"], []]
      ])
    )
    expect(ranked([thinker]).candidates.first).toMatchObject({ effort: "low", dropped: [] })
    const mute = { ...thinker, support: supporting({ reasoning_effort: "refused" }) }
    expect(ranked([mute]).candidates.first.effort).toBeUndefined()
  })

  it("a numeric effort is 400 unsupported_value", () => {
    expect(failure(three, { asked: { effort: 20 } })).toMatchObject({
      _tag: "InvalidRequest",
      code: "unsupported_value",
      param: "reasoning_effort"
    })
  })
})

describe("A concrete id", () => {
  const asked = { model: "beta/middle" }

  it("a concrete id is its one route, without fallback, also when it is not listed", () => {
    const only = ranked([cheap, { ...middle, listed: false }, best], { asked })
    expect(only.candidates.all().map((one) => one.model.id)).toEqual(["beta/middle"])
    expect(only).toMatchObject({ pinned: true, reason: "pinned_model", fallbackEnabled: false })
  })

  it("a concrete id that is unknown or excluded by the project is model_not_found", () => {
    const gone = { _tag: "ModelNotFound", model: "beta/middle" }
    expect(failure([cheap], { asked })).toMatchObject(gone)
    expect(failure(three, { asked, project: { providers: { allow: null, deny: ["beta"] } } })).toMatchObject(gone)
    expect(failure(three, { asked, project: { maxOutputPriceMicroUsdPerMillion: 1 } })).toMatchObject(gone)
  })

  it("a concrete id that configuration or request exclude is no_eligible_model", () => {
    expect(failure(three, { asked, configuration: { models: { allow: ["acme/*"], deny: [] } } })).toMatchObject({
      _tag: "NoEligibleModel",
      excluded: { routing_config: 1 }
    })
    const routing = controls({ maxInputPriceMicroUsdPerMillion: 5 })
    expect(failure(three, { asked: { ...asked, routing } })).toMatchObject({
      _tag: "NoEligibleModel",
      excluded: { request_price_cap: 1 }
    })
  })

  it("a concrete id that cannot do what is requested is 400 unsupported_for_provider", () => {
    const plain = { ...middle, support: supporting({ tools: "refused" }) }
    expect(failure([plain], { asked: { ...asked, tools: [tool] } })).toMatchObject({
      _tag: "InvalidRequest",
      code: "unsupported_for_provider",
      param: "tools"
    })
  })

  it("a concrete id whose protocol takes fewer stop strings is 400 unsupported_for_provider", () => {
    const gemini = { ...middle, protocol: "gemini" as const }
    expect(failure([gemini], { asked: { ...asked, stop: ["1", "2", "3", "4", "5", "6"] } })).toMatchObject({
      _tag: "InvalidRequest",
      code: "unsupported_for_provider",
      param: "stop"
    })
  })

  it("a Claude that always reasons is 400 unsupported_for_provider for a forced tool, and auto chooses another", () => {
    const reasoning = {
      efforts: ["high"],
      style: "effort",
      budget: null,
      defaultEffort: null,
      mandatory: true,
      depth: null
    } as const
    const claude = { ...middle, protocol: "anthropic-messages" as const, reasoning, reasonsByDefault: true }
    const more = { tools: [tool], toolChoice: "required" } as const
    expect(failure([claude], { asked: { ...asked, ...more } })).toMatchObject({
      _tag: "InvalidRequest",
      code: "unsupported_for_provider",
      param: "tool_choice"
    })
    expect(ids([claude, cheap], { asked: more })).toEqual(["acme/cheap"])
    expect(ranked([claude, cheap], { asked: more }).excluded).toEqual({ unsupported_forced_tool: 1 })
  })

  it("a concrete id with an effort that it does not advertise is a 400 for reasoning_effort", () => {
    for (const effort of ["high", 20] as const) {
      expect(failure(three, { asked: { ...asked, effort } })).toMatchObject({
        _tag: "InvalidRequest",
        param: "reasoning_effort"
      })
    }
  })

  it("a concrete id with too small a context is context_length_exceeded", () => {
    expect(failure(three, { asked, promptTokens: 100_001 })).toMatchObject({
      code: "context_length_exceeded",
      param: "messages"
    })
  })

  it("a concrete id gets the request's effort, else its profile's; with tools none where the model forbids it", () => {
    const reasoning = {
      efforts: ["low", "high"],
      style: "effort",
      budget: null,
      defaultEffort: null,
      mandatory: false,
      depth: { min: 1, max: 100 }
    } as const
    const profile = { effort: "low", maxOutputTokens: null, apiVersion: null } as const
    const thinker = { ...middle, reasoning, profile }
    const one = (more: Partial<ChatRequest>, forbid = false) => {
      const { effort, dropped } = ranked([{ ...thinker, toolsForbidEffort: forbid }], { asked: { ...asked, ...more } })
        .candidates.first
      return { effort, dropped }
    }
    expect(one({ effort: "high" })).toEqual({ effort: "high", dropped: [] })
    expect(one({ effort: 20 })).toEqual({ effort: 20, dropped: [] })
    expect(one({})).toEqual({ effort: "low", dropped: [] })
    expect(one({ effort: "high", tools: [tool] })).toEqual({ effort: "high", dropped: [] })
    expect(one({ effort: "high", tools: [tool] }, true)).toEqual({ effort: undefined, dropped: ["reasoning_effort"] })
    expect(one({ tools: [tool] }, true)).toEqual({ effort: undefined, dropped: [] })
    // `none` is taken always, and sent where it is listed
    for (const more of [{}, { tools: [tool] }]) {
      expect(one({ effort: "none", ...more }, true)).toEqual({ effort: undefined, dropped: ["reasoning_effort"] })
      const lists = {
        ...thinker,
        reasoning: { ...reasoning, efforts: ["none", "low"] as const },
        toolsForbidEffort: true
      }
      expect(ranked([lists], { asked: { ...asked, effort: "none", ...more } }).candidates.first.effort).toBe("none")
    }
  })

  it("a model that reasons by default and forbids an effort beside tools is told not to reason", () => {
    const reasoning = {
      efforts: ["none", "low", "high"],
      style: "effort",
      budget: null,
      defaultEffort: "low",
      mandatory: false,
      depth: null
    } as const
    const thinker: Model = { ...middle, reasoning, reasonsByDefault: true, toolsForbidEffort: true }
    const one = (more: Partial<ChatRequest>, changes: Partial<Model> = {}) => {
      const { altered, dropped, effort } = ranked([{ ...thinker, ...changes }], { asked: { ...asked, ...more } })
        .candidates.first
      return [effort, dropped, altered]
    }
    const tools = [tool]
    for (const named of [{}, { model: "auto" }]) {
      expect(one({ ...named, tools })).toEqual(["none", [], []])
      expect(one({ ...named, tools, effort: "high" })).toEqual(["none", [], ["reasoning_effort"]])
      expect(one(named)).toEqual([undefined, [], []])
    }
    expect(one({ tools, effort: "none" })).toEqual(["none", [], []])
    expect(one({ effort: "high" })).toEqual(["high", [], []])
    const wish = { maxTokens: undefined, summary: undefined, exclude: false } as const
    expect(one({ tools, reasoning: { ...wish, mode: "enabled" } })).toEqual(["none", ["reasoning.mode"], []])
    expect(one({ tools, reasoning: { ...wish, mode: "disabled" } })).toEqual(["none", [], []])
    expect(one({ tools }, { reasonsByDefault: false })).toEqual([undefined, [], []])
    const mandatory: Model["reasoning"] = { ...reasoning, efforts: ["low", "high"], mandatory: true }
    expect(one({ tools }, { reasoning: mandatory })).toEqual([undefined, [], []])
    expect(one({ tools }, { support: supporting({ reasoning_effort: "dropped" }) })).toEqual([undefined, [], []])
  })

  it("a model that decides how much it reasons takes the effort for a wish: the nearest that it lists, or none", () => {
    const reasoning = {
      efforts: ["none", "low", "high"],
      style: "effort",
      budget: null,
      defaultEffort: null,
      mandatory: false,
      depth: null
    } as const
    const adaptive = { mode: "adaptive", maxTokens: undefined, summary: undefined, exclude: false } as const
    const profile = { effort: null, maxOutputTokens: null, apiVersion: null } as const
    const thinker = { ...middle, reasoning, profile }
    const one = (model: Model, effort: Effort) => {
      const { candidates } = ranked([model], { asked: { ...asked, effort, reasoning: adaptive } })
      return [candidates.first.effort, candidates.first.dropped, candidates.first.altered]
    }
    expect(one(thinker, "high")).toEqual(["high", [], []])
    expect(one(thinker, "max")).toEqual(["high", [], ["reasoning_effort"]])
    expect(one({ ...thinker, protocol: "anthropic-messages" }, "max")).toEqual(["high", [], ["reasoning_effort"]])
    expect(one({ ...thinker, reasoning: null }, "max")).toEqual([undefined, ["reasoning.mode", "reasoning_effort"], []])
  })

  it("an Anthropic model drops and reports the parameters that it rejects beside others that are sent", () => {
    const profile = { effort: null, maxOutputTokens: null, apiVersion: null } as const
    const reasoning = {
      efforts: ["none", "high"],
      style: "effort",
      budget: null,
      defaultEffort: null,
      mandatory: false,
      depth: null
    } as const
    const claude = { ...middle, reasoning, profile, protocol: "anthropic-messages" as const }
    const one = (more: Partial<ChatRequest>) => {
      const { effort, dropped } = ranked([claude], { asked: { ...asked, ...more } }).candidates.first
      return [effort, dropped]
    }
    const forced = { type: "function", function: { name: "f" } }
    const allowed = (mode: string) => ({ type: "allowed_tools", allowed_tools: { mode, tools: [forced] } })
    for (const toolChoice of ["required", forced, allowed("required")] as const) {
      expect(one({ effort: "high", tools: [tool], toolChoice })).toEqual([undefined, ["reasoning_effort"]])
    }
    for (const toolChoice of ["auto", "none", allowed("auto")] as const) {
      expect(one({ effort: "high", tools: [tool], toolChoice })).toEqual(["high", []])
    }
    expect(one({ effort: "high", temperature: 1, topP: 1 })).toEqual(["high", ["temperature", "top_p"]])
    expect(one({ temperature: 1, topP: 1 })).toEqual([undefined, ["top_p"]])
    expect(one({ topP: 1, stop: ["x"] })).toEqual([undefined, []])
    expect(one({ stop: ["\n", " "] })).toEqual([undefined, ["stop"]])
  })

  it("a Bedrock route drops the same for Anthropic's models, and only blank stop sequences for others", () => {
    const more = { temperature: 1, topP: 1, stop: ["\n"], tools: [tool], toolChoice: "required" } as const
    const droppedAt = (upstreamModel: string) => {
      const route = { ...middle, upstreamModel, protocol: "bedrock-converse" as const }
      return ranked([route], { asked: { ...asked, ...more } }).candidates.first.dropped
    }
    expect(droppedAt("us.anthropic.claude-sonnet-4-6-v1:0")).toEqual(["top_p", "stop"])
    expect(droppedAt("amazon.nova-lite-v1:0")).toEqual(["stop"])
  })

  it("a concrete id is tried even while its circuit is open, and the end of the open period is reported", () => {
    const open = ranked(three, { asked, health: { "beta/middle": { openUntilMillis: 1_005_000 } } })
    expect(open.candidates.first.model.id).toBe("beta/middle")
    expect(open.openUntilMillis).toBe(1_005_000)
  })
})

describe("A bare upstream name", () => {
  const routes = [
    model("acme/large", { prices: prices(2_000, 2_000) }),
    model("beta/large", { prices: prices(1_000, 1_000) }),
    model("cera/large", { prices: prices(1_000, 1_000) })
  ]
  const asked = { model: "large" }

  it("a bare upstream name is the cheapest healthy provider's route, whatever alpha, without fallback", () => {
    for (const alpha of [0, 0.3, 0.65, 1]) {
      const only = ranked(routes, { asked: { ...asked, routing: controls({ alpha }) } })
      expect(only.candidates.all().map((one) => one.model.id)).toEqual(["beta/large"])
      expect(only).toMatchObject({ pinned: true, reason: "pinned_model", fallbackEnabled: false })
    }
  })

  it("a bare upstream name goes to the next route when one is open, excluded or not capable", () => {
    expect(ids(routes, { asked, health: { "beta/large": { openUntilMillis: 2_000_000 } } })).toEqual(["cera/large"])
    expect(ids(routes, { asked, project: { providers: { allow: null, deny: ["beta", "cera"] } } })).toEqual([
      "acme/large"
    ])
    const [acme, beta, cera] = routes
    if (acme === undefined || beta === undefined || cera === undefined) throw new Error("three routes")
    const without = { ...beta, support: supporting({ tools: "refused" }) }
    expect(ids([acme, without, cera], { asked: { ...asked, tools: [tool] } })).toEqual(["cera/large"])
  })

  it("a bare upstream name with every route excluded by the project is model_not_found, else no_eligible_model", () => {
    expect(failure(routes, { asked, project: { models: { allow: null, deny: ["large"] } } })._tag).toBe("ModelNotFound")
    const routing = controls({ providers: { allow: null, deny: ["beta", "cera"] } })
    expect(
      failure(routes, { asked: { ...asked, routing }, project: { providers: { allow: null, deny: ["acme"] } } })
    ).toMatchObject({ _tag: "NoEligibleModel", excluded: { project_policy: 1, request_restriction: 2 } })
  })

  it("a bare upstream name prefers listed routes", () => {
    const hidden = model("aaa/large", { prices: prices(0, 0), listed: false })
    expect(ids([hidden, ...routes], { asked })).toEqual(["beta/large"])
    expect(ids([hidden], { asked })).toEqual(["aaa/large"])
  })
})

describe("Health", () => {
  const open = { openUntilMillis: 1_030_000 }

  it("routes with an open circuit rank behind all ready ones but are never dropped", () => {
    const { candidates, reason, openUntilMillis } = ranked(three, { ...at(1), health: { "cera/best": open } })
    expect(candidates.all().map((one) => one.model.id)).toEqual(["beta/middle", "acme/cheap", "cera/best"])
    expect(reason).toBe("health_demotion")
    expect(openUntilMillis).toBeUndefined()
  })

  it("an open period that is over no longer counts", () => {
    const health = { "cera/best": { openUntilMillis: 1_000_000 } }
    expect(ranked(three, { ...at(1), health })).toMatchObject({ reason: "highest_quality" })
  })

  it("with all circuits open the best is still first, and the first end of an open period is reported", () => {
    const health = {
      "acme/cheap": { openUntilMillis: 1_010_000 },
      "beta/middle": { openUntilMillis: 1_020_000 },
      "cera/best": open
    }
    const all = ranked(three, { ...at(1), health })
    expect(all.candidates.first.model.id).toBe("cera/best")
    expect(all).toMatchObject({ reason: "highest_quality", openUntilMillis: 1_010_000 })
  })

  it("a route that mostly fails goes to the end, even at alpha 0", () => {
    const { candidates, reason } = ranked(three, { ...at(0), health: { "acme/cheap": { failure: 0.51 } } })
    expect(candidates.all().at(-1)?.model.id).toBe("acme/cheap")
    expect(reason).toBe("health_demotion")
    expect(ids(three, { ...at(0), health: { "acme/cheap": { failure: 0.5 } } })[0]).toBe("acme/cheap")
  })

  it("failures lower the expected quality; what every route is granted does not", () => {
    const twin = { ...best, id: "dora/best", providerId: "dora", quality: 0.89 }
    expect(ids([best, twin], at(1))[0]).toBe("cera/best")
    expect(ids([best, twin], { ...at(1), health: { "dora/best": { failure: 0 } } })[0]).toBe("cera/best")
    const sick = ranked([best, twin], { ...at(1), health: { "cera/best": { failure: 0.3 } } })
    expect(sick.candidates.first.model.id).toBe("dora/best")
    expect(sick.reason).toBe("health_demotion")
  })

  it("latency only breaks ties, in doublings", () => {
    const twin = { ...best, id: "aaa/best", providerId: "aaa" }
    const latency = (a: number | null, b: number | null) =>
      ids([best, twin], {
        ...at(0.5),
        health: { "aaa/best": { latencyMillis: a }, "cera/best": { latencyMillis: b } }
      })[0]
    expect(latency(2_100, 500)).toBe("cera/best")
    expect(latency(1_100, 900)).toBe("cera/best")
    expect(latency(1_000, 600)).toBe("aaa/best")
    expect(latency(null, null)).toBe("aaa/best")
    const dearer = { ...twin, prices: prices(10_100_000, 40_000_000) }
    expect(
      ids([best, dearer], {
        ...at(0.5),
        health: { "aaa/best": { latencyMillis: 1 }, "cera/best": { latencyMillis: 9e9 } }
      })
    ).toEqual(["cera/best", "aaa/best"])
  })
})

describe("The second candidate", () => {
  const first = model("acme/one", { quality: 0.9 })
  const sibling = model("acme/two", { quality: 0.85 })
  const near = model("beta/near", { quality: 0.831 })
  const far = model("beta/far", { quality: 0.8 })

  it("the second candidate is another provider's when one is near in utility", () => {
    expect(ids([first, sibling, near], at(1))).toEqual(["acme/one", "beta/near", "acme/two"])
    expect(ids([first, sibling, far], at(1))).toEqual(["acme/one", "acme/two", "beta/far"])
  })

  it("a route with an open circuit is not made the second candidate", () => {
    const health = { "beta/near": { openUntilMillis: 2_000_000 } }
    expect(ids([first, sibling, near], { ...at(1), health })).toEqual(["acme/one", "acme/two", "beta/near"])
  })
})

describe("What a key may see", () => {
  it("a key sees every listed model that the project allows and that has a price, in code-point order", () => {
    const models = [
      best,
      cheap,
      model("sim/fail", { listed: false }),
      model("acme/unpriced", { prices: null }),
      model("acme/denied")
    ]
    const policy = project({ models: { allow: null, deny: ["denied"] }, maxInputPriceMicroUsdPerMillion: null })
    const seen = (billingMode?: "byok") =>
      permittedModels(makeSnapshot(models), intersectPolicies(policy, null, controls()), billingMode).map(
        (one) => one.id
      )
    expect(seen()).toEqual(["acme/cheap", "cera/best"])
    expect(seen("byok")).toEqual(["acme/cheap", "acme/unpriced", "cera/best"])
  })
})
