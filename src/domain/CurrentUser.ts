import * as Context from "effect/Context"
import type { AccountId, RequestId, SessionId, UserId } from "./Ids.ts"

/** A person, as the programs of accounts know them. */
export interface CurrentUserShape {
  /** Of the person. */
  readonly userId: UserId
  /** The account that this person owns. */
  readonly accountId: AccountId
  /** May give credit and see every project. */
  readonly isOperator: boolean
  /** `null` where the token is of the identity provider. */
  readonly sessionId: SessionId | null
  /**
   * How their session was presented; `bearer` for a program. `command`: the operator of the first start, by a proof that the
   * sender has the master key; the audit log then names no person.
   */
  readonly transport: "cookie" | "bearer" | "command"
  /** Of the request, for the audit log. */
  readonly address: string
  /** Of the request, for the audit log. */
  readonly requestId: RequestId
}

/**
 * The person who sent a request to the account API.
 *
 * @effect-leakable-service
 */
export class CurrentUser extends Context.Tag("gateway/domain/CurrentUser")<CurrentUser, CurrentUserShape>() {}
