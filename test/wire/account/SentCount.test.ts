import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { Days, maxDays } from "../../../src/wire/account/Activity.ts"
import { ConversationParameters } from "../../../src/wire/account/Chat.ts"
import { KeysParameters } from "../../../src/wire/account/Keys.ts"
import { CatalogParameters } from "../../../src/wire/account/Models.ts"
import { PageParameters } from "../../../src/wire/account/Page.ts"
import { Calls, maxCalls } from "../../../src/wire/account/Replay.ts"

const limitOf = <A extends { readonly limit: number }, I>(parameters: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknownSync(parameters)
  return (limit: unknown) => decode({ limit }).limit
}
const decodePage = Schema.decodeUnknownSync(KeysParameters)
const counts: ReadonlyArray<readonly [name: string, max: number, decode: (sent: unknown) => number]> = [
  ["limit of a list", 100, limitOf(PageParameters("projects"))],
  ["limit of keys", 100, limitOf(KeysParameters)],
  ["page of keys", 1_000_000, (page) => decodePage({ page }).page],
  ["limit of the catalog", 100, limitOf(CatalogParameters)],
  ["limit of conversations", 100, limitOf(ConversationParameters)],
  ["days", maxDays, Schema.decodeUnknownSync(Days)],
  ["calls", maxCalls, Schema.decodeUnknownSync(Calls)]
]

describe.each(counts)("the %s in a query", (_, max, decode) => {
  it("is an integer in decimal digits, from 1", () => {
    for (const sent of ["1", "5", "010", String(max)]) expect(decode(sent)).toBe(Number.parseInt(sent, 10))
    const others = ["", " 5", "5 ", "+5", "-1", "1e1", "0x10", "0b1", "5.0", "٥", "NaN", "Infinity", "9".repeat(400)]
    for (const sent of [...others, "0", String(max + 1)]) {
      expect(() => decode(sent), sent).toThrow(`an integer from 1 to ${max}`)
    }
  })
})
