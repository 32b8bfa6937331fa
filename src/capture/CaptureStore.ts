import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AccountSql } from "../sql/AccountDatabase.ts"
import { erasures } from "./CaptureErasureStore.ts"
import { sampleReads } from "./CaptureReadStore.ts"
import type { CaptureStoreShape } from "./CaptureRecords.ts"
import { windowsAndKeys } from "./CaptureWindowStore.ts"
import { sampleWrites } from "./CaptureWriteStore.ts"

/** The tables of captured calls. */
export class CaptureStore extends Context.Tag("gateway/capture/CaptureStore")<CaptureStore, CaptureStoreShape>() {
  static readonly layer: Layer.Layer<CaptureStore, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) => ({
      ...windowsAndKeys(sql),
      ...sampleWrites(sql),
      ...sampleReads(sql),
      ...erasures(sql)
    }))
  )
}
