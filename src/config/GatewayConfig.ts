import * as Schema from "effect/Schema"
import {
  defaultCallDays,
  defaultConnectMillis,
  defaultHeadHoldMillis,
  defaultHeartbeatMillis,
  defaultMaxAttempts,
  defaultTimeouts
} from "../domain/DefaultOptions.ts"
import { ConfiguredModel, ModelPatch } from "./ConfiguredModel.ts"
import {
  Attempts,
  BaseUrl,
  Count,
  ExplorationShare,
  Flag,
  Fraction,
  Millis,
  MillisOrZero,
  Patterns,
  Price,
  ProviderId,
  RetentionDays,
  Slug,
  Text,
  VariableName
} from "./Fields.ts"

/**
 * The operator's file as it is written. Every key is optional unless its provider or model could not be called without it;
 * an unknown key is an error. Rules between several keys are in `Rules.ts`.
 */

const configurableProtocols = ["openai-chat", "anthropic-messages", "gemini", "bedrock-converse"] as const
export type ConfigurableProtocol = (typeof configurableProtocols)[number]

const outputCapFields = ["max_tokens", "max_completion_tokens"] as const
export type OutputCapField = (typeof outputCapFields)[number]

const orNull = <A>(defaultValue: A) => ({ default: () => defaultValue, nullable: true }) as const

const ProviderEntry = Schema.Struct({
  id: ProviderId.annotations({ description: "First part of the ids of its models." }),
  protocol: Schema.optional(
    Schema.Literal(...configurableProtocols).annotations({ title: `one of ${configurableProtocols.join(", ")}` })
  ).annotations({ description: "Protocol of its API; this or `vendor`." }),
  vendor: Schema.optional(Text).annotations({
    description: "A built-in vendor whose base URL, authentication and quirks it shares; this or `protocol`."
  }),
  baseUrl: Schema.optional(BaseUrl).annotations({
    description: "Where the protocol's paths start; required with `protocol`, replaces the vendor's otherwise."
  }),
  apiKeyEnv: Schema.optional(Schema.NullOr(VariableName)).annotations({
    description: "The environment variable that holds its key; without it no Authorization header is sent."
  }),
  outputCapField: Schema.optional(
    Schema.Literal(...outputCapFields).annotations({ title: `one of ${outputCapFields.join(", ")}` })
  ).annotations({
    description:
      "The field that caps completion tokens; default max_tokens, or the vendor's own. Only with the protocol openai-chat."
  }),
  billsAbortedCalls: Schema.optional(Flag).annotations({
    description: "Charges for the prompt of a call aborted before it answered; default true, or the vendor's own."
  }),
  models: Schema.optionalWith(Schema.Array(ConfiguredModel), { default: () => [] })
})
export type ProviderEntry = typeof ProviderEntry.Type

const capsAndFallback = {
  max_input_price_microusd_per_million: Schema.optionalWith(Schema.NullOr(Price), { default: () => null }),
  max_output_price_microusd_per_million: Schema.optionalWith(Schema.NullOr(Price), { default: () => null }),
  enable_fallback: Schema.optionalWith(Flag, orNull(true))
}

const PolicyEntry = Schema.Struct({
  allowed_models: Schema.optionalWith(Schema.NullOr(Patterns), { default: () => null }),
  excluded_models: Schema.optionalWith(Patterns, orNull<ReadonlyArray<string>>([])),
  allowed_providers: Schema.optionalWith(Schema.NullOr(Patterns), { default: () => null }),
  excluded_providers: Schema.optionalWith(Patterns, orNull<ReadonlyArray<string>>([])),
  default_alpha: Schema.optionalWith(Schema.NullOr(Fraction), { default: () => null }),
  exploration_share: Schema.optionalWith(ExplorationShare, orNull(0)),
  ...capsAndFallback
})

