import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import { makeSnapshot } from "../../src/catalog/Catalog.ts"
import { ModelNotFound, RoutingConfigNotFound } from "../../src/domain/GatewayError.ts"
import { withHint } from "../../src/gateway/NotFoundHints.ts"
import { intersectPolicies, noControls } from "../../src/policy/EffectivePolicy.ts"
import { openPolicy } from "../../src/policy/ProjectPolicy.ts"
import { permittedModels } from "../../src/routing/PermittedModels.ts"
import { testModel } from "../../src/testing/index.ts"

const lacking = (id: string, ...needs: ReadonlyArray<string>) => ({
  id,
  alias: id.slice(id.indexOf("/") + 1),
  providerId: id.slice(0, id.indexOf("/")),
  prices: null,
  needs
})

const snapshot = makeSnapshot(
  [testModel("acme/large"), testModel("acme/small"), testModel("secret/model-x")],
  [lacking("openai/gpt-5", "OPENAI_API_KEY"), lacking("openrouter/gpt-5", "OPENROUTER_API_KEY")]
)

/** To a project that excludes the provider `secret` and everything of `excluded`. */
const hintOf = (model: string, excluded: ReadonlyArray<string> = []) => {
  const project = { ...openPolicy, providers: { allow: null, deny: ["secret", ...excluded] } }
  const policy = intersectPolicies(project, null, noControls)
  const hinted = withHint(new ModelNotFound({ model }), () => ({
    snapshot,
    policy,
    models: permittedModels(snapshot, policy),
    slugs: ["cheap"]
  }))
  if (!(hinted instanceof ModelNotFound)) throw new Error("the error has changed its kind")
  return { near: hinted.near, needs: hinted.needs }
}

describe("a model that is not found", () => {
  it.each([
    ["Auto", "auto"],
    ["auto:chaep", "auto:cheap"],
    ["acme/lagre", "acme/large"],
    ["lareg", "large"],
    ["none/such", undefined]
  ])("%s may mean %s", (model, near) => {
    expect(hintOf(model)).toEqual({ near, needs: undefined })
  })

  it("says which credential it lacks, by its id and by its bare name", () => {
    expect(hintOf("openai/gpt-5").needs).toEqual(["OPENAI_API_KEY"])
    expect(hintOf("gpt-5").needs).toEqual(["OPENAI_API_KEY", "OPENROUTER_API_KEY"])
  })

  it("says nothing of what the project excludes", () => {
    expect(hintOf("secret/model-y")).toEqual({ near: undefined, needs: undefined })
    expect(hintOf("openai/gpt-5", ["openai"]).needs).toBeUndefined()
    expect(hintOf("gpt-5", ["openai"]).needs).toEqual(["OPENROUTER_API_KEY"])
  })
})

it("a routing configuration that is not found may mean another one of the project", () => {
  const policy = intersectPolicies(openPolicy, null, noControls)
  const visible = () => ({ snapshot, policy, models: [], slugs: ["cheap", "fast"] })
  expect(withHint(new RoutingConfigNotFound({ routingConfig: "cheep" }), visible)).toMatchObject({ near: "cheap" })
})

it("every other error stays as it is, and nothing is looked up for it", () => {
  const error = Either.left("x")
  const never = () => {
    throw new Error("looked up")
  }
  expect(withHint(error, never)).toBe(error)
})
