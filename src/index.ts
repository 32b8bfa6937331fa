/**
 * The gateway as a library: `SimpleLayer` for a first program, `ProductionLayer` for the stack of the service, and their parts.
 *
 * A Layer of one service is a member of its class: `layer` with the defaults, `layerWith` with options, `layerMemory` and the like
 * for a variant. A Layer of several services is a function that ends in `Layer`: `ProviderLayer`, `PolicyLayer`, `LedgerLayer`,
 * `DatabaseLayer`, `AccountLayer`, `IdempotencyLayer`, `ProductionLayer`, `SimpleLayer`, `HttpRoutesLayer`. What makes a value begins with `make`.
 */

// Layers of whole programs

export { AccountLayer, type AccountOptions, type AccountServices } from "./library/AccountLayer.ts"
export { IdempotencyLayer } from "./library/IdempotencyLayer.ts"
export { ProductionLayer, type ProductionOptions, type ProductionServices } from "./library/ProductionLayer.ts"
export { SimpleLayer, type SimpleOptions } from "./library/SimpleLayer.ts"

// Calls

export {
  Attempt,
  type AttemptUse,
  type Baseline,
  CallError,
  type CallOrigin,
  type CallRecord,
  CallStatus,
  CandidatePool,
  Cost,
  CostBasis,
  type Endpoint,
  type FailedUsage,
  type RoutingReason
} from "./domain/Call.ts"
export { Caller, type CallerShape } from "./domain/Caller.ts"
export type { ResponseStart } from "./domain/ResponseStart.ts"
export { RouterMetadata, type SkippedCandidate } from "./domain/RouterMetadata.ts"
export type { CallerModels, CallOptions } from "./gateway/Admission.ts"
export type { Completion } from "./gateway/CallProgram.ts"
export type { TokenCount } from "./gateway/CallRunner.ts"
export type { Deadlines } from "./gateway/Deadlines.ts"
export { Gateway, type GatewayNeeds, type GatewayShape } from "./gateway/Gateway.ts"
export { defaultOptions, type GatewayOptions } from "./gateway/GatewayOptions.ts"
export type { Sink } from "./gateway/Relay.ts"
export type { RoutingFailure } from "./gateway/RequestRouting.ts"
export { type Completed, StreamBroken, type StreamedAnswer } from "./gateway/StreamView.ts"

// Requests and responses

export type {
  AssistantMessage,
  AudioPart,
  BlockKind,
  CacheControl,
  ChatRequest,
  Effort,
  FilePart,
  ImagePart,
  JsonObject,
  Message,
  ReasoningDetail,
  ReasoningOptions,
  RefusalPart,
  Restriction,
  RoutingControls,
  RoutingRestrictions,
  SystemMessage,
  TextPart,
  Tool,
  ToolCall,
  ToolChoice,
  ToolMessage,
  ToolResultPart,
  UserMessage,
  UserPart
} from "./domain/Chat.ts"
export {
  type Annotation,
  type AudioDelta,
  type ChatEvent,
  type Finish,
  type FinishReason,
  finishEvent,
  type ReasoningDelta,
  type RefusalDelta,
  type ResponseInfo,
  type TextDelta,
  type ToolCallDelta,
  textEvent,
  type UsageReport,
  usageEvent
} from "./domain/ChatEvent.ts"
export type { Answer, AnswerBlock, AnswerToolCall, ReasoningBlock } from "./domain/Completion.ts"
export type { StringLiteral, StringLiterals } from "./domain/StringLiterals.ts"
export type { Usage, UsageDetails } from "./domain/Usage.ts"
export { chatCompletion as encodeChatCompletion } from "./wire/chat/ChatAnswer.ts"
export { decode as decodeChatRequest, make as makeRequest } from "./wire/chat/ChatRequest.ts"
export { ChatCompletionRequest } from "./wire/chat/ChatRequestSchema.ts"

// Errors of calls

