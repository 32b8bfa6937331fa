import * as Schema from "effect/Schema"

/**
 * The field by whose value the records of a union are told apart. Without a title an error would list the descriptions as what is
 * expected, not the values.
 */
export const discriminator = <A extends string>(value: A, description: string) =>
  Schema.Literal(value).annotations({ title: JSON.stringify(value), description })
