import * as Either from "effect/Either"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { makeSnapshot, type Snapshot } from "../../src/catalog/Catalog.ts"
import type { Model } from "../../src/domain/Model.ts"
import { excludedBy, intersectPolicies } from "../../src/policy/EffectivePolicy.ts"
import type { ModelTable } from "../../src/routing/ModelTable.ts"
import { type RouteHealth, unknownHealth } from "../../src/routing/RouteHealth.ts"
import { type RankContext, rank } from "../../src/routing/Router.ts"
import { controls, expected, model, prices, project, request } from "./models.ts"

const now = 1_000_000

/** Few values, so that ties and near ties are common, and some of every size. */
const price = fc.oneof(fc.constantFrom(0, 1, 1_000_000, 1_000_001), fc.integer({ min: 0, max: 100_000_000 }))
const quality = fc.oneof(fc.constantFrom(0, 0.5, 0.5000001, 0.9, 1), fc.double({ min: 0, max: 1, noNaN: true }))
const alpha = fc.oneof(
  fc.constantFrom(0, 1, 0.5, Number.MIN_VALUE, 1 - 2 ** -53),
  fc.double({ min: 0, max: 1, noNaN: true })
)
const health: fc.Arbitrary<RouteHealth> = fc.record({
  failure: fc.oneof(fc.constantFrom(0.05, 0, 1), fc.double({ min: 0, max: 1, noNaN: true })),
  openUntilMillis: fc.constantFrom(0, 0, now, now + 1, now + 60_000),
  latencyMillis: fc.option(fc.integer({ min: 0, max: 60_000 }))
})
const route = fc.record({
  provider: fc.constantFrom("acme", "beta", "cera"),
  input: price,
  output: price,
  quality,
  health,
  listed: fc.constantFrom(true, true, true, false),
  context: fc.constantFrom(100, 10_000, null),
  sampling: fc.option(fc.boolean())
})
const routes = fc.array(route, { minLength: 1, maxLength: 12 })
type Route = typeof route extends fc.Arbitrary<infer A> ? A : never

interface World {
  readonly models: ReadonlyArray<Model>
  readonly health: (one: Model) => RouteHealth
}

const world = (rows: ReadonlyArray<Route>): World => {
  const states = new Map<string, RouteHealth>()
  const models = rows.map((row, index) => {
    const full = model(`${row.provider}/${index}`)
    states.set(full.id, row.health)
    return {
      ...full,
      alias: `m${index % 3}`,
      prices: prices(row.input, row.output),
      quality: row.quality,
      listed: row.listed,
      contextTokens: row.context,
      capabilities: { ...full.capabilities, sampling: row.sampling }
    }
  })
  return { models, health: (one) => states.get(one.id) ?? { failure: 1, openUntilMillis: 0, latencyMillis: null } }
}

const asIs = (models: ReadonlyArray<Model>): Snapshot => ({
  ...makeSnapshot(models),
  models,
  listed: models.filter(({ listed }) => listed)
})

const run = (
  { models, health }: World,
  weight: number,
  more: { readonly deny?: ReadonlyArray<string>; readonly model?: string; readonly snapshot?: Snapshot } = {}
) => {
  const routing = controls({ alpha: weight, models: { allow: null, deny: more.deny ?? [] } })
  const allowed = intersectPolicies(project(), null, routing)
  const ranked = rank({
    snapshot: more.snapshot ?? makeSnapshot(models),
    policy: allowed,
    request: request({ model: more.model ?? "auto", temperature: 1, routing }),
    ...expected(request({ model: more.model ?? "auto", temperature: 1, routing }), 500),
    health,
    nowMillis: now,
    billingMode: "managed"
  })
  return { allowed, ranked }
}

const step = fc.record({
  weight: fc.oneof(fc.constantFrom(0, 1), alpha),
  promptTokens: fc.constantFrom(10, 99, 500, 20_000),
  billingMode: fc.constantFrom("managed" as const, "byok" as const),
  isTuned: fc.boolean(),
  maxInputPriceMicroUsdPerMillion: fc.constantFrom(null, null, 1_000_000),
  maxCostMicroUsd: fc.constantFrom(undefined, undefined, 2_000)
})
type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

