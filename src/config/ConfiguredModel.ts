import * as Schema from "effect/Schema"
import { efforts } from "../domain/Chat.ts"
import type { requiredFields } from "../domain/ModelRules.ts"
import { Depth, Flag, Fraction, ModelId, Price, Text, Tokens, TokensOrZero } from "./Fields.ts"

const rates = {
  inputPriceMicroUsdPerMillion: Price,
  outputPriceMicroUsdPerMillion: Price,
  cacheReadPriceMicroUsdPerMillion: Schema.optional(Schema.NullOr(Price)),
  cacheWritePriceMicroUsdPerMillion: Schema.optional(Schema.NullOr(Price)),
  audioInputPriceMicroUsdPerMillion: Schema.optional(Schema.NullOr(Price)),
  audioOutputPriceMicroUsdPerMillion: Schema.optional(Schema.NullOr(Price))
}

const Tier = Schema.Struct({
  abovePromptTokens: Tokens.annotations({
    description: "A prompt longer than this many tokens puts the whole call on these rates."
  }),
  ...rates
})

const ServiceTier = Schema.Struct({
  serviceTier: Text.annotations({ description: "The service_tier of the request." }),
  ...rates,
  priceTiers: Schema.optional(Schema.Array(Tier)).annotations({
    description: "Prices of long prompts in this service tier, ascending by abovePromptTokens; default none."
  })
})

const EffortName = Schema.Literal(...efforts).annotations({ title: `one of ${efforts.join(", ")}` })

/** `image-url` follows from `vision` and the protocol, so it cannot be named here. */
const configurableCapabilities = [
  "tools",
  "vision",
  "structured-output",
  "sampling",
  "logprobs",
  "audio-input",
  "file-input"
] as const

const required = {
  inputPriceMicroUsdPerMillion: Price.annotations({ description: "Prompt tokens, in micro-USD per million." }),
  outputPriceMicroUsdPerMillion: Price.annotations({ description: "Completion tokens, in micro-USD per million." }),
  contextTokens: Tokens.annotations({ description: "Maximum length of prompt and completion together, in tokens." }),
  outputTokens: Tokens.annotations({ description: "Longest completion, in tokens." })
} satisfies Record<(typeof requiredFields)[number], unknown>

const optional = {
  upstreamModel: Schema.optional(Text).annotations({
    description: "The provider's name for the model; default: the id after its first slash."
  }),
  displayName: Schema.optional(Text).annotations({ description: "Name for people; default: the upstream name." }),
  cacheReadPriceMicroUsdPerMillion: Schema.optional(Schema.NullOr(Price)).annotations({
    description: "Prompt tokens read from a cache; null and default: the input price."
  }),
  cacheWritePriceMicroUsdPerMillion: Schema.optional(Schema.NullOr(Price)).annotations({
    description: "Prompt tokens written to a cache; null and default: the input price."
  }),
  priceTiers: Schema.optional(Schema.Array(Tier)).annotations({
    description: "Prices of long prompts, ascending by abovePromptTokens; default none."
  }),
  audioInputPriceMicroUsdPerMillion: Schema.optional(Schema.NullOr(Price)).annotations({
    description:
      "Prompt tokens of audio; null and default: unknown, calls that are charged to a balance then send it no audio. Only with the protocols openai-chat and gemini."
  }),
  audioOutputPriceMicroUsdPerMillion: Schema.optional(Schema.NullOr(Price)).annotations({
    description:
      "Completion tokens of audio; null and default: unknown, calls that are charged to a balance then get no audio. Only with the protocol openai-chat."
  }),
  serviceTierPrices: Schema.optional(Schema.Array(ServiceTier)).annotations({
    description:
      "Prices of service tiers other than the standard one; a tier without prices is dropped where a balance is charged. Default none. Only with the protocols openai-chat and anthropic-messages."
  }),
  webSearchPriceMicroUsd: Schema.optional(Schema.NullOr(Price)).annotations({
    description:
      "What web_search_options add to one call, in micro-USD; null and default: unknown, they are then dropped where a balance is charged. Only with the protocol openai-chat."
  }),
  inputTokens: Schema.optional(Schema.NullOr(Tokens)).annotations({
    description: "Longest prompt, in tokens; null and default: only the context bounds it."
  }),
  imageTokens: Schema.optional(TokensOrZero).annotations({
    description: "What one image, page of a PDF, or other file that is not text may cost, in tokens; default 3000."
  }),
  quality: Schema.optional(Fraction).annotations({
    description: "Prior estimate of answer quality, 0 to 1; default 0.5."
  }),
  capabilities: Schema.optional(
    Schema.Array(
      Schema.Literal(...configurableCapabilities).annotations({
        title: `one of ${configurableCapabilities.join(", ")}`
      })
    )
  ).annotations({
    description: "All capabilities of the model; default tools, vision, structured-output and sampling."
  }),
  reasoningEfforts: Schema.optional(Schema.Array(EffortName)).annotations({
    description:
      "The efforts a client may ask for, of those that the provider's protocol has (not minimal with anthropic-messages; not none, xhigh and max with gemini); default none."
  }),
  reasoningDepth: Schema.optional(Schema.NullOr(Schema.Struct({ min: Depth, max: Depth }))).annotations({
    description:
      "The range of integer depths that it supports; null and default: none. Only with the protocols openai-chat and gemini."
  }),
  toolsForbidEffort: Schema.optional(Flag).annotations({
    description: "The model rejects an effort together with tools; the effort is then left out. Default false."
  }),
  profile: Schema.optional(
    Schema.Struct({
      effort: Schema.optional(Schema.NullOr(EffortName)).annotations({
        description: "Sent when the client sets none; null and default: nothing is sent."
      }),
      maxOutputTokens: Schema.optional(Schema.NullOr(Tokens)).annotations({
        description: "Output cap when the client sets none; null and default: the model's limit."
      }),
      apiVersion: Schema.optional(Schema.NullOr(Text)).annotations({
        description:
          "Version of the provider's protocol; null and default: the protocol's own. Only with the protocol anthropic-messages."
      })
    })
  ).annotations({ description: "Parameters of the model when the client sets none." })
}

/** A model of a configured provider. */
export const ConfiguredModel = Schema.Struct({
  id: ModelId.annotations({ description: "<provider>/<model>." }),
  ...required,
  ...optional
})
export type ConfiguredModel = typeof ConfiguredModel.Type

/** Replaces the given fields of a catalog entry. */
export const ModelPatch = Schema.Struct({
  inputPriceMicroUsdPerMillion: Schema.optional(required.inputPriceMicroUsdPerMillion),
  outputPriceMicroUsdPerMillion: Schema.optional(required.outputPriceMicroUsdPerMillion),
  contextTokens: Schema.optional(required.contextTokens),
  outputTokens: Schema.optional(required.outputTokens),
  ...optional
})
export type ModelPatch = typeof ModelPatch.Type
