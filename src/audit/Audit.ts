import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CurrentUser, type CurrentUserShape } from "../domain/CurrentUser.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import type { AccountId } from "../domain/Ids.ts"
import { AuditStore } from "./AuditStore.ts"

/** A change, as its author describes it. */
export interface AuditedChange {
  /** Whose log the change belongs to: the owner of what was changed. */
  readonly accountId: AccountId
  /** Such as `project.create`. */
  readonly action: string
  readonly target: { readonly kind: string; readonly id: string }
  /** What the change replaced and what it made, as JSON values without secrets; `null` where there was, or is, nothing. */
  readonly before: object | null
  readonly after: object | null
}

/** Whoever makes a change. A command has an address and a request, and no person. */
export type Actor = Pick<CurrentUserShape, "userId" | "address" | "requestId"> &
  Partial<Pick<CurrentUserShape, "transport">>

/** To be used in the transaction of the change itself. */
export interface AuditShape {
  /** A change that the current user makes. */
  readonly record: (change: AuditedChange) => Effect.Effect<void, StoreUnavailable, CurrentUser>
  /** The same by another user; `null` for what the gateway does by itself. */
  readonly recordBy: (actor: Actor | null, change: AuditedChange) => Effect.Effect<void, StoreUnavailable>
}

/** The log of all changes that are made through the account API, one chain of hashes for each account. */
export class Audit extends Context.Tag("gateway/audit/Audit")<Audit, AuditShape>() {
  static readonly layer: Layer.Layer<Audit, never, AuditStore | IdGenerator> = Layer.effect(
    this,
    Effect.gen(function* () {
      const store = yield* AuditStore
      const ids = yield* IdGenerator
      const recordBy: AuditShape["recordBy"] = (actor, { accountId, action, after, before, target }) =>
        Effect.flatMap(Clock.currentTimeMillis, (atMillis) =>
          store.append({
            id: ids.uuid(),
            accountId,
            atMillis,
            actorUserId: actor === null || actor.transport === "command" ? null : actor.userId,
            address: actor?.address ?? null,
            requestId: actor?.requestId ?? null,
            action,
            targetKind: target.kind,
            targetId: target.id,
            before: before === null ? null : JSON.stringify(before),
            after: after === null ? null : JSON.stringify(after)
          })
        )
      return { recordBy, record: (change) => Effect.flatMap(CurrentUser, (actor) => recordBy(actor, change)) }
    })
  )
}
