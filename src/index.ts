/**
 * The gateway as a library. A program needs `Gateway`, a `Caller`, and the Layers below: providers, policy, ledger.
 */
export { Catalog, type CatalogShape, type Snapshot } from "./catalog/Catalog.ts"
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
export type { ChatEvent } from "./domain/ChatEvent.ts"
export type { Answer } from "./domain/Completion.ts"
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
export { type Completion, defaultOptions, type GatewayOptions } from "./gateway/CallRunner.ts"
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
export { type Balance, type Hold, Ledger, LedgerLayer, type LedgerShape, type Settlement } from "./ledger/Ledger.ts"
export { Scopes } from "./ledger/Scopes.ts"
export { type EffectivePolicy, intersectPolicies } from "./policy/EffectivePolicy.ts"
export { Policy, type ProjectPolicy, type RoutingConfiguration } from "./policy/Policy.ts"
export { PolicyLayer, type PolicyOptions } from "./policy/PolicyLayer.ts"
export { RateLimits } from "./policy/RateLimits.ts"
export { RoutingConfigurations } from "./policy/RoutingConfigurations.ts"
export type { Provider, ProviderCall, Receiver, Upstream } from "./provider/Provider.ts"
export { type OwnProvider, ProviderLayer, type ProviderOptions } from "./provider/ProviderLayer.ts"
export { Providers } from "./provider/Providers.ts"
export { make as providerFromStream } from "./provider/StreamProvider.ts"
export { Health } from "./routing/Health.ts"
export { RetryBudget } from "./routing/RetryBudget.ts"
export { layer as databaseLayer } from "./sql/Database.ts"
export { decode as decodeChatRequest } from "./wire/chat/ChatRequest.ts"
export { ChatCompletionRequest } from "./wire/chat/ChatRequestSchema.ts"
