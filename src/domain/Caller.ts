import * as Context from "effect/Context"
import type { AccountId, KeyId, ProjectId } from "./Ids.ts"

export interface CallerShape {
  readonly keyId: KeyId
  readonly projectId: ProjectId
  readonly accountId: AccountId
  /** `byok`: the project pays its providers itself, so calls never draw on the account's balance. */
  readonly billingMode: "managed" | "byok"
}

/**
 * On whose behalf a call runs: the project key's owner, once it has been authenticated.
 *
 * @effect-leakable-service
 */
export class Caller extends Context.Tag("gateway/domain/Caller")<Caller, CallerShape>() {}
