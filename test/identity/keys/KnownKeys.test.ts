import { expect, it } from "vitest"
import { hashOf } from "../../../src/identity/keys/ApiKey.ts"
import { KnownKeys, keptKnownKeys } from "../../../src/identity/keys/KnownKeys.ts"

it("known keys are told from others until they are deleted", () => {
  const known = new KnownKeys()
  known.add(hashOf("a"))
  expect([known.has(hashOf("a")), known.has(hashOf("b"))]).toEqual([true, false])
  known.delete(hashOf("b"))
  expect(known.has(hashOf("a"))).toBe(true)
  known.delete(hashOf("a"))
  expect(known.has(hashOf("a"))).toBe(false)
})

it("known keys are bounded: those added longest ago make room", () => {
  const known = new KnownKeys()
  const hash = (n: number) => n.toString(16).padStart(12, "0").padEnd(64, "f")
  for (let n = 0; n < keptKnownKeys; n++) known.add(hash(n))
  known.add(hash(0))
  for (let n = 1; n < keptKnownKeys; n++) known.add(hash(keptKnownKeys + n))
  expect([0, 1, keptKnownKeys + 1].map((n) => known.has(hash(n)))).toEqual([true, false, true])
})
