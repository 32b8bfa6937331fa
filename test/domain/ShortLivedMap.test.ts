import { describe, expect, it } from "vitest"
import { ShortLivedMap } from "../../src/domain/ShortLivedMap.ts"

describe("a map of short-lived entries", () => {
  it("finds, replaces, lists and deletes", () => {
    const map = new ShortLivedMap<string, number>()
    map.set("a", 1)
    map.set("b", 2)
    map.set("a", 3)
    expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([3, 2, undefined])
    expect(map.values()).toEqual([3, 2])
    map.delete("a")
    map.delete("a")
    expect(map.get("a")).toBeUndefined()
    expect(map.values()).toEqual([2])
  })

  it("knows no key that was not set", () => {
    const map = new ShortLivedMap<string, number>()
    expect(["constructor", "toString", "__proto__"].map((key) => map.get(key))).toEqual([
      undefined,
      undefined,
      undefined
    ])
    map.set("__proto__", 1)
    expect(map.get("__proto__")).toBe(1)
  })
})