/** Policies live as long as a project does not change them. */
const [openProject, cappedProject] = [project(), project({ maxInputPriceMicroUsdPerMillion: 1_000_000 })]

const shown = (ranked: ReturnType<typeof rank>) =>
  Either.map(ranked, ({ candidates }) =>
    candidates.all().map(({ dropped, effort, expectedCost, model, quality, score }) => ({
      dropped,
      effort,
      expectedCost,
      model: model.id,
      quality,
      score
    }))
  )

/** One without prices, one whose prices rise above the cap with the length of the prompt. */
const withOtherPrices = (one: Model, at: number): Model => {
  if (at % 3 === 1) return { ...one, prices: null }
  const tier = { abovePromptTokens: 100, input: 2_000_000, output: 2_000_000, cacheRead: null, cacheWrite: null }
  return at % 3 === 2 ? { ...one, prices: prices(500_000, 500_000, [tier]) } : one
}

const take = (made: World, snapshot: Snapshot, one: Step, alwaysNew: boolean) => {
  const routing = controls({ alpha: one.weight })
  const asked = request({ model: "auto", routing, ...(one.isTuned && { temperature: 1 }) })
  const kept = one.maxInputPriceMicroUsdPerMillion === null ? openProject : cappedProject
  const { features, ...figures } = expected(asked, one.promptTokens)
  const costBound =
    one.maxCostMicroUsd === undefined
      ? {}
      : { costBound: { maxMicroUsd: one.maxCostMicroUsd, textTokens: 500, imagesAndFiles: 0, audioTokens: 0 } }
  return rank({
    snapshot,
    policy: intersectPolicies(alwaysNew ? { ...kept } : kept, null, routing),
    request: asked,
    ...figures,
    features: { ...features, ...costBound },
    health: made.health,
    nowMillis: now,
    billingMode: one.billingMode
  })
}

