import { createHmac, randomBytes } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { MasterKey } from "../credentials/MasterKey.ts"
import * as Sealing from "../credentials/Sealing.ts"
import { SealingUnavailable } from "../domain/AccountError.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { ProjectId } from "../domain/Ids.ts"
import type { Timers } from "../domain/Timers.ts"
import type { ChangeNotifications } from "../sql/ChangeNotifications.ts"
import * as RowCache from "../sql/RowCache.ts"
import { CaptureStore } from "./CaptureStore.ts"
import { idBytes } from "./worker/seal.js"

export interface DayKey {
  readonly key: Uint8Array
  /** As it is stored: tells this key from one that was made after it was deleted. */
  readonly sealed: Uint8Array
}

export interface CaptureKeysShape {
  /** Whether there is a master key, under which everything is sealed. */
  readonly isAvailable: boolean
  /** Fails where the project has content that no master key opens: to whoever reads it, or writes it anew, it would seem to be gone. */
  readonly required: (project: ProjectId) => Effect.Effect<void, SealingUnavailable | StoreUnavailable>
  /** Made at its first use; `undefined` without a master key that opens what it is sealed under. */
  readonly ofDay: (project: ProjectId, day: string) => Effect.Effect<DayKey | undefined, StoreUnavailable>
  /** The key that content was sealed with; `undefined` when it was deleted or does not open. */
  readonly existing: (project: ProjectId, day: string) => Effect.Effect<Uint8Array | undefined, StoreUnavailable>
  /** Hex; the same for one end user of a project until the project's content is erased. `undefined` without the project's key. */
  readonly endUser: (project: ProjectId, user: string) => Effect.Effect<string | undefined, StoreUnavailable>
  /** Seals the keys of projects with the current master key; can be repeated. */
  readonly reseal: Effect.Effect<
    { readonly resealed: number; readonly unreadable: number },
    SealingUnavailable | StoreUnavailable
  >
}

/** The keys of captured content: of a day, under that of the project, under the master key. */
export class CaptureKeys extends Context.Tag("gateway/capture/CaptureKeys")<CaptureKeys, CaptureKeysShape>() {
  static readonly layer: Layer.Layer<CaptureKeys, never, CaptureStore | ChangeNotifications | MasterKey | Timers> =
    Layer.scoped(
      this,
      Effect.suspend(() => make)
    )
}

const purpose = "captured content"
const keyBytes = 32
const portion = 500
const contextOf = (project: ProjectId): string => `key of project ${project}`
const dayContextOf = (project: ProjectId, day: string): string => `key of project ${project} for ${day}`

const make = Effect.gen(function* () {
  const store = yield* CaptureStore
  const masterKey = yield* MasterKey
  const accepted = yield* Effect.orElseSucceed(masterKey.accepted(purpose), () => [])
  const current = accepted[0]
  const opened = (sealed: Uint8Array | undefined, keys: ReadonlyArray<Uint8Array>, context: string) => {
    const text = sealed && Sealing.open(keys, context, sealed)
    return text === undefined ? undefined : Buffer.from(text, "base64")
  }
  const made = (key: Uint8Array, context: string) =>
    Sealing.seal(key, context, randomBytes(keyBytes).toString("base64"))

  const cacheOf = <A>(load: (id: string) => Effect.Effect<A | undefined, StoreUnavailable>) =>
    RowCache.make<A, undefined>({
      load,
      absent: undefined,
      kinds: ["capture"],
      concerns: (change, _, key) => key.startsWith(change.id)
    })
  const projects = yield* cacheOf((id) => {
    const project = ProjectId.make(id)
    return current === undefined
      ? Effect.succeed(undefined)
      : Effect.map(store.projectKey(project, made(current, contextOf(project))), (sealed) =>
          opened(sealed, accepted, contextOf(project))
        )
  })
  const days = yield* cacheOf((id) => {
    const [text = "", day = ""] = id.split(" ")
    const project = ProjectId.make(text)
    return Effect.flatMap(projects.get(project), (key) => {
      if (key === undefined) return Effect.succeed(undefined)
      const context = dayContextOf(project, day)
      return Effect.map(store.dayKey(project, day, made(key, context)), (sealed): DayKey | undefined => {
        const dayKey = opened(sealed, [key], context)
        return dayKey === undefined || sealed === undefined ? undefined : { key: dayKey, sealed }
      })
    })
  })

  return CaptureKeys.of({
    isAvailable: masterKey.isSet,
    required: (project) =>
      Effect.flatMap(store.projectKey(project, undefined), (sealed) => {
        const isReadable = sealed === undefined || opened(sealed, accepted, contextOf(project)) !== undefined
        return isReadable ? Effect.void : masterKey.isSet ? otherMasterKey : noMasterKey
      }),
    ofDay: (project, day) => days.get(`${project} ${day}`),
    existing: (project, day) =>
      Effect.gen(function* () {
        const key = opened(yield* store.projectKey(project, undefined), accepted, contextOf(project))
        if (key === undefined) return undefined
        return opened(yield* store.dayKey(project, day, undefined), [key], dayContextOf(project, day))
      }),
    endUser: (project, user) =>
      Effect.map(projects.get(project), (key) =>
        key === undefined
          ? undefined
          : createHmac("sha256", key)
              .update(`end user\0${user}`)
              .digest("hex")
              .slice(0, 2 * idBytes)
      ),
    reseal: Effect.flatMap(masterKey.derived(purpose), (newest) =>
      Effect.gen(function* () {
        let [resealed, unreadable] = [0, 0]
        let after: string | undefined
        for (;;) {
          const rows = yield* store.projectKeys(after, portion)
          const last = rows.at(-1)
          if (last === undefined) return { resealed, unreadable }
          for (const { projectId, sealed } of rows) {
            if (Sealing.openWith(newest, contextOf(projectId), sealed) !== undefined) continue
            const text = Sealing.open(accepted, contextOf(projectId), sealed)
            if (text === undefined) unreadable += 1
            else {
              yield* store.resealProjectKey(projectId, sealed, Sealing.seal(newest, contextOf(projectId), text))
              resealed += 1
            }
          }
          after = last.projectId
        }
      })
    )
  })
})

const noMasterKey = new SealingUnavailable({
  message: "Captured samples cannot be read: GATEWAY_MASTER_KEY is not set (32 bytes in base64)."
})
const otherMasterKey = new SealingUnavailable({
  message:
    "Captured samples cannot be read: they are sealed under another key than GATEWAY_MASTER_KEY. Set that key in GATEWAY_MASTER_KEY_PREVIOUS."
})
