import { describe, expect, it } from "vitest"
import { isValid, make } from "../../../src/identity/sessions/SignInProof.ts"

const [key, previous, foreign] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer]
const now = Date.UTC(2026, 0, 1)
const proof = make(key, now, (bytes) => bytes.fill(7))

describe("a proof of the master key", () => {
  it("is accepted with any of the configured keys", () => {
    expect(isValid(proof, [key], now)).toBe(true)
    expect(
      isValid(
        make(previous, now, (bytes) => bytes.fill(7)),
        [key, previous],
        now
      )
    ).toBe(true)
    expect(isValid(proof, [foreign], now)).toBe(false)
    expect(isValid(proof, [], now)).toBe(false)
  })

  it("counts for a minute before and after it was made", () => {
    for (const offset of [-60_000, 0, 60_000])
      expect([offset, isValid(proof, [key], now + offset)]).toEqual([offset, true])
    for (const offset of [-60_001, 60_001])
      expect([offset, isValid(proof, [key], now + offset)]).toEqual([offset, false])
  })

  it("is refused after a change of any character", () => {
    for (let at = 0; at < proof.length; at++) {
      const changed = proof.slice(0, at) + (proof[at] === "A" ? "B" : "A") + proof.slice(at + 1)
      expect([changed, isValid(changed, [key], now)]).toEqual([changed, false])
    }
    for (const text of ["", ".", "..", `${proof}x`, proof.slice(1), ` ${proof}`]) {
      expect([text, isValid(text, [key], now)]).toEqual([text, false])
    }
  })

  it("is another one at each request", () => {
    expect(make(key, now, (bytes) => bytes.fill(8))).not.toBe(proof)
    expect(make(key, now + 1, (bytes) => bytes.fill(7))).not.toBe(proof)
  })
})
