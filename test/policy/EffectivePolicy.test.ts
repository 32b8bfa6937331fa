import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Restriction, RoutingRestrictions } from "../../src/domain/Chat.ts"
import type { Model } from "../../src/domain/Model.ts"
import { type EffectivePolicy, excludedBy, intersectPolicies } from "../../src/policy/EffectivePolicy.ts"
import { configuration, controls, model, open, prices, project } from "../routing/models.ts"

const allow = (...entries: ReadonlyArray<string>): Restriction => ({ allow: entries, deny: [] })
const deny = (...entries: ReadonlyArray<string>): Restriction => ({ allow: null, deny: entries })

const verdict = (limits: Partial<RoutingRestrictions>, one: Model, promptTokens = 10) =>
  excludedBy(intersectPolicies(project(limits), null, controls()), one, promptTokens)

describe("Restrictions", () => {
  const large = model("acme/large")

  it("an id, its prefix, its bare upstream name and * each match a model", () => {
    for (const entry of ["acme/large", "acme/*", "large", "*"]) {
      expect(verdict({ models: allow(entry) }, large)).toBeNull()
      expect(verdict({ models: deny(entry) }, large)).toBe("project_policy")
    }
    for (const entry of ["acme", "acm/*", "acme/lar*", "acme/", "other/large", "", "/*"]) {
      expect(verdict({ models: allow(entry) }, large)).toBe("project_policy")
      expect(verdict({ models: deny(entry) }, large)).toBeNull()
    }
  })

  it("a prefix may reach into an id of several parts", () => {
    const nested = model("acme/org/large")
    expect(verdict({ models: allow("acme/org/*") }, nested)).toBeNull()
    expect(verdict({ models: allow("acme/*") }, nested)).toBeNull()
    expect(verdict({ models: allow("org/*") }, nested)).toBe("project_policy")
  })

  it("a prefix that denies also matches upstream names; one that allows opens no other provider", () => {
    const resold = model("acme/org/large", { alias: "org/large" })
    for (const entry of ["org/large", "org/*", "acme/*"]) {
      expect(verdict({ models: deny(entry) }, resold)).toBe("project_policy")
    }
    for (const entry of ["or/*", "org/large/*", "large/*"]) expect(verdict({ models: deny(entry) }, resold)).toBeNull()
    expect(verdict({ models: allow("org/*") }, resold)).toBe("project_policy")
    expect(verdict({ models: deny("org/*") }, model("acme/large", { alias: "large" }))).toBeNull()
  })

  it("provider entries match provider ids", () => {
    for (const entry of ["acme", "acme/*", "*"]) {
      expect(verdict({ providers: allow(entry) }, large)).toBeNull()
      expect(verdict({ providers: deny(entry) }, large)).toBe("project_policy")
    }
    for (const entry of ["acme/large", "large", "acm/*"]) {
      expect(verdict({ providers: allow(entry) }, large)).toBe("project_policy")
    }
  })

  it("an empty allow list allows nothing", () => {
    expect(verdict({ models: allow() }, large)).toBe("project_policy")
    expect(verdict({ providers: allow() }, large)).toBe("project_policy")
  })

  it("deny wins over allow", () => {
    expect(verdict({ models: { allow: ["acme/large"], deny: ["acme/*"] } }, large)).toBe("project_policy")
    expect(verdict({ providers: { allow: ["acme"], deny: ["acme"] } }, large)).toBe("project_policy")
  })
})

describe("Price caps", () => {
  const tiered = model("acme/large", {
    prices: prices(100, 400, [{ abovePromptTokens: 1_000, input: 200, output: 400, cacheRead: null, cacheWrite: null }])
  })

  it("a price equal to a cap is allowed, one above it is not", () => {
    expect(verdict({ maxInputPriceMicroUsdPerMillion: 100 }, tiered)).toBeNull()
    expect(verdict({ maxInputPriceMicroUsdPerMillion: 99 }, tiered)).toBe("project_price_cap")
    expect(verdict({ maxOutputPriceMicroUsdPerMillion: 400 }, tiered)).toBeNull()
    expect(verdict({ maxOutputPriceMicroUsdPerMillion: 399 }, tiered)).toBe("project_price_cap")
  })

  it("the tier that the prompt falls into is compared", () => {
    expect(verdict({ maxInputPriceMicroUsdPerMillion: 100 }, tiered, 1_000)).toBeNull()
    expect(verdict({ maxInputPriceMicroUsdPerMillion: 100 }, tiered, 1_001)).toBe("project_price_cap")
  })

  it("a model of unknown price is excluded only where there is a cap", () => {
    const unpriced = model("acme/large", { prices: null })
    expect(verdict({}, unpriced)).toBeNull()
    expect(verdict({ maxOutputPriceMicroUsdPerMillion: 1_000_000 }, unpriced)).toBe("project_price_cap")
  })

  it("a cap of zero allows free models", () => {
    expect(verdict({ maxInputPriceMicroUsdPerMillion: 0 }, model("acme/free", { prices: prices(0, 0) }))).toBeNull()
    expect(verdict({ maxInputPriceMicroUsdPerMillion: 0 }, tiered)).toBe("project_price_cap")
  })
})

