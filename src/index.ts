/**
 * The gateway as a library. A program needs `Gateway`, a `Caller`, and the Layers below: providers, policy, ledger.
 */

export { Accounts, type AccountsShape, type NewAccount } from "./account/accounts/Accounts.ts"
export { Activity, type ActivityShape } from "./account/activity/Activity.ts"
export { Billing, type BillingShape } from "./account/billing/Billing.ts"
export { type KeyPatch, Keys, type KeysShape, type KeyWithSecret, type NewKey } from "./account/keys/Keys.ts"
export { ProjectPolicies, type ProjectPoliciesShape } from "./account/policy/ProjectPolicies.ts"
export { type Project, type ProjectPatch, Projects, type ProjectsShape } from "./account/projects/Projects.ts"
export { RequestLog, type RequestLogShape } from "./account/requests/RequestLog.ts"
export { ProjectRoutings, type ProjectRoutingsShape } from "./account/routing/ProjectRoutings.ts"
export { Catalog, type CatalogShape, type Snapshot } from "./catalog/Catalog.ts"
export { MasterKeyFailed, type MasterKeyOptions } from "./credentials/MasterKey.ts"
export {
  type AccountError,
  AlreadyExists,
  ConversationRunning,
  CredentialRequired,
  IdempotencyKeyInProgress,
  IssuerUnavailable,
  ManagedByConfiguration,
  NotFound,
  OperatorRequired,
  PaymentsNotConfigured,
  ProjectNotEmpty,
  RoleRequired,
  SealingUnavailable,
  VersionMismatch
} from "./domain/AccountError.ts"
export {
  Attempt,
  CallError,
  type CallRecord,
  CallStatus,
  CandidatePool,
  Cost,
  CostBasis,
  type RoutingReason
} from "./domain/Call.ts"
export { Caller, type CallerShape } from "./domain/Caller.ts"
export {
  type CallObserver,
  CallObservers,
  type EndedAttempt,
  type FailedAttempt,
  type NextStep,
  type ObservedCall
} from "./domain/CallObserver.ts"
export type { Candidate } from "./domain/Candidate.ts"
export type { ChatRequest, Message, Restriction, RoutingControls, RoutingRestrictions, Tool } from "./domain/Chat.ts"
export { type ChatEvent, finishEvent, textEvent, usageEvent } from "./domain/ChatEvent.ts"
export type { Answer } from "./domain/Completion.ts"
export { CurrentUser, type CurrentUserShape } from "./domain/CurrentUser.ts"
export {
  type CallFailure,
  InsufficientFunds,
  InvalidRequest,
  ModelNotFound,
  NoEligibleModel,
  ProvidersFailed,
  RateLimited,
  RoutingConfigNotFound,
  ServiceRefused,
  StoreUnavailable,
  Unauthenticated
} from "./domain/GatewayError.ts"
export { IdGenerator } from "./domain/IdGenerator.ts"
export { AccountId, KeyId, ProjectId, RequestId } from "./domain/Ids.ts"
export type { Model } from "./domain/Model.ts"
export { MicroUsd, microUsd } from "./domain/Money.ts"
export type { PriceList, Prices, PriceTerms, PriceTier, Rates } from "./domain/Prices.ts"
export { ProviderError, type ProviderFailure } from "./domain/ProviderError.ts"
export type { ResponseStart } from "./domain/ResponseStart.ts"
export { RouterMetadata } from "./domain/RouterMetadata.ts"
export { Timers } from "./domain/Timers.ts"
export type { Usage } from "./domain/Usage.ts"
export {
  CallRunner,
  type CallRunnerShape,
  type Completion,
  defaultOptions,
  type GatewayOptions
} from "./gateway/CallRunner.ts"
export type { Deadlines } from "./gateway/Deadlines.ts"
export {
  type Decision,
  delayBeforeRetry,
  Exhausted,
  type Failed,
  type First,
  fallBackTo,
  firstOf
} from "./gateway/Fallback.ts"
export { Gateway, type GatewayShape } from "./gateway/Gateway.ts"
export type { Sink } from "./gateway/Relay.ts"
export { type Completed, StreamBroken, type StreamedAnswer } from "./gateway/StreamView.ts"
export { AccountApi } from "./http/account/AccountApi.ts"
export {
  type AccountClient,
  type AccountClientOptions,
  make as accountClient
} from "./http/account/AccountClient.ts"
export { type HttpError, of as httpErrorOf } from "./http/Errors.ts"
export {
  type HttpHandlers,
  HttpRoutesLayer,
  type HttpRoutesOptions,
  makeHttpHandlers
} from "./http/routes/HttpRoutesLayer.ts"
export type { RouteHandler } from "./http/routes/InferenceApp.ts"
export { ApiKeys, type ApiKeysShape } from "./identity/keys/ApiKeys.ts"
export { type Balance, type Hold, Ledger, LedgerLayer, type LedgerShape, type Settlement } from "./ledger/Ledger.ts"
export { Scopes } from "./ledger/Scopes.ts"
export { AccountLayer, type AccountOptions, type AccountServices } from "./library/AccountLayer.ts"
export { ProductionLayer, type ProductionOptions, type ProductionServices } from "./library/ProductionLayer.ts"
export { SimpleLayer, type SimpleOptions } from "./library/SimpleLayer.ts"
export { type EffectivePolicy, intersectPolicies } from "./policy/EffectivePolicy.ts"
export { Policy, type ProjectPolicy, type RoutingConfiguration } from "./policy/Policy.ts"
export { PolicyLayer, type PolicyOptions } from "./policy/PolicyLayer.ts"
export { RateLimits } from "./policy/RateLimits.ts"
export { RoutingConfigurations } from "./policy/RoutingConfigurations.ts"
export { type ModelOptions, makeModel } from "./provider/MakeModel.ts"
export type { Provider, ProviderCall, Receiver, Upstream } from "./provider/Provider.ts"
export {
  type InProcessProvider,
  type OwnProvider,
  ProviderLayer,
  type ProviderOptions
} from "./provider/ProviderLayer.ts"
export { Providers } from "./provider/Providers.ts"
export { make as makeProvider } from "./provider/StreamProvider.ts"
export { Health } from "./routing/Health.ts"
export { RetryBudget } from "./routing/RetryBudget.ts"
export {
  type DatabaseError,
  DatabaseLayer,
  type DatabaseLayerOptions,
  type DatabaseServices,
  type EmbeddedOptions,
  type PostgresOptions
} from "./sql/DatabaseLayer.ts"
export { chatCompletion as encodeChatCompletion } from "./wire/chat/ChatAnswer.ts"
export { decode as decodeChatRequest, make as makeRequest } from "./wire/chat/ChatRequest.ts"
export { ChatCompletionRequest } from "./wire/chat/ChatRequestSchema.ts"
export { errorBody, type WireError } from "./wire/ErrorBody.ts"
