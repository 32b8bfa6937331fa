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
  /** How their session was presented; `bearer` for a program. */
  readonly transport: "cookie" | "bearer"
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
