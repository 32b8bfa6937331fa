import * as Schema from "effect/Schema"
import { RequestId, UserId } from "../../domain/Ids.ts"
import { pageOf } from "./Page.ts"
import { timestamp } from "./Times.ts"

/** A state of what was changed: an object without secrets. */
const State = Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.Unknown }))

export const AuditRowOut = Schema.Struct({
  id: Schema.UUID.annotations({ description: "Id of the row." }),
  position: Schema.Int.annotations({ description: "Position in the account's log, from 1, without gaps." }),
  at: timestamp("When the change was made."),
  actor_user_id: Schema.NullOr(UserId).annotations({
    description:
      "The user who made the change; null for changes that the gateway makes by itself, as are the next three fields."
  }),
  actor_name: Schema.NullOr(Schema.String).annotations({ description: "Name of that user today." }),
  address: Schema.NullOr(Schema.String).annotations({ description: "Client address of the request." }),
  request_id: Schema.NullOr(RequestId).annotations({ description: "`x-request-id` of the request." }),
  action: Schema.String.annotations({ description: "The action, such as `project.create`." }),
  target_kind: Schema.String.annotations({ description: "Kind of the changed object, such as `project`." }),
  target_id: Schema.String.annotations({ description: "Id of the changed object." }),
  before: State.annotations({
    description: "State before the change, without secrets; null where there was none."
  }),
  after: State.annotations({ description: "State after the change, without secrets; null where there is none." }),
  hash: Schema.String.annotations({ description: "SHA-256 of this row and the hash of the previous row, in hex." })
}).annotations({ identifier: "AuditRowOut" })
export type AuditRowOut = typeof AuditRowOut.Type

export const AuditPage = pageOf("AuditPage", AuditRowOut)
