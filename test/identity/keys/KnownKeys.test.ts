import { expect, it } from "vitest"
import { hashOf } from "../../../src/identity/keys/ApiKey.ts"
import { KnownKeys, maxKnownKeys } from "../../../src/identity/keys/KnownKeys.ts"

it("known keys are told from others until they are deleted", () => {
  const known = new KnownKeys()
  known.add(hashOf("a"))
  expect([known.has(hashOf("a")), known.has(hashOf("b"))]).toEqual([true, false])
  known.delete(hashOf("b"))
  expect(known.has(hashOf("a"))).toBe(true)
  known.delete(hashOf("a"))
  expect(known.has(hashOf("a"))).toBe(false)
})

it("known keys are bounded: the one added longest ago makes room", () => {
  const known = new KnownKeys()
  const hash = (n: number) => n.toString(16).padStart(12, "0").padEnd(64, "f")
  for (let n = 0; n < maxKnownKeys; n++) known.add(hash(n))
  known.add(hash(0))
  known.add(hash(maxKnownKeys))
  expect([0, 1, 2, maxKnownKeys].map((n) => known.has(hash(n)))).toEqual([true, false, true, true])
})
