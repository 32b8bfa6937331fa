import * as Layer from "effect/Layer"
import { Accounts } from "../account/accounts/Accounts.ts"
import { Activity, summingUp } from "../account/activity/Activity.ts"
import { ActivityStore } from "../account/activity/ActivityStore.ts"
import { AlertStore } from "../account/alerts/AlertStore.ts"
import { BalanceStore } from "../account/billing/BalanceStore.ts"
import { Billing } from "../account/billing/Billing.ts"
import { Keys } from "../account/keys/Keys.ts"
import { ProjectKeyStore } from "../account/keys/ProjectKeyStore.ts"
import { ProjectPolicies } from "../account/policy/ProjectPolicies.ts"
import { ProjectAnalysesStore } from "../account/projects/ProjectAnalysesStore.ts"
import { ProjectConversationsStore } from "../account/projects/ProjectConversationsStore.ts"
import { Projects } from "../account/projects/Projects.ts"
import { RequestLog } from "../account/requests/RequestLog.ts"
import { RequestLogStore } from "../account/requests/RequestLogStore.ts"
import * as Retention from "../account/retention/Retention.ts"
import { RetentionStore } from "../account/retention/RetentionStore.ts"
import { ProjectRoutings } from "../account/routing/ProjectRoutings.ts"
import { RoutingVersionStore } from "../account/routing/RoutingVersionStore.ts"
import { Audit } from "../audit/Audit.ts"
import { AuditStore } from "../audit/AuditStore.ts"
import { CaptureStore } from "../capture/CaptureStore.ts"
import type { Catalog } from "../catalog/Catalog.ts"
import { CredentialStore } from "../credentials/CredentialStore.ts"
import { defaultCallDays } from "../domain/DefaultOptions.ts"
import type { IdGenerator } from "../domain/IdGenerator.ts"
import type { ConfigIssue, InvalidConfiguration } from "../domain/InvalidConfiguration.ts"
import { callDaysBounds, issuesOfNumberOrNull, layerIfValid } from "../domain/OptionIssues.ts"
import type { Timers } from "../domain/Timers.ts"
import { ApiKeyStore } from "../identity/keys/ApiKeyStore.ts"
import { ApiKeys } from "../identity/keys/ApiKeys.ts"
import { AccountStore } from "../identity/projects/AccountStore.ts"
import { ProjectAccess } from "../identity/projects/ProjectAccess.ts"
import { ProjectAccessStore } from "../identity/projects/ProjectAccessStore.ts"
import { ProjectStore } from "../identity/projects/ProjectStore.ts"
import { UserStore } from "../identity/users/UserStore.ts"
import type { Scopes } from "../ledger/Scopes.ts"
import { SpendLimitStore } from "../ledger/SpendLimitStore.ts"
import { issuesOfPolicyOptions } from "../policy/PolicyLayer.ts"
import { PolicyStore } from "../policy/PolicyStore.ts"
import { noRateLimits, type RateLimitOptions } from "../policy/RateLimits.ts"
import { RoutingConfigurationStore } from "../policy/RoutingConfigurationStore.ts"
import type { RoutingConfigurations } from "../policy/RoutingConfigurations.ts"
import { AccountTransactions } from "../sql/AccountDatabase.ts"
import type { DatabaseServices } from "../sql/DatabaseLayer.ts"

/** What the programs of accounts are configured by. */
export interface AccountOptions {
  /** The limits that `PolicyLayer` has for all keys and projects: own ones may only be lower; default none. */
  readonly rateLimits?: RateLimitOptions
  /** Calls are deleted so many days after they ended, 2 to 36,500, their sums stay; `null` keeps them; default 90. */
  readonly callDays?: number | null
}

/** The programs behind the account API, and authentication by API keys. */
export type AccountServices =
  | Accounts
  | Activity
  | ApiKeys
  | Billing
  | Keys
  | ProjectPolicies
  | ProjectRoutings
  | Projects
  | RequestLog

type AccountNeeds = Catalog | DatabaseServices | IdGenerator | RoutingConfigurations | Scopes | Timers

/**
 * People, projects, keys, policies, credit and what was called, on the database; every change is in the audit log. Fails with
 * `InvalidConfiguration` where a rate limit or `callDays` is out of bounds.
 */
export const AccountLayer = (
  options: AccountOptions = {}
): Layer.Layer<AccountServices, InvalidConfiguration, AccountNeeds> =>
  layerIfValid(
    () => issuesOfAccountOptions(options),
    () => accountLayer(options)
  )

/** What is wrong with the options. */
export const issuesOfAccountOptions = ({
  callDays = defaultCallDays,
  ...policy
}: AccountOptions): ReadonlyArray<ConfigIssue> => [
  ...issuesOfPolicyOptions(policy),
  ...issuesOfNumberOrNull(callDays, callDaysBounds, "callDays")
]

const accountLayer = ({
  callDays = defaultCallDays,
  rateLimits = noRateLimits
}: AccountOptions): Layer.Layer<AccountServices, never, AccountNeeds> => {
  const stores = Layer.mergeAll(
    AccountStore.layer,
    ActivityStore.layer(),
    AlertStore.layer,
    ApiKeyStore.layer,
    AuditStore.layer,
    BalanceStore.layer,
    CaptureStore.layer,
    CredentialStore.layer,
    PolicyStore.layer,
    ProjectAccessStore.layer,
    ProjectAnalysesStore.layer,
    ProjectConversationsStore.layer,
    ProjectKeyStore.layer,
    ProjectStore.layer,
    RequestLogStore.layer(),
    RetentionStore.layer,
    RoutingConfigurationStore.layer,
    RoutingVersionStore.layer,
    SpendLimitStore.layer,
    UserStore.layer
  ).pipe(Layer.provideMerge(AccountTransactions.layer))
  return Layer.mergeAll(
    Accounts.layer,
    Activity.layer,
    ApiKeys.layer,
    Billing.layer,
    Keys.layer(rateLimits.key),
    ProjectPolicies.layer,
    ProjectRoutings.layer,
    Projects.layer(rateLimits.project),
    RequestLog.layer,
    Retention.layer(() => callDays),
    summingUp
  ).pipe(Layer.provide(Layer.mergeAll(Audit.layer, ProjectAccess.layer)), Layer.provide(stores))
}