describe("Layers", () => {
  const large = model("acme/large", { prices: prices(100, 400) })

  it("each layer has its own reasons, and the project's is told first", () => {
    const out = { models: deny("acme/*") }
    const dear = { maxInputPriceMicroUsdPerMillion: 1 }
    const reason = (...args: Parameters<typeof intersectPolicies>) => excludedBy(intersectPolicies(...args), large, 10)
    expect(reason(project(), configuration(out), controls())).toBe("routing_config")
    expect(reason(project(), configuration(dear), controls())).toBe("routing_config_price_cap")
    expect(reason(project(), configuration(), controls(out))).toBe("request_restriction")
    expect(reason(project(), configuration(), controls(dear))).toBe("request_price_cap")
    expect(reason(project(out), configuration(out), controls(out))).toBe("project_policy")
    expect(reason(project(dear), configuration(out), controls(out))).toBe("project_price_cap")
  })

  it("alpha is the request's, else the configuration's, else the project's, else 0.65, and 0 counts as given", () => {
    const three = { p: project({ defaultAlpha: 0.1 }), c: configuration({ alpha: 0.2 }) }
    expect(intersectPolicies(three.p, three.c, controls({ alpha: 0 })).alpha).toBe(0)
    expect(intersectPolicies(three.p, three.c, controls()).alpha).toBe(0.2)
    expect(intersectPolicies(three.p, configuration({ alpha: 0 }), controls()).alpha).toBe(0)
    expect(intersectPolicies(three.p, configuration(), controls()).alpha).toBe(0.1)
    expect(intersectPolicies(project(), null, controls()).alpha).toBe(0.65)
  })

  it("fallback needs all three to allow it; a request cannot bring it back", () => {
    for (const p of [true, false])
      for (const c of [true, false])
        for (const r of [true, false, undefined]) {
          const allowed = intersectPolicies(project({ enableFallback: p }), configuration({ enableFallback: c }), {
            ...controls(),
            enableFallback: r
          })
          expect(allowed.fallbackEnabled).toBe(p && c && r !== false)
        }
  })

  it("a policy that is also used as a configuration keeps both reasons apart", () => {
    const limits = { ...project(), ...configuration({ models: deny("*") }) }
    expect(excludedBy(intersectPolicies(limits, null, controls()), large, 1)).toBe("project_policy")
    expect(excludedBy(intersectPolicies(project(), limits, controls()), large, 1)).toBe("routing_config")
    expect(excludedBy(intersectPolicies(limits, null, controls()), large, 1)).toBe("project_policy")
  })
})

describe("Narrowing", () => {
  const pool: ReadonlyArray<Model> = ["acme", "beta", "org/deep"].flatMap((provider) =>
    ["large", "small", "free"].map((name, index) =>
      model(`${provider}/${name}`, {
        providerId: provider,
        alias: name,
        prices:
          name === "free"
            ? null
            : prices(index * 50, index * 200 + 10, [
                { abovePromptTokens: 500, input: index * 100, output: 300, cacheRead: null, cacheWrite: null }
              ])
      })
    )
  )
  const entry = fc.constantFrom("*", "acme/*", "beta/*", "org/*", "org/deep/*", "acme/large", "small", "acme", "none")
  const restriction: fc.Arbitrary<Restriction> = fc.record({
    allow: fc.option(fc.array(entry, { maxLength: 3 })),
    deny: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(entry, { maxLength: 2 }))
  })
  const cap = fc.option(fc.integer({ min: 0, max: 250 }), { freq: 1 })
  const limits: fc.Arbitrary<RoutingRestrictions> = fc.record({
    models: restriction,
    providers: restriction,
    maxInputPriceMicroUsdPerMillion: cap,
    maxOutputPriceMicroUsdPerMillion: cap
  })
  const asControls = (one: RoutingRestrictions) =>
    controls({
      models: one.models,
      providers: one.providers,
      maxInputPriceMicroUsdPerMillion: one.maxInputPriceMicroUsdPerMillion ?? undefined,
      maxOutputPriceMicroUsdPerMillion: one.maxOutputPriceMicroUsdPerMillion ?? undefined
    })
  const tokens = fc.constantFrom(0, 500, 501)
  const left = (allowed: EffectivePolicy, promptTokens: number) =>
    pool.filter((one) => excludedBy(allowed, one, promptTokens) === null).map((one) => one.id)
  const ids = (p: RoutingRestrictions, c: RoutingRestrictions, r: RoutingRestrictions, promptTokens: number) =>
    left(intersectPolicies(project(p), configuration(c), asControls(r)), promptTokens)

  it("exactly the models that every layer allows on its own are allowed", () => {
    fc.assert(
      fc.property(limits, limits, limits, tokens, (p, c, r, t) => {
        const each = [p, c, r].map((one) => left(intersectPolicies(project(one), null, controls()), t))
        expect(ids(p, c, r, t)).toEqual(pool.map((one) => one.id).filter((id) => each.every((l) => l.includes(id))))
      })
    )
  })

  it("a further restriction never adds a model", () => {
    fc.assert(
      fc.property(limits, limits, restriction, cap, tokens, (p, r, more, lower, t) => {
        const before = ids(p, open, r, t)
        const tighter: RoutingRestrictions = {
          models: { allow: r.models.allow, deny: [...r.models.deny, ...more.deny] },
          providers: r.providers.allow === null ? { ...r.providers, allow: more.allow } : r.providers,
          maxInputPriceMicroUsdPerMillion: least(r.maxInputPriceMicroUsdPerMillion, lower),
          maxOutputPriceMicroUsdPerMillion: least(r.maxOutputPriceMicroUsdPerMillion, lower)
        }
        for (const id of ids(p, open, tighter, t)) expect(before).toContain(id)
      })
    )
  })

  it("the allowed models do not depend on which layer restricts, nor on restricting twice", () => {
    fc.assert(
      fc.property(limits, limits, limits, tokens, (a, b, c, t) => {
        const one = ids(a, b, c, t)
        expect(ids(c, a, b, t)).toEqual(one)
        expect(ids(b, c, a, t)).toEqual(one)
        expect(ids(a, a, a, t)).toEqual(ids(open, open, a, t))
      })
    )
  })

  const least = (a: number | null, b: number | null): number | null =>
    a === null ? b : b === null ? a : Math.min(a, b)
})
