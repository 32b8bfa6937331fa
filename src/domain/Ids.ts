import * as Schema from "effect/Schema"

/** Whether the text can be an id of anything: the database refuses any other where it looks for one. */
export const isId = Schema.is(Schema.UUID)

/** Of a person. */
export const UserId = Schema.UUID.pipe(Schema.brand("UserId"))
export type UserId = typeof UserId.Type
/** Of an account, whose balance pays. */
export const AccountId = Schema.UUID.pipe(Schema.brand("AccountId"))
export type AccountId = typeof AccountId.Type
/** Of a project. */
export const ProjectId = Schema.UUID.pipe(Schema.brand("ProjectId"))
export type ProjectId = typeof ProjectId.Type
/** Of an API key, not its secret. */
export const KeyId = Schema.UUID.pipe(Schema.brand("KeyId"))
export type KeyId = typeof KeyId.Type
/** One per request, a UUID v7: the id of the call and of its hold, and the client's `x-request-id`. */
export const RequestId = Schema.UUID.pipe(Schema.brand("RequestId"))
export type RequestId = typeof RequestId.Type
/** Of a session of a person. */
export const SessionId = Schema.UUID.pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type
export const PaymentId = Schema.UUID.pipe(Schema.brand("PaymentId"))
export type PaymentId = typeof PaymentId.Type
/** Of a credential that a project has brought. */
export const CredentialId = Schema.UUID.pipe(Schema.brand("CredentialId"))
export type CredentialId = typeof CredentialId.Type
/** Of a conversation of a person with models. */
export const ConversationId = Schema.UUID.pipe(Schema.brand("ConversationId"))
export type ConversationId = typeof ConversationId.Type
/** Of a message of a conversation. */
export const MessageId = Schema.UUID.pipe(Schema.brand("MessageId"))
export type MessageId = typeof MessageId.Type
