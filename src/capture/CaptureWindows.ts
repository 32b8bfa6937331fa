import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { ProjectId } from "../domain/Ids.ts"
import type { Timers } from "../domain/Timers.ts"
import type { ChangeNotifications } from "../sql/ChangeNotifications.ts"
import * as RowCache from "../sql/RowCache.ts"
import { CaptureStore } from "./CaptureStore.ts"
import type { CaptureWindow } from "./CaptureWindow.ts"

/** `null`: the project has never set up its collection. */
export type Known = CaptureWindow | null

export interface CaptureWindowsShape {
  /** Cached; a change takes effect immediately on the node that made it, and within a second on others. */
  readonly of: (project: ProjectId) => Effect.Effect<Known, StoreUnavailable>
  /** The same if it is cached; `undefined` when it is not. */
  readonly peek: (project: ProjectId) => Known | undefined
}

/** The windows that are open now. */
export class CaptureWindows extends Context.Tag("gateway/capture/CaptureWindows")<
  CaptureWindows,
  CaptureWindowsShape
>() {
  static readonly layer: Layer.Layer<CaptureWindows, never, CaptureStore | ChangeNotifications | Timers> = Layer.scoped(
    this,
    Effect.gen(function* () {
      const store = yield* CaptureStore
      const cache = yield* RowCache.make<CaptureWindow, null>({
        load: (id) => store.window(ProjectId.make(id)),
        absent: null,
        kinds: ["capture"]
      })
      return { of: cache.get, peek: cache.peek }
    })
  )
}
