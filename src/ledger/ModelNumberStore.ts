import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import type { ParseError } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { Scope } from "effect/Scope"
import { isStorable } from "../domain/StorableText.ts"

/** The index of the names takes none that is much longer. */
const maxNameLength = 512

/** Numbers that stand for models in the rows of calls: a hundred names would be most of a row. */
export interface ModelNumbers {
  /** Those of these models, with commas between them; `undefined` where one has none that is known here. */
  readonly of: (models: ReadonlyArray<string>) => string | undefined
  /**
   * Begins to ask the database for the numbers that `of` has not known, and returns at once; models without one are given one. Where
   * that fails, `of` goes on not to know them.
   */
  readonly learn: Effect.Effect<void>
}

export const make = (sql: SqlClient): Effect.Effect<ModelNumbers, never, Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const known = new Map<string, number>()
    const unknown = new Set<string>()
    const texts = new WeakMap<ReadonlyArray<string>, string>()

    const of = (models: ReadonlyArray<string>): string | undefined => {
      const made = texts.get(models)
      if (made !== undefined) return made
      const numbers: Array<number> = []
      for (const model of models) {
        const number = known.get(model)
        if (number !== undefined) numbers.push(number)
        else if (model.length <= maxNameLength && isStorable(model)) unknown.add(model)
      }
      if (numbers.length < models.length) return undefined
      // joined, not added up: of a string in a hundred parts, each copy into a row takes four times as long
      const text = numbers.join(",")
      texts.set(models, text)
      return text
    }

    /** In one order, so that nodes which number the same models wait for each other and not in a circle. */
    const ask = (models: ReadonlyArray<string>) =>
      sql`insert into model_number (model) select m from unnest(${models}::text[]) m order by m on conflict do nothing`.pipe(
        Effect.zipRight(sql`select number, model from model_number where model = any(${models}::text[])`),
        Effect.flatMap(decodeRows),
        Effect.andThen((rows) => {
          for (const { model, number } of rows) known.set(model, number)
        }),
        Effect.catchAll((error) => Effect.logDebug("no numbers for the models of calls", error))
      )

    const learn = Effect.suspend(() => {
      if (unknown.size === 0) return Effect.void
      const models = [...unknown]
      unknown.clear()
      return Effect.asVoid(Effect.forkIn(ask(models), scope))
    })

    return { of, learn }
  })

/** The models that numbers stand for, by the texts of `of`. */
export const modelsOf = (
  sql: SqlClient,
  texts: ReadonlyArray<string>
): Effect.Effect<ReadonlyMap<string, ReadonlyArray<string>>, SqlError | ParseError> => {
  if (texts.length === 0) return Effect.succeed(new Map())
  const asked = new Set(texts)
  const numbers = new Set([...asked].flatMap((text) => text.split(",")))
  return sql`select number, model from model_number where number = any(${[...numbers]}::int[])`.pipe(
    Effect.flatMap(decodeRows),
    Effect.map((rows) => {
      const models = new Map(rows.map(({ model, number }) => [`${number}`, model]))
      return new Map([...asked].map((text) => [text, text.split(",").flatMap((number) => models.get(number) ?? [])]))
    })
  )
}

const decodeRows = Schema.decodeUnknown(Schema.Array(Schema.Struct({ number: Schema.Int, model: Schema.String })))