describe("Ranking", () => {
  it("does not depend on the rankings before it in the same pool, by whatever rules", () => {
    fc.assert(
      fc.property(routes, fc.array(step, { minLength: 1, maxLength: 8 }), (rows, steps) => {
        const plain = world(rows)
        const made = { ...plain, models: plain.models.map(withOtherPrices) }
        const shared = makeSnapshot(made.models)
        for (const one of steps) {
          const alone = take(made, makeSnapshot(made.models), one, true)
          const together = take(made, shared, one, false)
          expect(together).toEqual(alone)
          expect(shown(together)).toEqual(shown(alone))
        }
      }),
      { numRuns: 1_000 }
    )
  })

  it("is the same when only the routes that anything is known of are asked about", () => {
    fc.assert(
      fc.property(routes, alpha, fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }), (rows, weight, isKnown) => {
        const made = world(rows)
        const known = new Set(made.models.flatMap(({ id }, at) => (isKnown[at] === true ? [id] : [])))
        const health = (one: Model) => (known.has(one.id) ? made.health(one) : unknownHealth)
        const knownIn = (places: ModelTable["places"]) => [...known].flatMap((id) => places.get(id) ?? [])
        const of = (more: Partial<RankContext>) => {
          const asked = request({ model: "auto", temperature: 1, routing: controls({ alpha: weight }) })
          return rank({
            snapshot: makeSnapshot(made.models),
            policy: intersectPolicies(project(), null, asked.routing),
            request: asked,
            ...expected(asked, 500),
            health,
            nowMillis: now,
            billingMode: "managed",
            ...more
          })
        }
        expect(of({ knownIn })).toEqual(of({}))
        expect(shown(of({ knownIn }))).toEqual(shown(of({})))
      })
    )
  })

  it("keeps what it has made of a pool, also for a bare name, and nobody can change what later calls are told", () => {
    const models = ["acme/twin", "beta/twin"].map((id) => model(id))
    const snapshot = makeSnapshot([...models, model("cera/twin", { listed: false })])
    for (const name of ["auto", "twin"]) {
      const of = () =>
        Either.getOrThrow(run({ models, health: () => unknownHealth }, 0.5, { model: name, snapshot }).ranked)
      const [first, second] = [of(), of()]
      expect(second.models).toBe(first.models)
      expect([Object.isFrozen(first.models), Object.isFrozen(first.excluded)]).toEqual([true, true])
    }
  })

  it("sorts a large pool that is far from the order before", () => {
    const models = Array.from({ length: 200 }, (_, at) =>
      model(`acme/${at}`, { quality: ((at * 7) % 200) / 200, prices: prices(1_000 * ((at * 13) % 200), 0) })
    )
    const made: World = { models, health: () => ({ failure: 0.05, openUntilMillis: 0, latencyMillis: null }) }
    const shared = makeSnapshot(models)
    for (const weight of [0, 1, 0.5, 0, 0.9, 0.1, 1]) {
      const one: Step = {
        weight,
        promptTokens: 500,
        billingMode: "managed",
        isTuned: false,
        maxInputPriceMicroUsdPerMillion: null,
        maxCostMicroUsd: undefined
      }
      const ranked = Either.getOrThrow(take(made, shared, one, false))
      const scores = ranked.candidates.all().map(({ score }) => score)
      expect(scores).toEqual([...scores].sort((a, b) => b - a))
      expect(ranked.models).toEqual(Either.getOrThrow(take(made, makeSnapshot(models), one, true)).models)
    }
  })

  it("the expected cost of the first candidate never falls as alpha rises", () => {
    fc.assert(
      fc.property(routes, alpha, alpha, (rows, a, b) => {
        const made = world(rows)
        const [low, high] = [Math.min(a, b), Math.max(a, b)].map((weight) => run(made, weight).ranked)
        if (low === undefined || high === undefined || Either.isLeft(low) || Either.isLeft(high)) return
        expect(low.right.candidates.first.expectedCost).toBeLessThanOrEqual(high.right.candidates.first.expectedCost)
      }),
      { numRuns: 3_000 }
    )
  })

  it("alpha 0 is exactly the cheapest and 1 exactly the best of the healthy routes", () => {
    fc.assert(
      fc.property(routes, (rows) => {
        const made = world(rows.map((row) => ({ ...row, health: { ...row.health, failure: 0, openUntilMillis: 0 } })))
        const [cheapest, best] = [run(made, 0).ranked, run(made, 1).ranked]
        if (Either.isLeft(cheapest) || Either.isLeft(best)) return
        const all = cheapest.right.candidates
        expect(cheapest.right.candidates.first.expectedCost).toBe(Math.min(...all.all().map((one) => one.expectedCost)))
        expect(best.right.candidates.first.quality).toBe(Math.max(...all.all().map((one) => one.quality)))
      })
    )
  })

  it("the ranking is total and lists each eligible route once, whatever the input", () => {
    fc.assert(
      fc.property(
        fc.array(route, { maxLength: 12 }),
        alpha,
        fc.constantFrom("auto", "auto:x", "acme/0", "m1", "none"),
        fc.array(fc.constantFrom("acme/*", "m0", "beta/1", "*"), { maxLength: 2 }),
        (rows, weight, named, deny) => {
          const made = world(rows)
          const { allowed, ranked } = run(made, weight, { deny, model: named })
          if (Either.isLeft(ranked)) {
            expect(["ModelNotFound", "NoEligibleModel", "InvalidRequest"]).toContain(ranked.left._tag)
            return
          }
          const { candidates, excluded, fallbackEnabled, pinned } = ranked.right
          const ids = candidates.all().map((one) => one.model.id)
          expect(new Set(ids).size).toBe(ids.length)
          for (const { model: one } of candidates.all()) {
            expect(excludedBy(allowed, one, 500)).toBeNull()
            expect(one.contextTokens === null || one.contextTokens > 500).toBe(true)
          }
          expect(pinned).toBe(!named.startsWith("auto"))
          if (pinned) {
            expect(candidates.all()).toHaveLength(1)
            expect(fallbackEnabled).toBe(false)
          } else {
            const counted = Object.values(excluded).reduce((sum, count) => sum + count, 0)
            expect(ids.length + counted).toBe(made.models.filter((one) => one.listed).length)
          }
        }
      )
    )
  })

  it("rankings of other models and weights in between change nothing", () => {
    fc.assert(
      fc.property(routes, routes, alpha, alpha, (rows, others, weight, other) => {
        const [made, between] = [world(rows), world(others)]
        const listed = () => Either.map(run(made, weight).ranked, ({ models }) => models)
        const first = listed()
        run(between, other)
        run(made, other)
        expect(listed()).toEqual(first)
      })
    )
  })

  it("no route with an open circuit comes before one that is ready, and none is lost to health", () => {
    fc.assert(
      fc.property(routes, alpha, (rows, weight) => {
        const made = world(rows)
        const well = world(rows.map((row) => ({ ...row, health: { ...row.health, failure: 0, openUntilMillis: 0 } })))
        const [sick, healthy] = [run(made, weight).ranked, run(well, weight).ranked]
        if (Either.isLeft(sick) || Either.isLeft(healthy)) return
        const open = sick.right.candidates.all().map(({ model: one }) => made.health(one).openUntilMillis > now)
        expect(open).toEqual([...open].sort((a, b) => Number(a) - Number(b)))
        expect(sick.right.openUntilMillis !== undefined).toBe(open.every((one) => one))
        expect(
          sick.right.candidates
            .all()
            .map((one) => one.model.id)
            .sort()
        ).toEqual(
          healthy.right.candidates
            .all()
            .map((one) => one.model.id)
            .sort()
        )
      })
    )
  })

  it("the reason is health_demotion exactly when another route would be first without health", () => {
    fc.assert(
      fc.property(routes, alpha, (rows, weight) => {
        const well = world(rows.map((row) => ({ ...row, health: { ...row.health, failure: 0, openUntilMillis: 0 } })))
        const [sick, healthy] = [run(world(rows), weight).ranked, run(well, weight).ranked]
        if (Either.isLeft(sick) || Either.isLeft(healthy) || sick.right.candidates.all().length === 1) return
        expect(sick.right.reason === "health_demotion").toBe(
          sick.right.candidates.first.model.id !== healthy.right.candidates.first.model.id
        )
      })
    )
  })

  it("the ranking does not depend on the order of the catalog", () => {
    fc.assert(
      fc.property(routes, alpha, fc.infiniteStream(fc.nat()), (rows, weight, keys) => {
        const made = world(rows)
        const shuffled = made.models
          .map((one) => ({ one, key: keys.next().value }))
          .sort((a, b) => a.key - b.key)
          .map(({ one }) => one)
        expect(run(made, weight, { snapshot: asIs(shuffled) }).ranked).toEqual(run(made, weight).ranked)
      })
    )
  })

  it("the second candidate is another provider's whenever one is within 0.02 of it and as well", () => {
    fc.assert(
      fc.property(routes, alpha, (rows, weight) => {
        const made = world(rows)
        const { ranked } = run(made, weight)
        if (Either.isLeft(ranked)) return
        const [first, second, ...rest] = ranked.right.candidates.all()
        if (second === undefined || second.model.providerId !== first.model.providerId) return
        const tier = (one: Model) => {
          const { failure, openUntilMillis } = made.health(one)
          return `${openUntilMillis > now} ${failure > 0.5}`
        }
        for (const other of rest) {
          if (other.model.providerId === first.model.providerId) continue
          if (tier(other.model) === tier(second.model)) expect(second.score - other.score).toBeGreaterThan(0.02 - 1e-9)
        }
      })
    )
  })
})
