import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { sentCount } from "./SentCount.ts"

const defaultLimit = 20
const maxLimit = 100

/** The lists that continue by a cursor. */
export type ListName =
  | "all-projects"
  | "analyses"
  | "artifact-versions"
  | "audit"
  | "catalog"
  | "chat-models"
  | "chat-projects"
  | "conversations"
  | "credentials"
  | "in-flight"
  | "ledger"
  | "members"
  | "payments"
  | "projects"
  | "refusals"
  | "requests"
  | "routing-configurations"
  | "routing-versions"
  | "samples"
  | "sessions"
  | "users"

/** A cursor is the position of the last item before it, after the name of its list: no other list continues from it. */
export const cursorOfList = <A>(list: ListName, position: Schema.Schema<A, string>): Schema.Schema<A, string> =>
  Schema.transformOrFail(Schema.StringFromBase64Url, Schema.typeSchema(position), {
    strict: true,
    decode: (text, options, ast) =>
      text.startsWith(`${list} `)
        ? ParseResult.decode(position)(text.slice(list.length + 1), options)
        : ParseResult.fail(new ParseResult.Type(ast, text)),
    encode: (value, options) =>
      ParseResult.map(ParseResult.encode(position)(value, options), (text) => `${list} ${text}`)
  })

const idCursor = (list: ListName) => cursorOfList(list, Schema.UUID)

/** `next_cursor` after the item with this id. */
export const cursorOf = (list: ListName, id: string): string => Schema.encodeSync(idCursor(list))(id)

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

/** The query parameter of every list. */
export const limitParameter = Schema.optionalWith(sentCount(maxLimit), {
  default: () => defaultLimit
}).annotations({
  description: `Maximum number of items, 1 to ${maxLimit}; ${defaultLimit} by default. A page of large items has fewer.`
})

/** The query of a list that continues by ids. */
export const pageParameters = (list: ListName) => ({
  limit: limitParameter,
  cursor: cursorParameter(idCursor(list))
})

export const PageParameters = (list: ListName) => Schema.Struct(pageParameters(list))
export type PageParameters = ReturnType<typeof PageParameters>["Type"]

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
