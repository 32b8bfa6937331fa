import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { sentCount } from "./SentCount.ts"

const defaultLimit = 20
const maxLimit = 100

/** A cursor is the id of the last item before it: 16 bytes in base64url, so that nobody takes it for an id. */
const IdCursor = Schema.transformOrFail(Schema.String, Schema.UUID, {
  strict: true,
  decode: (text, _, ast) => {
    const hex = /^[A-Za-z0-9_-]{22}$/.test(text) ? Buffer.from(text, "base64url").toString("hex") : ""
    return hex.length === 32
      ? ParseResult.succeed(
          `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
        )
      : ParseResult.fail(new ParseResult.Type(ast, text))
  },
  encode: (id) => ParseResult.succeed(cursorOf(id))
})

export const cursorOf = (id: string): string => Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url")

/** The query parameter by which a list continues, in its own encoding: no error names what a cursor is made of. */
export const cursorParameter = <A>(cursor: Schema.Schema<A, string>) =>
  Schema.optional(
    Schema.transformOrFail(Schema.String, Schema.typeSchema(cursor), {
      strict: true,
      decode: (text, options, ast) =>
        ParseResult.mapError(
          ParseResult.decode(cursor)(text, options),
          () => new ParseResult.Type(ast, text, "not a next_cursor of this list")
        ),
      encode: (value, options) => ParseResult.encode(cursor)(value, options)
    }).annotations({ jsonSchema: { type: "string", description: "`next_cursor` of the previous page." } })
  )

/** The query of every list. */
export const pageParameters = {
  limit: Schema.optionalWith(sentCount(maxLimit), {
    default: () => defaultLimit
  }).annotations({
    description: `Maximum number of items, 1 to ${maxLimit}; ${defaultLimit} by default. A page of large items has fewer.`
  }),
  cursor: cursorParameter(IdCursor)
}

export const PageParameters = Schema.Struct(pageParameters)
export type PageParameters = typeof PageParameters.Type

/** A page of a list. */
export const pageOf = <A, I>(identifier: string, item: Schema.Schema<A, I>, order = "newest first") =>
  Schema.Struct({
    items: Schema.Array(item).annotations({ description: `The items, ${order}.` }),
    has_more: Schema.Boolean.annotations({ description: "Whether more items follow." }),
    next_cursor: Schema.NullOr(Schema.String).annotations({
      description: "`cursor` of the next page; null on the last page."
    })
  }).annotations({ identifier })

export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly has_more: boolean
  readonly next_cursor: string | null
}
