import { randomFillSync } from "node:crypto"
import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { checksumOf, hashOf, mint, prefixOf, wellFormed } from "../../../src/identity/keys/ApiKey.ts"

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const keys = fc
  .uint8Array({ minLength: 64, maxLength: 64 })
  .filter((bytes) => bytes.filter((byte) => byte < 248).length >= 32)
  .map((bytes) => mint((target) => target.set(bytes)))

describe("API keys", () => {
  it("have the documented form, and pass their own check", () => {
    fc.assert(
      fc.property(keys, (key) => {
        expect(key).toMatch(/^mrg_sk_[0-9A-Za-z]{38}$/)
        expect(wellFormed(key)).toBe(true)
        expect(prefixOf(key)).toBe(key.slice(0, 12))
      })
    )
  })

  it("carry the CRC-32 of everything before it, left-padded", () => {
    // CRC-32 ("123456789") is the published check value 0xCBF43926 = 3421780262.
    expect(checksumOf("123456789")).toBe("3jZRME")
    // CRC-32 of nothing is zero.
    expect(checksumOf("")).toBe("000000")
    expect(wellFormed(`mrg_sk_${"0".repeat(32)}${checksumOf(`mrg_sk_${"0".repeat(32)}`)}`)).toBe(true)
  })

  it("are refused after the corruption of any single character", () => {
    fc.assert(
      fc.property(keys, fc.nat(44), fc.nat(61), (key, at, digit) => {
        const other = base62.charAt(digit)
        fc.pre(other !== key[at])
        expect(wellFormed(key.slice(0, at) + other + key.slice(at + 1))).toBe(false)
      }),
      { numRuns: 500 }
    )
  })

  it("are refused with anything before or after them", () => {
    fc.assert(
      fc.property(keys, fc.string({ minLength: 1, maxLength: 3 }), (key, extra) => {
        expect(wellFormed(key + extra)).toBe(false)
        expect(wellFormed(extra + key)).toBe(false)
      })
    )
    expect(wellFormed(`${mint(randomFillSync)}\n`)).toBe(false)
  })

  it("use every digit equally often: bytes that would favour some are drawn again", () => {
    const counts = new Map<string, number>()
    for (let byte = 0; byte < 256; byte++) {
      let draws = 0
      const key = mint((bytes) => bytes.fill(draws++ === 0 ? byte : 0))
      if (draws === 1) counts.set(key.charAt(7), (counts.get(key.charAt(7)) ?? 0) + 1)
    }
    expect([...counts.keys()].sort().join("")).toBe(base62)
    expect(new Set(counts.values())).toEqual(new Set([4]))
  })

  it("differ from each other, and so do their hashes", () => {
    const minted = Array.from({ length: 1_000 }, () => mint(randomFillSync))
    expect(new Set(minted).size).toBe(1_000)
    expect(new Set(minted.map(hashOf)).size).toBe(1_000)
  })

  it("are stored as the SHA-256 of the whole key", () => {
    expect(hashOf("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  })
})
