import * as Schema from "effect/Schema"
import type { InvalidRequest, RateLimited, ServiceRefused, StoreUnavailable, Unauthenticated } from "./GatewayError.ts"

/** What the client reads; never a secret, nor anything of another account. */
const fields = { message: Schema.String }

/** Only an operator may do this. */
export class OperatorRequired extends Schema.TaggedError<OperatorRequired>()("OperatorRequired", fields) {}

/** A member of the project whose role does not allow this. */
export class RoleRequired extends Schema.TaggedError<RoleRequired>()("RoleRequired", fields) {}

/** No such thing, or one of another account; the error does not reveal which. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", fields) {}

/** There is one of this name already. */
export class AlreadyExists extends Schema.TaggedError<AlreadyExists>()("AlreadyExists", fields) {}

/** `GATEWAY_CONFIG` has it; it can be read here and changed only there. */
export class ManagedByConfiguration extends Schema.TaggedError<ManagedByConfiguration>()(
  "ManagedByConfiguration",
  fields
) {}

/** The project pays its providers itself, and has no credential for any of them. */
export class CredentialRequired extends Schema.TaggedError<CredentialRequired>()("CredentialRequired", fields) {}

/** No payment provider is configured. */
export class PaymentsNotConfigured extends Schema.TaggedError<PaymentsNotConfigured>()(
  "PaymentsNotConfigured",
  fields
) {}

/** The payment provider could not be reached, or rejected the request. */
export class PaymentProviderFailed extends Schema.TaggedError<PaymentProviderFailed>()(
  "PaymentProviderFailed",
  fields
) {}

/** An answer of the conversation is still being written. */
export class ConversationRunning extends Schema.TaggedError<ConversationRunning>()("ConversationRunning", fields) {}

/** The request with this Idempotency-Key has not ended yet. */
export class IdempotencyKeyInProgress extends Schema.TaggedError<IdempotencyKeyInProgress>()(
  "IdempotencyKeyInProgress",
  fields
) {}

/** The project has active keys. */
export class ProjectNotEmpty extends Schema.TaggedError<ProjectNotEmpty>()("ProjectNotEmpty", fields) {}

/** `If-Match` names another version than the current one. */
export class VersionMismatch extends Schema.TaggedError<VersionMismatch>()("VersionMismatch", fields) {}

/** The settings of a data collection were changed meanwhile: `config_version` is not the current one. */
export class ConfigVersionMismatch extends Schema.TaggedError<ConfigVersionMismatch>()(
  "ConfigVersionMismatch",
  fields
) {}

/** There is no master key; the message names the variable. */
export class SealingUnavailable extends Schema.TaggedError<SealingUnavailable>()("SealingUnavailable", fields) {}

/** The identity provider is needed, and cannot be reached. */
export class IssuerUnavailable extends Schema.TaggedError<IssuerUnavailable>()("IssuerUnavailable", fields) {}

/** The errors that only the account API has. */
export type AccountOnlyError =
  | OperatorRequired
  | RoleRequired
  | NotFound
  | AlreadyExists
  | ManagedByConfiguration
  | CredentialRequired
  | PaymentsNotConfigured
  | PaymentProviderFailed
  | ConversationRunning
  | IdempotencyKeyInProgress
  | ProjectNotEmpty
  | VersionMismatch
  | ConfigVersionMismatch
  | SealingUnavailable
  | IssuerUnavailable

/** Every error of a request to the account API. */
export type AccountError =
  | AccountOnlyError
  | Unauthenticated
  | InvalidRequest
  | RateLimited
  | ServiceRefused
  | StoreUnavailable
