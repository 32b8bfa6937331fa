import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { bootstrap } from "../../src/app/FirstStart.ts"
import { applyConfiguration } from "../../src/app/FirstStartConfiguration.ts"
import type { ConfiguredPolicy, ConfiguredRouting } from "../../src/config/Settings.ts"
import { ProjectStore } from "../../src/identity/projects/ProjectStore.ts"
import { Policy } from "../../src/policy/Policy.ts"
import { RoutingConfigurations } from "../../src/policy/RoutingConfigurations.ts"
import { databases, node, sharedDatabases, told } from "../identity/keys/Nodes.ts"

const open = {
  models: { allow: null, deny: [] },
  providers: { allow: null, deny: [] },
  maxInputPriceMicroUsdPerMillion: null,
  maxOutputPriceMicroUsdPerMillion: null,
  enableFallback: true
}
const strict: ConfiguredPolicy = {
  ...open,
  models: { allow: ["acme/small"], deny: [] },
  defaultAlpha: 0.1,
  explorationShare: 0
}
const cheap: ConfiguredRouting = { ...open, slug: "cheap", name: null, alpha: 0.2 }

const rules = Effect.gen(function* () {
  const project = yield* (yield* ProjectStore).findDefault
  if (project === undefined) return yield* Effect.dieMessage("no default project")
  return {
    project,
    allowed: (yield* (yield* Policy).ofProject(project)).models.allow,
    slugs: (yield* (yield* RoutingConfigurations).ofProject(project)).map(({ slug }) => slug)
  }
})

describe.each(databases)("a project's rules on %s", (_, database) => {
  it.scopedLive("are the new ones at once on the node that wrote them", () =>
    Effect.gen(function* () {
      const here = yield* Layer.build(node(yield* database))
      yield* Effect.gen(function* () {
        yield* bootstrap({ key: null, creditMicroUsd: 1, given: [] })
        expect(yield* rules).toMatchObject({ allowed: null, slugs: [] })
        yield* applyConfiguration(strict, [cheap])
        expect(yield* rules).toMatchObject({ allowed: ["acme/small"], slugs: ["cheap"] })
      }).pipe(Effect.provide(here))
    })
  )
})

describe.each(sharedDatabases)("a project's rules on several nodes of %s", (_, database) => {
  it.scopedLive("are the new ones everywhere as soon as the other nodes have heard, although they are remembered", () =>
    Effect.gen(function* () {
      const layer = yield* database
      const here = yield* Layer.build(node(layer))
      // before the other node listens: these rows are announced too
      yield* Effect.provide(bootstrap({ key: null, creditMicroUsd: 1, given: [] }), here)
      const there = yield* Layer.build(node(layer))
      yield* Effect.provide(told(undefined), there)
      const { project, ...before } = yield* Effect.provide(rules, there)
      expect(before).toEqual({ allowed: null, slugs: [] })

      yield* Effect.provide(applyConfiguration(strict, [cheap]), here)
      // Both are written in one transaction; this one is told last.
      yield* Effect.provide(told({ kind: "project", id: project }), there)
      expect(yield* Effect.provide(rules, there)).toEqual({ project, allowed: ["acme/small"], slugs: ["cheap"] })
      expect(yield* Effect.provide(rules, here)).toEqual({ project, allowed: ["acme/small"], slugs: ["cheap"] })
    })
  )
})
