import { describe, expect, it } from "vitest"
import { AccountId, KeyId, ProjectId } from "../../../src/domain/Ids.ts"
import { HeldQueue } from "../../../src/ledger/batcher/HeldQueue.ts"
import { caller } from "../fixtures.ts"

const other = {
  accountId: AccountId.make("00000000-0000-7000-8000-000000000011"),
  projectId: ProjectId.make("00000000-0000-7000-8000-000000000012"),
  keyId: KeyId.make("00000000-0000-7000-8000-000000000013"),
  billingMode: "managed"
} as const

const queueOf = (count: number) => {
  const queue = new HeldQueue<{ readonly n: number }>()
  const all = Array.from({ length: count }, (_, n) => ({ n }))
  for (const one of all) queue.wait(one, caller, caller.accountId)
  return { queue, all }
}

describe("Reservations that wait for held money", () => {
  it("later ones of the scope wait behind them, those of other scopes do not", () => {
    const { queue } = queueOf(1)
    expect(queue.blockedAt(caller)).toBe(caller.accountId)
    expect(queue.blockedAt(other)).toBeUndefined()
    expect(queue.blockedAt({ ...caller, billingMode: "byok" })).toBeUndefined()
  })

  it("nothing is due until a hold of the scope ends, then the first sixteen are", () => {
    const { all, queue } = queueOf(20)
    queue.released(other)
    expect(queue.isDue).toBe(false)
    expect(queue.take(256)).toEqual([])
    queue.released(caller)
    expect(queue.take(256)).toEqual(all.slice(0, 16))
    expect(queue.isDue).toBe(false)
  })

  it("once some were granted the next are due; they keep their order when they are refused again", () => {
    const { all, queue } = queueOf(20)
    queue.allReleased()
    queue.take(256)
    for (const one of all.slice(0, 10)) queue.remove(one)
    for (const one of all.slice(10, 16)) queue.wait(one, caller, caller.accountId)
    expect(queue.take(256)).toEqual(all.slice(10))
  })

  it("one whose time is up is decided whatever its turn", () => {
    const { all, queue } = queueOf(20)
    const last = all[19] ?? { n: 19 }
    queue.expired(last)
    expect(queue.isFinal(last)).toBe(true)
    expect(queue.take(256)).toEqual([last])
    queue.remove(last)
    queue.take(256)
    expect(queue.isDue).toBe(false)
  })

  it("a statement without room for all leaves the others due", () => {
    const { all, queue } = queueOf(10)
    queue.allReleased()
    expect(queue.take(4)).toEqual(all.slice(0, 4))
    expect(queue.isDue).toBe(true)
  })

  it("an empty queue blocks nobody", () => {
    const { all, queue } = queueOf(3)
    expect(queue.removeAll()).toEqual(all)
    expect([queue.size, queue.isDue, queue.blockedAt(caller)]).toEqual([0, false, undefined])
  })
})
