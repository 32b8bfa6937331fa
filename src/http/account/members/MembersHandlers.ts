import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { AccountIdempotency } from "../../../account/idempotency/AccountIdempotency.ts"
import { Members } from "../../../account/members/Members.ts"
import type { Member } from "../../../identity/projects/MemberStore.ts"
import { ProjectAccess } from "../../../identity/projects/ProjectAccess.ts"
import { MemberOut } from "../../../wire/account/Members.ts"
import { AccountApi } from "../AccountApi.ts"
import { idempotent } from "../Idempotent.ts"
import { page } from "../Paging.ts"

export const membersHandlers = HttpApiBuilder.group(AccountApi, "members", (handlers) =>
  Effect.gen(function* () {
    const members = yield* Members
    const idempotency = yield* AccountIdempotency
    const access = yield* ProjectAccess

    return handlers
      .handle("listMembers", ({ path, urlParams }) =>
        page(
          "members",
          urlParams,
          (id) => id,
          (max, before) => members.list(path.id, max, before),
          outOf
        )
      )
      .handle("addMember", ({ headers, path, payload }) =>
        idempotent(
          idempotency,
          headers["idempotency-key"],
          {
            body: payload,
            schema: MemberOut,
            mayReplay: access.require(path.id, "owner")
          },
          Effect.map(members.add(path.id, payload.user_id, payload.role), outOf)
        )
      )
      .handle("removeMember", ({ path, urlParams }) => members.remove(path.id, urlParams.user_id))
  })
)

const outOf = (member: Member): MemberOut => ({
  user_id: member.userId,
  name: member.name,
  role: member.role,
  is_account_owner: member.isAccountOwner,
  created_at: member.createdAt
})
