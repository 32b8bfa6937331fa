import * as Context from "effect/Context"
import type { AccountId, KeyId, ProjectId } from "./Ids.ts"
import type { RateLimit } from "./RateLimitStatus.ts"

/**
 * Who a call runs for: the ids that its money is held and settled by. They are those of a stored key, as `ApiKeys` returns them;
 * the hold of an unknown id ends with a defect.
 */
export interface CallerShape {
  /** Its spend limit counts the call. */
  readonly keyId: KeyId
  /** Its policy and spend limit apply. */
  readonly projectId: ProjectId
  /** Its balance pays, unless the project is `byok`. */
  readonly accountId: AccountId
  /** `byok`: the project pays its providers itself, so calls are not charged to the account's balance. */
  readonly billingMode: "managed" | "byok"
  /** Of this key and this project, in place of those that the configuration has for all; `null`: those. */
  readonly rateLimits?: { readonly key: RateLimit | null; readonly project: RateLimit | null }
}

/** The project whose rules a request is routed by, and who pays its providers. */
export type RoutedProject = Pick<CallerShape, "projectId" | "billingMode">

/**
 * The authenticated owner of the project key that a call runs for.
 *
 * @effect-leakable-service
 */
export class Caller extends Context.Tag("gateway/domain/Caller")<Caller, CallerShape>() {}
