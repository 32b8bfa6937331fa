import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { SealingUnavailable } from "../domain/AccountError.ts"
import { dateAt } from "../domain/Dates.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { ProjectId } from "../domain/Ids.ts"
import { Timers } from "../domain/Timers.ts"
import { AccountTransactions } from "../sql/AccountDatabase.ts"
import { Captured, type ExpandedSample } from "./Captured.ts"
import { CaptureKeys } from "./CaptureKeys.ts"
import type { Erased, NewSample, Place } from "./CaptureRecords.ts"
import { CaptureStore } from "./CaptureStore.ts"
import { type Base, rewrite } from "./worker/sample.js"

/** What is to be erased of a project. */
export type Erasure =
  | { readonly _tag: "Sample"; readonly id: string }
  | { readonly _tag: "Key"; readonly keyId: string }
  /** As the requests name the end user. */
  | { readonly _tag: "EndUser"; readonly user: string }
  /** Hex. */
  | { readonly _tag: "Conversation"; readonly conversation: string }
  | { readonly _tag: "Project" }

export interface CaptureErasureShape {
  /**
   * Erases samples and returns their number. Conversations of which others stay are written anew from these alone, so that
   * nothing is left of what only an erased one had. Calls of the project that began before it and wait to be written on any node are
   * dropped, unless a single sample is erased. Within a transaction of the caller, if there is one. Without the keys of the project only
   * whole conversations, or everything, can be erased.
   */
  readonly erase: (project: ProjectId, erasure: Erasure) => Effect.Effect<number, SealingUnavailable | StoreUnavailable>
}

/** Erases captured calls. */
export class CaptureErasure extends Context.Tag("gateway/capture/CaptureErasure")<
  CaptureErasure,
  CaptureErasureShape
>() {
  static readonly layer: Layer.Layer<
    CaptureErasure,
    never,
    AccountTransactions | Captured | CaptureKeys | CaptureStore | Timers
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const captured = yield* Captured
  const keys = yield* CaptureKeys
  const store = yield* CaptureStore
  const timers = yield* Timers
  const transactions = yield* AccountTransactions

  const rewritten = (place: Place, isErased: (sample: ExpandedSample) => boolean) =>
    Effect.gen(function* () {
      const rows = yield* store.ofConversation(place)
      let base: Base | null = null
      let day: string | undefined
      let dayKey: Uint8Array | undefined
      const written: Array<Omit<NewSample, "dayKey">> = []
      const keep = ({ expanded, opened, row }: ExpandedSample) =>
        Effect.gen(function* () {
          const { c: called, f: facts, g: media, x: isTruncated } = opened.header
          if (isTruncated === 1) {
            // it has nothing of another, and no text that could flow
            written.push({ ...row, flowAuthorized: false, shared: [] })
            return
          }
          if (row.day !== day) {
            base = null
            day = row.day
            dayKey = yield* keys.existing(row.projectId, row.day)
          }
          if (dayKey === undefined) return
          const isFull = [...expanded.blocks, expanded.response].every(
            (block) => block === undefined || block.text !== null
          )
          const content = isFull ? ("full" as const) : ("fingerprint" as const)
          const job = { id: row.id, project: row.projectId, day: row.day, dayKey, content, facts }
          const parts = { ...expanded, media, called, isBound: !row.flowAuthorized }
          const encoded = yield* Effect.promise(() => rewrite(job, base, parts))
          base = { id: row.id, keys: encoded.keys }
          written.push({ ...row, base: encoded.base, shared: encoded.shared, sealed: encoded.sealed })
        })
      yield* captured.expanded(rows).pipe(
        Stream.filter((sample) => !isErased(sample)),
        Stream.runForEach(keep)
      )
      yield* store.replace(place, written)
      return rows.length - written.length
    })

  const matches =
    (erased: Erased) =>
    ({ row }: ExpandedSample) => {
      switch (erased._tag) {
        case "Sample":
          return row.id === erased.id
        case "Key":
          return row.keyId === erased.keyId
        case "EndUser":
          return row.endUser === erased.endUser
        case "Conversation":
          return row.conversation === erased.conversation
      }
    }

  const erasedOf = (project: ProjectId, erasure: Exclude<Erasure, { readonly _tag: "Project" }>) =>
    erasure._tag === "EndUser"
      ? Effect.map(keys.endUser(project, erasure.user), (endUser): Erased | undefined =>
          endUser === undefined ? undefined : { _tag: "EndUser", endUser }
        )
      : Effect.succeed<Erased | undefined>(erasure)

  return CaptureErasure.of({
    erase: (project, erasure) =>
      transactions.commit((announce) =>
        Effect.gen(function* () {
          yield* store.lock(project)
          // what cannot be read could not be written anew, and would be erased with the rest
          if (erasure._tag !== "Project" && erasure._tag !== "Conversation") yield* keys.required(project)
          yield* announce({ kind: "capture", id: project })
          if (erasure._tag !== "Sample") yield* store.refuseBefore(project, dateAt(timers.now()))
          if (erasure._tag === "Project") return yield* store.eraseProject(project)
          const erased = yield* erasedOf(project, erasure)
          if (erased === undefined) return 0
          let count = 0
          for (const place of yield* store.touched(project, erased)) count += yield* rewritten(place, matches(erased))
          yield* store.sweep(project)
          return count
        })
      )
  })
})
