import * as Schema from "effect/Schema"
import { efforts } from "../domain/Chat.ts"
import data from "./data/models.data.json" with { type: "json" }

/** The catalog as it is stored: facts about the models of each provider. `null` is unknown, never false or zero. */

const Tokens = Schema.Int.pipe(Schema.positive())
const Price = Schema.Int.pipe(Schema.nonNegative())
const Known = Schema.NullOr(Schema.Boolean)
const EffortName = Schema.Literal(...efforts)

const rates = {
  input: Price.annotations({ description: "Uncached prompt tokens, in micro-USD per million." }),
  output: Price.annotations({ description: "Completion tokens, reasoning included, in micro-USD per million." }),
  cacheRead: Schema.NullOr(Price).annotations({
    description: "Prompt tokens read from a cache, in micro-USD per million; null falls back to the input rate."
  }),
  cacheWrite: Schema.NullOr(Price).annotations({
    description: "Prompt tokens written to a cache, in micro-USD per million; null falls back to the input rate."
  })
}

const PricesEntry = Schema.Struct({
  ...rates,
  audioInput: Schema.optionalWith(Price, { exact: true }).annotations({
    description: "Prompt tokens of audio, in micro-USD per million; absent is unknown."
  }),
  tiers: Schema.Array(
    Schema.Struct({
      abovePromptTokens: Tokens.annotations({
        description: "A prompt longer than this many tokens puts the whole call on these rates."
      }),
      ...rates
    })
  ).annotations({ description: "Rates of long prompts, ascending by `abovePromptTokens`." })
})

const ReasoningEntry = Schema.Struct({
  efforts: Schema.Array(EffortName).annotations({
    description: "Efforts that a client may request, lowest first; empty when the effort cannot be chosen."
  }),
  style: Schema.Literal("effort", "budget", "toggle", "fixed").annotations({
    description: "How the provider accepts it: by name, as a budget in tokens, on or off, or not at all."
  }),
  budget: Schema.NullOr(
    Schema.Struct({
      min: Schema.NullOr(Schema.NonNegativeInt).annotations({ description: "Smallest budget in tokens." }),
      max: Schema.NullOr(Tokens).annotations({ description: "Largest budget in tokens." })
    })
  ).annotations({ description: "Bounds of a budget; null for the other styles." }),
  defaultEffort: Schema.NullOr(EffortName).annotations({
    description: "The provider's own default; null is unknown."
  }),
  mandatory: Schema.Boolean.annotations({ description: "Whether reasoning cannot be disabled." })
})

const CacheEntry = Schema.Struct({
  mode: Schema.Literal("auto", "explicit", "none").annotations({
    description: "auto: every prompt is cached. explicit: up to the marks in a request. none: nothing is."
  }),
  minTokens: Tokens.annotations({ description: "Shorter prefixes are not cached, in tokens." }),
  stepTokens: Tokens.annotations({ description: "Cached tokens are counted in steps of this many." }),
  ttlSeconds: Tokens.annotations({ description: "How long a prefix is kept after its last use, in seconds." }),
  longTtl: Schema.NullOr(
    Schema.Struct({
      seconds: Tokens.annotations({ description: "How long, in seconds." }),
      writeFactor: Schema.Positive.annotations({ description: "Cost of a write, as a multiple of the input rate." })
    })
  ).annotations({ description: "A longer time that requests can ask for; null: there is none." }),
  guaranteed: Schema.Boolean.annotations({ description: "The provider documents that a prefix is kept as long." })
})

