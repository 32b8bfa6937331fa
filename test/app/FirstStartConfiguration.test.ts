import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { bootstrap } from "../../src/app/FirstStart.ts"
import { applyConfiguration } from "../../src/app/FirstStartConfiguration.ts"
import type { ConfiguredPolicy, ConfiguredRouting } from "../../src/config/Settings.ts"
import { ProjectId } from "../../src/domain/Ids.ts"
import { ProjectStore } from "../../src/identity/projects/ProjectStore.ts"
import { Policy } from "../../src/policy/Policy.ts"
import { PolicyStore } from "../../src/policy/PolicyStore.ts"
import { RoutingConfigurations } from "../../src/policy/RoutingConfigurations.ts"
import { databases, node } from "../identity/keys/Nodes.ts"

const strict: ConfiguredPolicy = {
  models: { allow: ["acme/*", 'odd "\\{},name/*'], deny: ["acme/old"] },
  providers: { allow: [], deny: [] },
  maxInputPriceMicroUsdPerMillion: 2_500_000,
  maxOutputPriceMicroUsdPerMillion: 9_007_199_254_740_991,
  defaultAlpha: 0.65,
  explorationShare: 0.01,
  enableFallback: false
}
const cheap: ConfiguredRouting = {
  slug: "cheap",
  name: null,
  models: { allow: ["acme/*"], deny: ["acme/old"] },
  providers: { allow: null, deny: [] },
  alpha: 0.2,
  maxInputPriceMicroUsdPerMillion: 1,
  maxOutputPriceMicroUsdPerMillion: null,
  enableFallback: true
}
const dear: ConfiguredRouting = {
  ...cheap,
  slug: "best-of-all",
  name: "Best",
  models: { allow: null, deny: [] },
  providers: { allow: [], deny: ["acme"] },
  alpha: 1
}

describe.each(databases)("the operator's rules on %s", (_, database) => {
  const started = <A, E, R>(test: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const context = yield* Layer.build(node(yield* database))
      return yield* Effect.zipRight(bootstrap({ key: null, creditMicroUsd: 1, given: [] }), test).pipe(
        Effect.provide(context)
      )
    })
  const project = Effect.flatMap(ProjectStore, (store) => store.findDefault).pipe(
    Effect.flatMap((id) => (id === undefined ? Effect.dieMessage("no default project") : Effect.succeed(id)))
  )
  const rules = Effect.gen(function* () {
    const id = yield* project
    return {
      policy: yield* (yield* Policy).ofProject(id),
      configurations: yield* (yield* RoutingConfigurations).ofProject(id)
    }
  })

  it.scopedLive("take effect immediately, to the letter", () =>
    started(
      Effect.gen(function* () {
        expect((yield* rules).policy).toEqual({
          version: 1,
          models: { allow: null, deny: [] },
          providers: { allow: null, deny: [] },
          maxInputPriceMicroUsdPerMillion: null,
          maxOutputPriceMicroUsdPerMillion: null,
          defaultAlpha: null,
          explorationShare: 0,
          enableFallback: true
        })
        expect(yield* applyConfiguration(strict, [cheap, dear])).toBe(true)
        const { configurations, policy } = yield* rules
        expect(policy).toEqual({ ...strict, version: 2 })
        const id = expect.stringMatching(/^[0-9a-f-]{36}$/)
        const { name: _dear, ...dearest } = dear
        const { name: _cheap, ...cheapest } = cheap
        expect(configurations).toEqual([
          { ...dearest, id, isActive: true },
          { ...cheapest, id, isActive: true }
        ])
      })
    )
  )

  it.scopedLive("raise the version only when something has changed", () =>
    started(
      Effect.gen(function* () {
        const version = Effect.map(rules, ({ policy }) => policy.version)
        expect(yield* applyConfiguration(null, [])).toBe(false)
        expect(yield* version).toBe(1)
        expect(yield* applyConfiguration(strict, [cheap])).toBe(true)
        expect(yield* version).toBe(2)
        expect(yield* applyConfiguration(strict, [cheap])).toBe(false)
        expect(yield* version).toBe(2)
        expect(yield* applyConfiguration({ ...strict, defaultAlpha: null }, [cheap])).toBe(true)
        expect(yield* version).toBe(3)
        expect(yield* applyConfiguration({ ...strict, defaultAlpha: null }, [{ ...cheap, alpha: null }])).toBe(true)
        expect(yield* version).toBe(4)
        expect(yield* applyConfiguration({ ...strict, defaultAlpha: null }, [])).toBe(true)
        expect(yield* version).toBe(5)
        expect((yield* rules).configurations).toEqual([])
      })
    )
  )

  it.scopedLive("keep the id of a configuration that stays, and leave alone what people have made", () =>
    started(
      Effect.gen(function* () {
        const sql = yield* SqlClient
        const id = yield* project
        yield* sql`insert into routing_configuration (id, project_id, slug, name)
          values (gen_random_uuid(), ${id}, 'mine', 'Mine'), (gen_random_uuid(), ${id}, 'cheap', 'My cheap one')`
        yield* applyConfiguration(null, [cheap, dear])
        const before = (yield* rules).configurations
        expect(before.map(({ slug }) => slug)).toEqual(["best-of-all", "cheap", "mine"])
        yield* applyConfiguration(null, [{ ...cheap, alpha: 0.9 }])
        const after = (yield* rules).configurations
        expect(after.map(({ slug }) => slug)).toEqual(["cheap", "mine"])
        expect(after[0]).toEqual({ ...before[1], alpha: 0.9 })
        const managed =
          yield* sql`select slug, managed_by_configuration as managed from routing_configuration order by slug`
        expect(managed).toEqual([
          { slug: "cheap", managed: true },
          { slug: "mine", managed: false }
        ])
      })
    )
  )

  it.scopedLive("without a policy the last one stays active, and can be changed elsewhere", () =>
    started(
      Effect.gen(function* () {
        const managed = Effect.gen(function* () {
          return (yield* (yield* PolicyStore).find(yield* project))?.managed_by_configuration
        })
        yield* applyConfiguration(strict, [])
        expect(yield* managed).toBe(true)
        expect(yield* applyConfiguration(null, [])).toBe(false)
        expect(yield* managed).toBe(false)
        expect((yield* rules).policy.models.allow).toEqual(strict.models.allow)
        yield* applyConfiguration(strict, [])
        expect(yield* managed).toBe(true)
      })
    )
  )

  it.scopedLive("a project that is gone allows nothing", () =>
    started(
      Effect.gen(function* () {
        const gone = ProjectId.make("00000000-0000-4000-8000-000000000000")
        expect(yield* (yield* Policy).ofProject(gone)).toMatchObject({
          models: { allow: [] },
          providers: { allow: [] },
          enableFallback: false
        })
        expect(yield* (yield* RoutingConfigurations).ofProject(gone)).toEqual([])
      })
    )
  )
})
