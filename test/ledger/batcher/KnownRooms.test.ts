import { describe, expect, it } from "vitest"
import { AccountId, KeyId, ProjectId } from "../../../src/domain/Ids.ts"
import { microUsd } from "../../../src/domain/Money.ts"
import { KnownRooms } from "../../../src/ledger/batcher/KnownRooms.ts"
import type { BatchReservation } from "../../../src/ledger/LedgerStore.ts"
import { newCallId, option } from "../fixtures.ts"

const id = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`
const callerOf = (key: number, account = 1) => ({
  accountId: AccountId.make(id(account)),
  projectId: ProjectId.make(id(2)),
  keyId: KeyId.make(id(key)),
  billingMode: "managed" as const
})
const wanted = (max: number, caller = callerOf(10)): BatchReservation => ({
  callId: newCallId(),
  caller,
  requestedModel: "auto",
  options: [option(max)],
  maxWaitMillis: 0
})
const grant = (amount: number, room: number) => ({
  _tag: "Granted" as const,
  option: 0,
  amount: microUsd(amount),
  room: microUsd(room)
})

describe("the room that is known", () => {
  it("suffices up to a sixteenth of it", () => {
    const rooms = new KnownRooms()
    rooms.grant(callerOf(10), grant(100, 1_600))
    expect(rooms.suffice([])).toBe(true)
    expect(rooms.suffice([wanted(100)])).toBe(true)
    expect(rooms.suffice([wanted(101)])).toBe(false)
    expect(rooms.suffice([{ ...wanted(1), extends: true }])).toBe(false)
  })

  it("is what the last grant of a key has left, without all that its account was granted since", () => {
    const rooms = new KnownRooms()
    rooms.grant(callerOf(10), grant(100, 3_200))
    rooms.grant(callerOf(11), grant(1_600, 16_000))
    rooms.grant(callerOf(12, 3), grant(1_600, 16_000))
    expect(rooms.suffice([wanted(100)])).toBe(true)
    expect(rooms.suffice([wanted(101)])).toBe(false)
    expect(rooms.suffice([wanted(1_000, callerOf(11))])).toBe(true)
    rooms.grant(callerOf(10), grant(100, 1_600))
    expect(rooms.suffice([wanted(100), wanted(100, callerOf(11))])).toBe(true)
  })

  it("is taken by one reservation after the other of an account", () => {
    const rooms = new KnownRooms()
    rooms.grant(callerOf(10), grant(0, 1_700))
    rooms.grant(callerOf(12, 3), grant(0, 1_700))
    expect(rooms.suffice([wanted(100), wanted(100)])).toBe(true)
    expect(rooms.suffice([wanted(100), wanted(100), wanted(100)])).toBe(false)
    expect(rooms.suffice([wanted(100), wanted(100), wanted(100, callerOf(12, 3))])).toBe(true)
  })

  it("is none of a key without a grant, or after it was forgotten", () => {
    const rooms = new KnownRooms()
    rooms.grant(callerOf(10), grant(100, 16_000))
    expect(rooms.suffice([wanted(1, callerOf(11))])).toBe(false)
    rooms.forget()
    expect(rooms.suffice([wanted(1)])).toBe(false)
  })
})