const RoutingEntry = Schema.Struct({
  slug: Slug.annotations({ description: "Slug, addressed as `auto:<slug>`." }),
  name: Schema.optionalWith(Schema.NullOr(Text), { default: () => null }),
  models: Schema.optionalWith(Schema.NullOr(Patterns), { default: () => null }).annotations({
    description: "The models it may choose; null and default: all that the project allows."
  }),
  providers: Schema.optionalWith(Schema.NullOr(Patterns), { default: () => null }).annotations({
    description: "The providers it may choose; null and default: all that the project allows."
  }),
  alpha: Schema.optionalWith(Schema.NullOr(Fraction), { default: () => null }),
  ...capsAndFallback
})

const RateLimit = Schema.Struct({
  requestsPerMinute: Schema.optionalWith(Schema.NullOr(Count), { default: () => null }),
  tokensPerMinute: Schema.optionalWith(Schema.NullOr(Count), { default: () => null }),
  concurrentRequests: Schema.optionalWith(Schema.NullOr(Count), { default: () => null })
})

const noLimit: typeof RateLimit.Type = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }

const RateLimits = Schema.Struct({
  key: Schema.optionalWith(RateLimit, { default: () => noLimit }),
  project: Schema.optionalWith(RateLimit, { default: () => noLimit })
})

const Timeouts = Schema.Struct({
  connectMillis: Schema.optionalWith(Millis, { default: () => defaultConnectMillis }),
  firstContentMillis: Schema.optionalWith(Millis, { default: () => defaultTimeouts.firstContentMillis }),
  plainAnswerMillis: Schema.optional(Millis).annotations({ description: "Default four times firstContentMillis." }),
  idleMillis: Schema.optionalWith(Millis, { default: () => defaultTimeouts.idleMillis }),
  totalMillis: Schema.optional(Millis).annotations({
    description: "Left out, 600 s, and up to 3,000 s where the output cap is above 24,000 tokens."
  })
})

const Fallback = Schema.Struct({
  maxAttempts: Schema.optionalWith(Attempts, { default: () => defaultMaxAttempts }).annotations({
    description: "Candidates that one call may try."
  })
})

const Retention = Schema.Struct({
  callDays: Schema.optionalWith(Schema.NullOr(RetentionDays), { default: () => defaultCallDays }).annotations({
    description:
      "Days after which a call is deleted with its attempts, its hold and the project's older refusals; null keeps them. The journal and the sums of activity stay."
  })
})

const noRateLimits: typeof RateLimits.Type = { key: noLimit, project: noLimit }

export const GatewayConfig = Schema.Struct({
  providers: Schema.optionalWith(Schema.Array(ProviderEntry), { default: () => [] }),
  models: Schema.optionalWith(
    Schema.Record({
      key: Schema.String,
      value: Schema.NullOr(ModelPatch).annotations({ title: "an object, or null to remove the model" })
    }),
    { default: () => ({}) }
  ),
  policy: Schema.optional(PolicyEntry),
  routingConfigurations: Schema.optional(Schema.Array(RoutingEntry)),
  rateLimits: Schema.optionalWith(RateLimits, { default: () => noRateLimits }).annotations({
    description:
      "How often each key and each project that has no limits of its own may call, over all processes that share a PostgreSQL database."
  }),
  timeouts: Schema.optionalWith(Timeouts, { default: () => Timeouts.make({}) }),
  headHoldMillis: Schema.optionalWith(MillisOrZero, { default: () => defaultHeadHoldMillis }),
  heartbeatMillis: Schema.optionalWith(Millis, { default: () => defaultHeartbeatMillis }),
  fallback: Schema.optionalWith(Fallback, { default: () => Fallback.make({}) }),
  retention: Schema.optionalWith(Retention, { default: () => Retention.make({}) })
})
export type GatewayConfig = typeof GatewayConfig.Type

export const decodeGatewayConfig = Schema.decodeUnknownEither(GatewayConfig, {
  onExcessProperty: "error",
  errors: "all"
})
