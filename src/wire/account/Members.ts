import * as Schema from "effect/Schema"
import { UserId } from "../../domain/Ids.ts"
import { pageOf } from "./Page.ts"
import { ProjectRole } from "./Projects.ts"
import { sentId } from "./SentId.ts"
import { strict } from "./Strict.ts"
import { timestamp } from "./Times.ts"

export const CreateMemberRequest = strict({
  user_id: sentId(UserId, "Id of the person, as `GET /api/me` shows it to them."),
  role: ProjectRole
}).annotations({ identifier: "CreateMemberRequest" })

export const MemberOut = Schema.Struct({
  user_id: UserId.annotations({ description: "Id of the person." }),
  name: Schema.String.annotations({ description: "Name of the person." }),
  role: ProjectRole,
  is_account_owner: Schema.Boolean.annotations({
    description: "Whether the project's account is theirs: they always are an owner of the project."
  }),
  created_at: timestamp("When the person became a member.")
}).annotations({ identifier: "MemberOut" })
export type MemberOut = typeof MemberOut.Type

export const MembersPage = pageOf("MembersPage", MemberOut)
