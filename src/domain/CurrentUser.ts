import * as Context from "effect/Context"
import type { AccountId, RequestId, SessionId, UserId } from "./Ids.ts"

export interface CurrentUserShape {
  readonly userId: UserId
  /** The account that this person owns. */
  readonly accountId: AccountId
  readonly isOperator: boolean
  /** `null` where the token is of the identity provider. */
  readonly sessionId: SessionId | null
  /** command: the operator of the first start, by a proof that the sender has the master key; no person is named in the audit log. */
  readonly transport: "cookie" | "bearer" | "command"
  /** Of the request, for the audit log. */
  readonly address: string
  readonly requestId: RequestId
}

/**
 * The person who sent a request to the account API.
 *
 * @effect-leakable-service
 */
export class CurrentUser extends Context.Tag("gateway/domain/CurrentUser")<CurrentUser, CurrentUserShape>() {}
