import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { isMasterKey, MasterKey, type MasterKeyOptions } from "../../src/credentials/MasterKey.ts"
import { SealingUnavailable } from "../../src/domain/AccountError.ts"

const [one, other] = [1, 2].map((byte) => Redacted.make(Buffer.alloc(32, byte).toString("base64"))) as [
  Redacted.Redacted,
  Redacted.Redacted
]

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "master-key-"))
})
afterEach(() => rmSync(directory, { recursive: true }))

const withKey = (options: Partial<MasterKeyOptions>) =>
  Effect.provide(MasterKey, MasterKey.layer({ current: null, previous: null, directory: null, ...options }))
const derived = (options: Partial<MasterKeyOptions>, purpose = "a purpose") =>
  Effect.flatMap(withKey(options), (key) => Effect.map(key.derived(purpose), (bytes) => bytes.toString("hex")))

describe("the master key", () => {
  it.effect("gives another key for each purpose, the same on every node", () =>
    Effect.gen(function* () {
      const key = yield* derived({ current: one })
      expect(key).toMatch(/^[0-9a-f]{64}$/)
      expect(yield* derived({ current: one })).toBe(key)
      expect(yield* derived({ current: one }, "another purpose")).not.toBe(key)
      expect(yield* derived({ current: other })).not.toBe(key)
      expect(key).not.toBe(Buffer.from(Redacted.value(one), "base64").toString("hex"))
    })
  )

  it.effect("accepts what the previous one has made, and makes nothing with it", () =>
    Effect.gen(function* () {
      const key = yield* withKey({ current: one, previous: other })
      const accepted = yield* key.accepted("a purpose")
      expect(accepted.map((bytes) => bytes.toString("hex"))).toEqual([
        yield* derived({ current: one }),
        yield* derived({ current: other })
      ])
      expect((yield* key.derived("a purpose")).equals(accepted[0] ?? Buffer.alloc(0))).toBe(true)
    })
  )

  it.effect("is made at the first start, for its owner only, and stays", () =>
    Effect.gen(function* () {
      const first = yield* derived({ directory })
      const file = join(directory, "master.key")
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(isMasterKey(readFileSync(file, "utf8").trim())).toBe(true)
      expect(yield* derived({ directory })).toBe(first)
      // a key of the environment counts before the file
      expect(yield* derived({ directory, current: one })).toBe(yield* derived({ current: one }))
    })
  )

  it.effect("is not replaced where its file cannot be used", () =>
    Effect.gen(function* () {
      const file = join(directory, "master.key")
      writeFileSync(file, "no key\n")
      const failure = yield* Effect.flip(withKey({ directory }))
      expect(failure.message).toBe(`the master key in ${file} is not 32 bytes in base64.`)
      expect(readFileSync(file, "utf8")).toBe("no key\n")
      const missing = yield* Effect.flip(withKey({ directory: join(directory, "missing") }))
      expect(missing.message).toContain("cannot be written (ENOENT)")
    })
  )

  it.effect("is refused by name where a program gives something else", () =>
    Effect.gen(function* () {
      for (const wrong of ["", "secret", Buffer.alloc(32, 1).toString("hex")].map((text) => Redacted.make(text))) {
        const failures = [
          yield* Effect.flip(withKey({ current: wrong, directory })),
          yield* Effect.flip(withKey({ current: one, previous: wrong }))
        ]
        expect(failures.map(({ message }) => message)).toEqual([
          "the master key in masterKey.current is not 32 bytes in base64.",
          "the master key in masterKey.previous is not 32 bytes in base64."
        ])
      }
    })
  )

  it.effect("is missed by name where there is none", () =>
    Effect.gen(function* () {
      const key = yield* withKey({})
      expect(key.isSet).toBe(false)
      const failures = [yield* Effect.flip(key.derived("x")), yield* Effect.flip(key.accepted("x"))]
      for (const failure of failures) {
        expect(failure).toBeInstanceOf(SealingUnavailable)
        expect(failure.message).toContain("GATEWAY_MASTER_KEY")
      }
    })
  )

  it("is 32 bytes in base64 and nothing else", () => {
    const text = Redacted.value(one)
    expect([text, text.replace("=", "")].map(isMasterKey)).toEqual([true, true])
    const wrong = ["", "x", text.slice(1), `${text}=`, `${text} `, Buffer.alloc(31).toString("base64"), "a".repeat(44)]
    expect(wrong.map(isMasterKey)).toEqual(wrong.map(() => false))
  })
})
