import * as Schema from "effect/Schema"

/** An id that clients send: its hexadecimal digits may be capitals (RFC 9562), while ids are compared, hashed and sealed as text. */
export const sentId = <A extends string>(id: Schema.Schema<A, string>, description: string) =>
  Schema.transform(Schema.UUID, id, {
    strict: true,
    decode: (text) => text.toLowerCase(),
    encode: (text) => text
  }).annotations({
    description,
    jsonSchema: { ...uuid, description }
  })

const uuid = { type: "string", format: "uuid" }
