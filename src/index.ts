/**
 * The gateway as a library. A program needs `Gateway`, a `Caller`, and the Layers below: providers, policy, ledger.
 */
export { Catalog, type CatalogShape, type Snapshot } from "./catalog/Catalog.ts"
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
export type { Candidate } from "./domain/Candidate.ts"
export type { ChatRequest, Message, Restriction, RoutingControls, Tool } from "./domain/Chat.ts"
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
  StoreUnavailable
} from "./domain/GatewayError.ts"
export { AccountId, Ids, KeyId, ProjectId, RequestId } from "./domain/Ids.ts"
export type { Model } from "./domain/Model.ts"
export { MicroUsd, microUsd, type Prices } from "./domain/Money.ts"
export { ProviderError, type ProviderFailure } from "./domain/ProviderError.ts"
export { RouterMetadata } from "./domain/RouterMetadata.ts"
export { Timers } from "./domain/Timers.ts"
export type { Usage } from "./domain/Usage.ts"
export type { Deadlines } from "./gateway/Deadlines.ts"
export { Exhausted, type Failed, type First, firstOf } from "./gateway/Fallback.ts"
export { type Completion, defaultOptions, Gateway, type GatewayOptions, type GatewayShape } from "./gateway/Gateway.ts"
export { type OwnProvider, ProviderLayer, type ProviderOptions } from "./gateway/ProviderLayer.ts"
export type { AnswerStart, Sink } from "./gateway/Relay.ts"
export { type Completed, StreamBroken, type StreamedAnswer } from "./gateway/StreamView.ts"
export { type Balance, type Hold, Ledger, LedgerLayer, type LedgerShape, type Settlement } from "./ledger/Ledger.ts"
export { Scopes } from "./ledger/Scopes.ts"
export { type Allowed, narrow } from "./policy/Narrow.ts"
export { type Limits, Policy, PolicyLayer, type ProjectPolicy, type RoutingConfiguration } from "./policy/Policy.ts"
export { RateLimits } from "./policy/RateLimits.ts"
export type { Provider, ProviderCall, Receiver, Upstream } from "./provider/Provider.ts"
export { Providers } from "./provider/Providers.ts"
export { make as providerFromStream } from "./provider/StreamProvider.ts"
export { Configurations } from "./routing/Configurations.ts"
export { Health } from "./routing/Health.ts"
export { RetryBudget } from "./routing/RetryBudget.ts"
export { layer as databaseLayer } from "./sql/Database.ts"
export { decode as decodeChatRequest } from "./wire/ChatRequest.ts"
export { ChatCompletionRequest } from "./wire/ChatRequestSchema.ts"
