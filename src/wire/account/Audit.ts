import * as Schema from "effect/Schema"
import { RequestId, UserId } from "../../domain/Ids.ts"
import { pageOf } from "./Page.ts"
import { timestamp } from "./Times.ts"

/** A state of what was changed: an object without secrets. */
const State = Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.Unknown }))

export const AuditRowOut = Schema.Struct({
  id: Schema.UUID.annotations({ description: "Id of the row." }),
  position: Schema.Int.annotations({ description: "Place in the account's log: 1, 2, 3 and so on, without gaps." }),
  at: timestamp("When it was changed."),
  actor_user_id: Schema.NullOr(UserId).annotations({
    description: "Who changed it; null for what the gateway does by itself, as for the next two fields."
  }),
  address: Schema.NullOr(Schema.String).annotations({ description: "Address from which the request came." }),
  request_id: Schema.NullOr(RequestId).annotations({ description: "`x-request-id` of the request." }),
  action: Schema.String.annotations({ description: "What was done, such as `project.create`." }),
  target_kind: Schema.String.annotations({ description: "Kind of what was changed, such as `project`." }),
  target_id: Schema.String.annotations({ description: "Id of what was changed." }),
  before: State.annotations({
    description: "What the change replaced, without secrets; null where there was nothing."
  }),
  after: State.annotations({ description: "What the change made, without secrets; null where there is nothing." }),
  hash: Schema.String.annotations({ description: "SHA-256 of this row and the hash of the one before it, in hex." })
}).annotations({ identifier: "AuditRowOut" })
export type AuditRowOut = typeof AuditRowOut.Type

export const AuditPage = pageOf("AuditPage", AuditRowOut)
