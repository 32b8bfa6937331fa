import { randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { CaptureStore } from "../../src/capture/CaptureStore.ts"
import { type CaptureSettings, defaultSettings } from "../../src/capture/CaptureWindow.ts"
import { AccountId, ProjectId, UserId } from "../../src/domain/Ids.ts"

/** A project with one open window, of version 1. */
export const collecting = (settings: Partial<CaptureSettings>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    const store = yield* CaptureStore
    const user = UserId.make(randomUUID())
    const account = AccountId.make(randomUUID())
    const projectId = ProjectId.make(randomUUID())
    yield* sql`insert into app_user (id, name) values (${user}, 'u')`
    yield* sql`insert into account (id, user_id) values (${account}, ${user})`
    yield* sql`insert into project (id, account_id, name) values (${projectId}, ${account}, 'p')`
    yield* store.open({
      ...defaultSettings,
      enabled: true,
      ...settings,
      projectId,
      configVersion: 1,
      salt: Buffer.alloc(16),
      openedAt: new Date(0)
    })
    return projectId
  })
