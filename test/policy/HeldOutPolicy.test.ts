import { describe, expect, it } from "vitest"
import { armOf } from "../../src/domain/HoldOut.ts"
import { callPolicyOf, rulesFor } from "../../src/policy/HeldOutPolicy.ts"
import type { RoutingConfiguration } from "../../src/policy/ProjectPolicy.ts"

const row = {
  allowed_models: null,
  excluded_models: ["a/b"],
  allowed_providers: null,
  excluded_providers: null,
  max_input_price_microusd_per_million: null,
  max_output_price_microusd_per_million: null,
  default_alpha: 0.3,
  exploration_share: 0,
  enable_fallback: true,
  policy_version: 7,
  managed_by_configuration: false
}
const experiment = { id: "0199aaaa-0000-7000-8000-000000000001", share: 0.5, slug: null }
const configuration: RoutingConfiguration = {
  id: "0199aaaa-0000-7000-8000-000000000002",
  slug: "one",
  models: { allow: null, deny: [] },
  providers: { allow: null, deny: [] },
  maxInputPriceMicroUsdPerMillion: null,
  maxOutputPriceMicroUsdPerMillion: null,
  alpha: 0.3,
  enableFallback: true,
  isActive: true
}
const conversations = Array.from({ length: 50 }, (_, at) => at.toString(16).padStart(32, "0"))
const heldOut = conversations.filter((each) => armOf(experiment, each) === "held_out")
const treated = conversations.filter((each) => armOf(experiment, each) === "treated")
const none = () => {
  throw new Error("the conversation was asked for")
}

describe("the rules of a call in an experiment", () => {
  it("are those from before the change for conversations that are held out of it", () => {
    const project = callPolicyOf({
      ...row,
      experiment: {
        ...experiment,
        before: { default_alpha: 1, excluded_models: null },
        after: { default_alpha: 0.3, excluded_models: ["a/b"] }
      }
    })
    expect([heldOut.length > 0, treated.length > 0]).toEqual([true, true])
    for (const each of treated) expect(rulesFor({ project, configuration: null }, () => each).project).toBe(project)
    for (const each of heldOut) {
      const rules = rulesFor({ project, configuration: null }, () => each)
      expect(rules.project).toMatchObject({ version: 7, defaultAlpha: 1, models: { deny: [] } })
    }
  })

  it("are those of the project where a user has changed the fields since", () => {
    for (const changed of [{ default_alpha: 0.4 }, { excluded_models: ["a/b", "c/d"] }]) {
      const project = callPolicyOf({
        ...row,
        ...changed,
        experiment: {
          ...experiment,
          before: { default_alpha: 1, excluded_models: null },
          after: { default_alpha: 0.3, excluded_models: ["a/b"] }
        }
      })
      expect(rulesFor({ project, configuration: null }, none).project).toBe(project)
    }
  })

  it("change the alpha of the one configuration, as long as it is the one that was written", () => {
    const of = { ...experiment, slug: "one", before: { alpha: 1 }, after: { alpha: 0.3 } }
    const project = callPolicyOf({ ...row, experiment: of })
    for (const each of treated)
      expect(rulesFor({ project, configuration }, () => each).configuration).toBe(configuration)
    for (const each of heldOut) {
      const rules = rulesFor({ project, configuration }, () => each)
      expect(rules).toEqual({ project, configuration: { ...configuration, alpha: 1 } })
      // what is compiled of it is kept by the object
      expect(rulesFor({ project, configuration }, () => each).configuration).toBe(rules.configuration)
    }
    for (const other of [null, { ...configuration, slug: "two" }, { ...configuration, alpha: 0.9 }]) {
      expect(rulesFor({ project, configuration: other }, none).configuration).toBe(other)
    }
  })

  it("cost a project without an experiment nothing", () => {
    const project = callPolicyOf({ ...row, experiment: null })
    const rules = { project, configuration }
    expect(rulesFor(rules, none)).toBe(rules)
  })
})
