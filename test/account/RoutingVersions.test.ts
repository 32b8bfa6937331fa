import { randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RoutingVersionStore } from "../../src/account/routing/RoutingVersionStore.ts"
import { ProjectId, UserId } from "../../src/domain/Ids.ts"
import { databases } from "../ledger/databases.ts"

const settings = {
  name: "Cheap",
  models: ["acme/*"],
  providers: null,
  alpha: 0.2,
  max_input_price_microusd_per_million: null,
  max_output_price_microusd_per_million: null,
  enable_fallback: true
}

for (const [name, database] of databases) {
  layer(Layer.provideMerge(RoutingVersionStore.layer, database), { timeout: 60_000 })(
    `the versions of a routing configuration, ${name}`,
    (it) => {
      it.effect("are the newest 1,000 before the last one, and the one that is active", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const store = yield* RoutingVersionStore
          const user = UserId.make(randomUUID())
          const project = ProjectId.make(randomUUID())
          const [account, id, other] = [randomUUID(), randomUUID(), randomUUID()]
          yield* sql`insert into app_user (id, name) values (${user}, 'u')`
          yield* sql`insert into account (id, user_id) values (${account}, ${user})`
          yield* sql`insert into project (id, account_id, name) values (${project}, ${account}, 'p')`
          for (const [configuration, slug] of [
            [id, "cheap"],
            [other, "other"]
          ] as const) {
            yield* store.create(project, configuration, slug, settings.name)
            expect(yield* store.add(configuration, settings, user)).toBe(1)
          }
          yield* sql`insert into routing_configuration_version (configuration_id, version, settings, created_by)
            select configuration_id, version, settings, created_by from (
              select n as version, v.configuration_id, v.settings, v.created_by
              from routing_configuration_version v, generate_series(2, 1003) as n where v.configuration_id = ${id}
            ) as more`
          expect(yield* store.activate(id, 2)).toBe(true)
          expect(yield* store.add(id, settings, user)).toBe(1_004)
          const versions = yield* store.versions(id, 2_000, undefined)
          expect(versions.map(({ version }) => version)).toEqual([
            ...Array.from({ length: 1_001 }, (_, index) => 1_004 - index),
            2
          ])
          expect(yield* store.versions(other, 2_000, undefined)).toHaveLength(1)
        })
      )
    }
  )
}
