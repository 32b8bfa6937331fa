import * as Schema from "effect/Schema"
import { RequestId } from "../../domain/Ids.ts"
import { requestIdOf } from "../RequestIdHex.ts"

/** An id that clients send: its hexadecimal digits may be capitals (RFC 9562), while ids are compared, hashed and sealed as text. */
export const sentId = <A extends string>(id: Schema.Schema<A, string>, description: string) =>
  Schema.transform(Uuid, id, {
    strict: true,
    decode: (text) => text.toLowerCase(),
    encode: (text) => text
  }).annotations({
    description,
    jsonSchema: { ...uuid, description }
  })

/** The id of a call that clients send, in any of the forms that they have it in: of the header, or of a response's body. */
export const sentRequestId = (description: string) =>
  Schema.transform(SentRequestId, RequestId, {
    strict: true,
    decode: (text) => requestIdOf(text) ?? text,
    encode: (text) => text
  }).annotations({ description, jsonSchema: { type: "string", description } })

/** What an error says that is expected. */
export const requestIdForms =
  "a request id: the header 'x-request-id' of a response, or its 'id' (chatcmpl-…, resp_…, msg_…)"

const SentRequestId = Schema.String.pipe(
  Schema.filter((text) => requestIdOf(text) !== undefined, { message: () => `Expected ${requestIdForms}` })
)

/** Described as an error says what it expects. */
const Uuid = Schema.UUID.annotations({ description: "a UUID, such as 0198c0de-5a3b-7c21-9d4e-6f0123456789" })

const uuid = { type: "string", format: "uuid" }