export {
  type CallFailure,
  type GatewayError,
  InsufficientFunds,
  type InvalidCode,
  InvalidRequest,
  ModelNotFound,
  NoEligibleModel,
  ProvidersFailed,
  RateLimited,
  RoutingConfigNotFound,
  ServiceRefused,
  StoreUnavailable,
  Unauthenticated,
  UnknownPath
} from "./domain/GatewayError.ts"
export { errorBody as encodeError, type WireError } from "./wire/ErrorBody.ts"

// Fallback, for programs of their own

export {
  type Decision,
  delayBeforeRetry,
  Exhausted,
  type Failed,
  type First,
  fallBackTo,
  firstOf
} from "./gateway/Fallback.ts"

// Providers and models

export { Catalog, type CatalogShape, type Snapshot, type UnavailableModel } from "./catalog/Catalog.ts"
export type { ConfiguredModel, ModelPatch, ServiceTierPatch, TierPatch } from "./catalog/Patch.ts"
export { type ConfigIssue, InvalidConfiguration } from "./domain/InvalidConfiguration.ts"
export type { Capability, Model, Profile, PromptCache, QualityEvidence, Reasoning } from "./domain/Model.ts"
export type { ParameterRules } from "./domain/ParameterRules.ts"
export type { PriceList, Prices, PriceTerms, PriceTier, Rates } from "./domain/Prices.ts"
export type { ProviderCredential } from "./domain/ProviderCredential.ts"
export {
  type FailureFacts,
  type Fault,
  type HealthEffect,
  ProviderError,
  type ProviderFailure,
  type SocketShortage
} from "./domain/ProviderError.ts"
export type {
  Parameter,
  ProtocolId,
  ShapingParameter,
  Support,
  SupportTable,
  TuningParameter
} from "./domain/Support.ts"
export type { ProxyOptions } from "./egress/Proxy.ts"
export { type ModelOptions, makeModel } from "./provider/MakeModel.ts"
export type { Provider, ProviderCall, Receiver, Upstream } from "./provider/Provider.ts"
export {
  type InProcessProvider,
  type OwnProvider,
  ProviderLayer,
  type ProviderOptions
} from "./provider/ProviderLayer.ts"
export {
  ProviderReplacement,
  type ProviderReplacementShape,
  type ReplaceableProviders
} from "./provider/ProviderReplacement.ts"
export { Providers, type ProvidersShape } from "./provider/Providers.ts"
export type { Probed } from "./provider/probe/Probe.ts"
export type { CredentialedProvider } from "./provider/Registry.ts"
export { make as makeProvider } from "./provider/StreamProvider.ts"
export type { AwsKeys } from "./provider/transport/AwsSignature.ts"
export type { BedrockAccess } from "./provider/vendors/AmazonBedrock.ts"
export { Health, type HealthShape } from "./routing/Health.ts"
export { RetryBudget, type RetryBudgetShape } from "./routing/RetryBudget.ts"
export type { RouteHealth } from "./routing/RouteHealth.ts"

// Money

export { MicroUsd, microUsd } from "./domain/Money.ts"
export {
  type Balance,
  type ExtendError,
  type Hold,
  type HoldOption,
  Ledger,
  LedgerLayer,
  type LedgerShape,
  type MemoryLedgerOptions,
  type Reservation,
  type SealedAnswer,
  type Settlement
} from "./ledger/Ledger.ts"
export type { RecoveryOptions } from "./ledger/Recovery.ts"
export { type ScopeState, Scopes, type ScopesShape } from "./ledger/Scopes.ts"
export type { StoreHealth } from "./ledger/StoreHealth.ts"

// Policy and rate limits

export type { RateLimit, RateLimitQuota, RateLimitStatus } from "./domain/RateLimitStatus.ts"
export { Policy, type PolicyShape, type ProjectPolicy, type RoutingConfiguration } from "./policy/Policy.ts"
export { PolicyLayer, type PolicyOptions } from "./policy/PolicyLayer.ts"
export type { Experiment } from "./policy/ProjectPolicy.ts"
export {
  type RateLimitAdmission,
  type RateLimitOptions,
  RateLimits,
  type RateLimitsShape
} from "./policy/RateLimits.ts"
export { RoutingConfigurations, type RoutingConfigurationsShape } from "./policy/RoutingConfigurations.ts"

