import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { AuditStore, type ListedAuditRow } from "../../../audit/AuditStore.ts"
import { CurrentUser } from "../../../domain/CurrentUser.ts"
import { dateAt } from "../../../domain/Dates.ts"
import type { AuditRowOut } from "../../../wire/account/Audit.ts"
import { AccountApi } from "../AccountApi.ts"
import { type LargeItems, pageOfLarge } from "../Paging.ts"

export const auditHandlers = HttpApiBuilder.group(AccountApi, "audit", (handlers) =>
  Effect.map(AuditStore, (store) =>
    handlers.handle("listAuditRows", ({ urlParams }) =>
      Effect.flatMap(CurrentUser, ({ accountId }) =>
        pageOfLarge(
          "audit",
          urlParams,
          (id) => id,
          (max, before) => store.list(accountId, max, before),
          outOf,
          largeRows
        )
      )
    )
  )
)

/** A change of a policy has both policies. */
const largeRows: LargeItems<ListedAuditRow> = {
  atOnce: 4,
  charactersOf: ({ after, before }) => (after?.length ?? 0) + (before?.length ?? 0)
}

/** `Audit` writes objects only. */
const stateOf = Schema.decodeSync(Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown })))

const outOf = (row: ListedAuditRow): AuditRowOut => ({
  id: row.id,
  position: row.position,
  at: dateAt(row.atMillis),
  actor_user_id: row.actorUserId,
  actor_name: row.actorName,
  address: row.address,
  request_id: row.requestId,
  action: row.action,
  target_kind: row.targetKind,
  target_id: row.targetId,
  before: row.before === null ? null : stateOf(row.before),
  after: row.after === null ? null : stateOf(row.after),
  hash: Buffer.from(row.hash).toString("hex")
})
