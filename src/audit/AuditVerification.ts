import * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { AccountId } from "../domain/Ids.ts"
import { chainStart, hashOf } from "./AuditChain.ts"
import { type AuditHead, type AuditRow, AuditStore } from "./AuditStore.ts"

/** The first row of an account's log that is not as it was written. */
export interface BrokenRow {
  readonly accountId: AccountId
  readonly position: number
  /** `null` for a row that is missing. */
  readonly id: string | null
  readonly reason: string
}

export interface Verified {
  readonly accounts: number
  readonly rows: number
  /** At most one of each account. */
  readonly broken: ReadonlyArray<BrokenRow>
}

const accountsAtATime = 100
/** Changes of full policies have half a megabyte each. */
const rowsAtATime = 50

/** Walks the log of every account, by pages, while the service may go on writing. */
export const verify: Effect.Effect<Verified, StoreUnavailable, AuditStore> = Effect.gen(function* () {
  const store = yield* AuditStore
  const broken: Array<BrokenRow> = []
  let [accounts, rows] = [0, 0]
  let heads = yield* store.heads(undefined, accountsAtATime)
  while (heads.length > 0) {
    for (const head of heads) {
      const found = yield* verifyAccount(store, head)
      accounts += 1
      rows += found.rows
      if (found.broken !== null) broken.push(found.broken)
    }
    heads = yield* store.heads(heads.at(-1)?.accountId, accountsAtATime)
  }
  return { accounts, rows, broken }
})

const verifyAccount = Effect.fnUntraced(function* (store: typeof AuditStore.Service, head: AuditHead) {
  const { accountId } = head
  const broken = (position: number, id: string | null, reason: string, rows: number) => ({
    rows,
    broken: { accountId, position, id, reason }
  })
  let previous: Uint8Array = chainStart
  let last = 0
  let page = yield* store.chain(accountId, last, rowsAtATime)
  while (page.length > 0) {
    for (const row of page) {
      const reason = reasonOf(row, last + 1, previous, head)
      if (reason !== undefined) return broken(last + 1, row.position === last + 1 ? row.id : null, reason, last)
      previous = row.hash
      last = row.position
    }
    page = yield* store.chain(accountId, last, rowsAtATime)
  }
  if (last < (head.position ?? 0)) return broken(last + 1, null, "the rows from here to the end are missing", last)
  const isEnd = last === (head.position ?? 0) || last <= ((yield* store.headOf(accountId))?.position ?? 0)
  return isEnd ? { rows: last, broken: null } : broken(last, null, "it is behind the end of the log", last)
})

/** The head was read before the rows: rows after it are of changes that were made meanwhile. */
const reasonOf = (row: AuditRow, position: number, previous: Uint8Array, head: AuditHead): string | undefined => {
  if (row.position !== position) return "the row is missing"
  if (!isSame(row.previousHash, previous)) return "it does not follow the row before it"
  if (!isSame(hashOf(row, previous), row.hash)) return "it was changed"
  if (position === head.position && head.hash !== null && !isSame(row.hash, head.hash)) {
    return "it is not the row that was written last"
  }
  return undefined
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0
