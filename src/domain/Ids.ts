import { randomFillSync } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Timers } from "./Timers.ts"

export const UserId = Schema.UUID.pipe(Schema.brand("UserId"))
export type UserId = typeof UserId.Type
export const AccountId = Schema.UUID.pipe(Schema.brand("AccountId"))
export type AccountId = typeof AccountId.Type
export const ProjectId = Schema.UUID.pipe(Schema.brand("ProjectId"))
export type ProjectId = typeof ProjectId.Type
export const KeyId = Schema.UUID.pipe(Schema.brand("KeyId"))
export type KeyId = typeof KeyId.Type
/** One per request, a uuid v7: the call's id, its hold's id and what the client sees as `x-request-id`. */
export const RequestId = Schema.UUID.pipe(Schema.brand("RequestId"))
export type RequestId = typeof RequestId.Type

export interface IdsShape {
  /** A uuid v7: sorts by the time it was made. */
  readonly uuid: () => string
}

/** Unchecked: what `Ids` makes is a uuid, and checking one costs more than making it. */
export const nextRequestId = (ids: IdsShape): RequestId => RequestId.make(ids.uuid(), { disableValidation: true })

/** Where ids come from, so that a scripted run can replay them exactly. */
export class Ids extends Context.Tag("gateway/domain/Ids")<Ids, IdsShape>() {
  static readonly layer: Layer.Layer<Ids, never, Timers> = Layer.effect(
    this,
    Effect.map(Timers, (timers) => ({ uuid: makeUuid(timers.now, randomFillSync) }))
  )
}

/** `fill` overwrites the bytes it is given with random ones. */
export const makeUuid = (now: () => number, fill: (bytes: Uint8Array) => void): (() => string) => {
  const pool = Buffer.alloc(10 * 128)
  let at = pool.length
  return () => {
    if (at === pool.length) {
      fill(pool)
      at = 0
    }
    pool[at] = ((pool[at] ?? 0) & 0x0f) | 0x70
    pool[at + 2] = ((pool[at + 2] ?? 0) & 0x3f) | 0x80
    const random = pool.toString("hex", at, at + 10)
    at += 10
    const time = Math.floor(now()).toString(16).padStart(12, "0")
    return `${time.slice(0, 8)}-${time.slice(8)}-${random.slice(0, 4)}-${random.slice(4, 8)}-${random.slice(8)}`
  }
}
