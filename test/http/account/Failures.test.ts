import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import { errorOf, unsendableOf } from "../../../src/http/account/Failures.ts"
import { strict } from "../../../src/wire/account/Strict.ts"

const decodeError = (schema: string) =>
  Cause.fail(
    new HttpApiDecodeError({
      issues: [{ _tag: "Type", path: ["items", 0, "limit"], message: "Expected an integer, actual 0.5" }],
      message: `${schema}\n└─ Expected an integer, actual 0.5`
    })
  )

describe("a value that its schema does not take", () => {
  it("is the service's fault in a response, which names the field and not the value", () => {
    expect(unsendableOf(decodeError("(<declaration schema> <-> KeysPage)"))).toBe("items[0].limit")
  })

  it("is the client's fault in a request", () => {
    const cause = decodeError("{ readonly items: ReadonlyArray<Limit> }")
    expect(unsendableOf(cause)).toBeUndefined()
    expect(errorOf(cause)).toMatchObject({ _tag: "InvalidRequest", param: "items[0].limit" })
  })

  it("calls a record that has no name an object", () => {
    const decode = Schema.decodeUnknown(Schema.Struct({ canary: Schema.NullOr(strict({ share: Schema.Number })) }))
    const error = Effect.runSync(
      decode({ canary: 0 }).pipe(Effect.flip, Effect.flatMap(HttpApiDecodeError.fromParseError))
    )
    expect(errorOf(Cause.fail(error))?.message).toBe("Invalid value for 'canary': Expected an object or null.")
  })
})