// Requests that are run once

export {
  type Begun,
  Idempotency,
  type IdempotencyOptions,
  type IdempotencyShape,
  type IdempotentCall,
  type IdempotentRequest,
  type KeptAnswer
} from "./calls/Idempotency.ts"

// Accounts, projects and keys

export { Accounts, type AccountsShape, type NewAccount } from "./account/accounts/Accounts.ts"
export { Activity, type ActivityShape } from "./account/activity/Activity.ts"
export type { ActivityQuestion } from "./account/activity/ActivityStore.ts"
export { Billing, type BillingShape } from "./account/billing/Billing.ts"
export { type KeyPatch, Keys, type KeysShape, type KeyWithSecret, type NewKey } from "./account/keys/Keys.ts"
export type { KeyRange, KeySettings } from "./account/keys/ProjectKeyStore.ts"
export { type PolicySimulation, ProjectPolicies, type ProjectPoliciesShape } from "./account/policy/ProjectPolicies.ts"
export { type Project, type ProjectPatch, Projects, type ProjectsShape } from "./account/projects/Projects.ts"
export { RequestLog, type RequestLogShape } from "./account/requests/RequestLog.ts"
export type { RequestFilter } from "./account/requests/RequestLogStore.ts"
export { ProjectRoutings, type ProjectRoutingsShape } from "./account/routing/ProjectRoutings.ts"
export {
  type AccountError,
  AlreadyExists,
  ConfigVersionMismatch,
  ConversationRunning,
  CredentialRequired,
  IdempotencyKeyInProgress,
  IssuerUnavailable,
  ManagedByConfiguration,
  NotFound,
  OperatorRequired,
  PaymentProviderFailed,
  PaymentsNotConfigured,
  ProjectNotEmpty,
  RoleRequired,
  SealingUnavailable,
  VersionMismatch
} from "./domain/AccountError.ts"
export { CurrentUser, type CurrentUserShape } from "./domain/CurrentUser.ts"
export { ApiKeys, type ApiKeysShape, type AuthenticationFailure } from "./identity/keys/ApiKeys.ts"

// The database and its master key

export { MasterKeyFailed, type MasterKeyOptions } from "./credentials/MasterKey.ts"
export type { AccountSql } from "./sql/AccountDatabase.ts"
export type { ChangeNotifications } from "./sql/ChangeNotifications.ts"
export type { Database } from "./sql/Database.ts"
export { DatabaseFailed, DirectoryInUse } from "./sql/DatabaseError.ts"
export {
  type DatabaseError,
  DatabaseLayer,
  type DatabaseLayerOptions,
  type DatabaseServices,
  type EmbeddedOptions,
  type PostgresOptions
} from "./sql/DatabaseLayer.ts"

// Observation, time and ids

export {
  type CallObserver,
  CallObservers,
  type EndedAttempt,
  type FailedAttempt,
  type NextStep,
  type ObservedCall,
  type RequestBytes
} from "./domain/CallObserver.ts"
export { IdGenerator, type IdGeneratorShape } from "./domain/IdGenerator.ts"
export { AccountId, CredentialId, KeyId, ProjectId, RequestId, SessionId, UserId } from "./domain/Ids.ts"
export { type Cancel, Timers, type TimersShape } from "./domain/Timers.ts"

// HTTP

export { AccountApi } from "./http/account/AccountApi.ts"
export {
  type AccountClient,
  type AccountClientOptions,
  make as makeAccountClient
} from "./http/account/AccountClient.ts"
export type { Identity as AccountIdentity } from "./http/account/Identity.ts"
export { type HttpError, of as httpErrorOf } from "./http/Errors.ts"
export type { RouteHandler } from "./http/routes/Answering.ts"
export {
  type HttpHandlers,
  HttpRoutesLayer,
  type HttpRoutesOptions,
  makeHttpHandlers
} from "./http/routes/HttpRoutesLayer.ts"
