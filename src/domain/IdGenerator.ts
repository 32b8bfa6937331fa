import { randomFillSync } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RequestId } from "./Ids.ts"
import { Timers } from "./Timers.ts"

/** Makes ids. */
export interface IdGeneratorShape {
  /** A UUID v7: sorts by the time it was generated. */
  readonly uuid: () => string
}

/** Unchecked: the generator makes UUIDs only, and checking one costs more than making it. */
export const nextRequestId = (ids: IdGeneratorShape): RequestId =>
  RequestId.make(ids.uuid(), { disableValidation: true })

/** A service, so that a scripted run can replay its ids exactly. */
export class IdGenerator extends Context.Tag("gateway/domain/IdGenerator")<IdGenerator, IdGeneratorShape>() {
  /** UUIDs of version 7, by the clock of `Timers`. */
  static readonly layer: Layer.Layer<IdGenerator, never, Timers> = Layer.effect(
    this,
    Effect.map(Timers, (timers) => ({ uuid: makeUuid(timers.now, randomFillSync) }))
  )
}

const bytesOfUuid = 16

/** `fill` overwrites the bytes it is given with random ones. */
export const makeUuid = (now: () => number, fill: (bytes: Uint8Array) => void): (() => string) => {
  const pool = Buffer.alloc(bytesOfUuid * 128)
  let at = pool.length
  return () => {
    if (at === pool.length) {
      fill(pool)
      at = 0
    }
    pool.writeUIntBE(Math.floor(now()), at, 6)
    pool[at + 6] = ((pool[at + 6] ?? 0) & 0x0f) | 0x70
    pool[at + 8] = ((pool[at + 8] ?? 0) & 0x3f) | 0x80
    const hex = pool.toString("hex", at, at + bytesOfUuid)
    at += bytesOfUuid
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  }
}
