import * as Schema from "effect/Schema"
import { UserId } from "../../domain/Ids.ts"
import { pageOf } from "./Page.ts"
import { ProjectRole } from "./Projects.ts"
import { sentId } from "./SentId.ts"
import { strict } from "./Strict.ts"
import { timestamp } from "./Times.ts"

export const CreateMemberRequest = strict({
  user_id: sentId(UserId, "Id of the user, as `GET /api/me` returns it to them."),
  role: ProjectRole
}).annotations({ identifier: "CreateMemberRequest" })

export const MemberOut = Schema.Struct({
  user_id: UserId.annotations({ description: "Id of the user." }),
  name: Schema.String.annotations({ description: "Name of the user." }),
  role: ProjectRole,
  is_account_owner: Schema.Boolean.annotations({
    description: "Whether the user owns the project's account; such a user is always an owner of the project."
  }),
  created_at: timestamp("When the user became a member.")
}).annotations({ identifier: "MemberOut" })
export type MemberOut = typeof MemberOut.Type

export const MembersPage = pageOf("MembersPage", MemberOut)