export const CatalogEntry = Schema.Struct({
  id: Schema.String.pipe(Schema.pattern(/^[^/]+\/.+$/)).annotations({ description: "`<provider>/<model>`." }),
  upstreamModel: Schema.NonEmptyString.annotations({ description: "The provider's name for the model." }),
  alias: Schema.NonEmptyString.annotations({
    description: "The bare name that the same model has at several providers."
  }),
  displayName: Schema.NonEmptyString.annotations({ description: "Name for people." }),
  createdSeconds: Schema.NonNegativeInt.annotations({
    description: "Release, in seconds since the epoch; 0 is unknown."
  }),
  knowledgeCutoff: Schema.NullOr(Schema.String).annotations({ description: "A year, month or day." }),
  prices: Schema.NullOr(PricesEntry).annotations({ description: "null: unknown, hence not routable for money." }),
  contextTokens: Schema.NullOr(Tokens).annotations({
    description: "Maximum length of prompt and completion together, in tokens."
  }),
  inputTokens: Schema.NullOr(Tokens).annotations({ description: "Longest prompt, in tokens." }),
  outputTokens: Schema.NullOr(Tokens).annotations({
    description: "Longest completion, reasoning included, in tokens."
  }),
  imageTokens: Schema.NonNegativeInt.annotations({
    description: "What one image, file or page of a PDF may cost, in tokens."
  }),
  cache: Schema.NullOr(CacheEntry).annotations({
    description: "The provider's prompt cache; null: its rules or its rates are not known."
  }),
  quality: Schema.Number.pipe(Schema.between(0, 1)).annotations({
    description: "Prior estimate of answer quality, 0 to 1; from scripts/catalog/quality.mjs."
  }),
  qualityPrior: Schema.Number.pipe(Schema.between(0, 1)).annotations({
    description: "The same from name, release and price alone, without benchmarks."
  }),
  benchmarks: Schema.NonNegativeInt.annotations({
    description: "Published benchmarks that moved `quality` away from `qualityPrior`; all are about code."
  }),
  capabilities: Schema.Struct({
    tools: Known.annotations({ description: "Supports function tools." }),
    vision: Known.annotations({ description: "Supports images." }),
    "structured-output": Known.annotations({ description: "Follows a JSON schema." }),
    sampling: Known.annotations({ description: "Supports temperature and top_p." }),
    logprobs: Known.annotations({ description: "Returns log probabilities." }),
    "audio-input": Known.annotations({ description: "Supports audio." }),
    "file-input": Known.annotations({ description: "Supports documents." })
  }),
  reasoning: Schema.NullOr(ReasoningEntry).annotations({ description: "null: the model does not reason." }),
  reasonsByDefault: Schema.Boolean.annotations({ description: "Reasons without being requested to." }),
  toolsForbidEffort: Schema.Boolean.annotations({ description: "Rejects an effort together with tools." }),
  profile: Schema.Struct({
    effort: Schema.NullOr(EffortName).annotations({ description: "Sent when the client sets none." }),
    maxOutputTokens: Schema.NullOr(Tokens).annotations({ description: "Output cap when the client sets none." }),
    apiVersion: Schema.NullOr(Schema.String).annotations({ description: "Version of the provider's protocol." })
  })
})
export type CatalogEntry = typeof CatalogEntry.Type

export const CatalogFile = Schema.Struct({
  version: Schema.Literal(1).annotations({ description: "Version of this file's shape." }),
  source: Schema.Struct({
    repository: Schema.String.annotations({ description: "Where the facts come from." }),
    commit: Schema.String.annotations({ description: "State of that repository." }),
    commitDate: Schema.String.annotations({ description: "Day of that state." }),
    licence: Schema.Literal("MIT").annotations({ description: "Licence of the facts." }),
    contents: Schema.String.annotations({ description: "What was taken and what is derived." })
  }),
  providers: Schema.Array(
    Schema.Struct({
      id: Schema.NonEmptyString.annotations({ description: "First part of its models' ids." }),
      protocol: Schema.Literal("openai-chat", "anthropic-messages", "gemini", "bedrock-converse").annotations({
        description: "Protocol of its API."
      })
    })
  ),
  models: Schema.Array(CatalogEntry)
})
export type CatalogFile = typeof CatalogFile.Type

export const decodeCatalogFile = Schema.decodeUnknownEither(CatalogFile, { onExcessProperty: "error", errors: "all" })

/** The file that ships with the gateway; an error in it is a defect of the build, not of the installation. */
export const builtInCatalog: CatalogFile = Schema.decodeUnknownSync(CatalogFile, { onExcessProperty: "error" })(data)
