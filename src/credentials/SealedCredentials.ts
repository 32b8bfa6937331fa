import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { SealingUnavailable } from "../domain/AccountError.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { CredentialId } from "../domain/Ids.ts"
import { type CredentialRow, CredentialStore } from "./CredentialStore.ts"
import { MasterKey } from "./MasterKey.ts"
import * as Sealing from "./Sealing.ts"

type Place = Pick<CredentialRow, "id" | "projectId">

export interface Resealed {
  readonly resealed: number
  /** Sealed with neither the current nor the previous master key. */
  readonly unreadable: number
}

export interface SealedCredentialsShape {
  readonly seal: (place: Place, secret: Redacted.Redacted) => Effect.Effect<Buffer, SealingUnavailable>
  /** `undefined` when no configured master key opens it. */
  readonly open: (row: CredentialRow) => Effect.Effect<Redacted.Redacted | undefined, SealingUnavailable>
  /** Seals with the current master key what the previous one sealed; can be repeated. */
  readonly reseal: Effect.Effect<Resealed, SealingUnavailable | StoreUnavailable>
}

/** Seals credentials under the master key; each opens only as the credential of its own project. */
export class SealedCredentials extends Context.Tag("gateway/credentials/SealedCredentials")<
  SealedCredentials,
  SealedCredentialsShape
>() {
  static readonly layer: Layer.Layer<SealedCredentials, never, CredentialStore | MasterKey> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const purpose = "provider credentials"
const portion = 500

const make = Effect.gen(function* () {
  const masterKey = yield* MasterKey
  const store = yield* CredentialStore

  const seal: SealedCredentialsShape["seal"] = (place, secret) =>
    Effect.map(masterKey.derived(purpose), (key) => Sealing.seal(key, contextOf(place), Redacted.value(secret)))
  const open: SealedCredentialsShape["open"] = (row) =>
    Effect.map(masterKey.accepted(purpose), (keys) => {
      const secret = Sealing.open(keys, contextOf(row), row.sealed)
      return secret === undefined ? undefined : Redacted.make(secret)
    })

  const resealOne = (current: Buffer, row: CredentialRow) =>
    Effect.gen(function* () {
      if (Sealing.openWith(current, contextOf(row), row.sealed) !== undefined) return { resealed: 0, unreadable: 0 }
      const secret = yield* open(row)
      if (secret === undefined) return { resealed: 0, unreadable: 1 }
      yield* store.reseal(row, yield* seal(row, secret))
      return { resealed: 1, unreadable: 0 }
    })
  const resealAfter = (
    current: Buffer,
    after: CredentialId | undefined,
    sum: Resealed
  ): Effect.Effect<Resealed, SealingUnavailable | StoreUnavailable> =>
    Effect.gen(function* () {
      const rows = yield* store.all(after, portion)
      const last = rows.at(-1)
      if (last === undefined) return sum
      const done = yield* Effect.forEach(rows, (row) => resealOne(current, row))
      return yield* resealAfter(current, last.id, {
        resealed: done.reduce((total, { resealed }) => total + resealed, sum.resealed),
        unreadable: done.reduce((total, { unreadable }) => total + unreadable, sum.unreadable)
      })
    })

  return SealedCredentials.of({
    seal,
    open,
    reseal: Effect.flatMap(masterKey.derived(purpose), (current) =>
      resealAfter(current, undefined, { resealed: 0, unreadable: 0 })
    )
  })
})

/** A row that is moved to another project, or takes another one's sealed value, does not open. */
const contextOf = ({ id, projectId }: Place): string => `${projectId} ${id}`
