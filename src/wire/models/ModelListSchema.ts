import * as Schema from "effect/Schema"
import { efforts } from "../../domain/Chat.ts"

const exactly = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.optionalWith(schema, { exact: true }).annotations({ description })

const tokenLimit = Schema.NullOr(Schema.Int)
const effort = Schema.Literal(...efforts)
const price = (description: string) => Schema.String.annotations({ description })

const Architecture = Schema.Struct({
  modality: Schema.String.annotations({ description: "Input and output modalities, such as text+image->text." }),
  input_modalities: Schema.Array(Schema.String).annotations({
    description: "Input modalities: text, image, audio, file."
  }),
  output_modalities: Schema.Array(Schema.String).annotations({ description: "Output modalities." }),
  tokenizer: Schema.String.annotations({ description: "Family of the tokenizer; Other if unknown." }),
  instruct_type: Schema.Null.annotations({ description: "Always null." })
})

const Pricing = Schema.Struct({
  prompt: price("USD per prompt token, a decimal; -1 where the price depends on the chosen model or is unknown."),
  completion: price("USD per completion token; -1 as for `prompt`."),
  input_cache_read: exactly(Schema.String, "USD per prompt token read from a cache."),
  input_cache_write: exactly(Schema.String, "USD per prompt token written to a cache.")
})

const TopProvider = Schema.Struct({
  is_moderated: Schema.Boolean.annotations({ description: "Always false: the gateway does not moderate content." }),
  context_length: tokenLimit.annotations({
    description: "Maximum length of prompt and completion together, in tokens."
  }),
  max_completion_tokens: exactly(Schema.Int, "Maximum completion tokens, where the provider documents it.")
})

const ListedReasoning = Schema.Struct({
  mandatory: Schema.Boolean.annotations({ description: "Whether reasoning cannot be disabled." }),
  supported_efforts: Schema.Array(effort).annotations({ description: "Supported efforts, highest first." }),
  default_effort: Schema.NullOr(effort).annotations({
    description: "Effort that applies when none is sent, if known."
  }),
  default_enabled: Schema.Boolean.annotations({ description: "Whether the model reasons by default." }),
  supports_max_tokens: exactly(Schema.Literal(true), "`reasoning.max_tokens` is supported."),
  depth: exactly(
    Schema.Struct({
      min: Schema.Int.annotations({ description: "Minimum depth." }),
      max: Schema.Int.annotations({ description: "Maximum depth." })
    }),
    "Range of integer efforts: a relative level, not tokens."
  )
}).annotations({ identifier: "ListedReasoning", description: "Present where a reasoning effort can be selected." })

const ReasoningOption = Schema.Union(
  Schema.Struct({
    type: Schema.Literal("effort").annotations({ description: "A named effort." }),
    values: Schema.Array(effort).annotations({ description: "The names, lowest first." })
  }),
  Schema.Struct({ type: Schema.Literal("toggle").annotations({ description: "Reasoning on or off." }) }),
  Schema.Struct({
    type: Schema.Literal("budget_tokens").annotations({ description: "A budget in tokens." }),
    min: exactly(Schema.Int, "Minimum budget in tokens."),
    max: exactly(Schema.Int, "Maximum budget in tokens.")
  })
)

export const ModelEntry = Schema.Struct({
  id: Schema.String.annotations({ description: "Value to send as `model`." }),
  object: Schema.Literal("model").annotations({ description: "Always model." }),
  created: Schema.Int.annotations({ description: "Release date, in seconds since the epoch; 0 if unknown." }),
  owned_by: Schema.String.annotations({ description: "Provider id; gateway for `auto` and `auto:<slug>`." }),
  canonical_slug: Schema.String.annotations({ description: "The same as `id`." }),
  name: Schema.String.annotations({ description: "Display name." }),
  description: exactly(Schema.String, "Description of the entry."),
  context_length: tokenLimit.annotations({
    description: "Maximum length of prompt and completion together, in tokens; null where it is not documented."
  }),
  architecture: Architecture.annotations({ description: "Input and output modalities." }),
  pricing: Pricing.annotations({ description: "Base prices." }),
  top_provider: TopProvider.annotations({ description: "Limits at the provider." }),
  per_request_limits: Schema.Null.annotations({ description: "Always null." }),
  supported_parameters: Schema.Array(Schema.String).annotations({
    description: "Request parameters that have an effect on this model."
  }),
  default_parameters: Schema.Null.annotations({ description: "Always null." }),
  supported_voices: Schema.Null.annotations({ description: "Always null." }),
  knowledge_cutoff: exactly(Schema.String, "Knowledge cutoff, a day or month, where documented."),
  links: Schema.Struct({ details: Schema.String.annotations({ description: "Path of this list." }) }).annotations({
    description: "Links to more information."
  }),
  reasoning: exactly(ListedReasoning, "Selectable reasoning; absent where there is no choice."),
  reasoning_options: exactly(
    Schema.Array(ReasoningOption),
    "The same as a list of controls; empty for a model whose reasoning cannot be controlled."
  ),
  opencode: exactly(
    Schema.Struct({
      variants: Schema.Record({
        key: Schema.String,
        value: Schema.Struct({
          reasoning_effort: effort.annotations({ description: "The effort of this variant." })
        })
      }).annotations({ description: "Request options by the name of the variant." })
    }),
    "The same as named variants, each with its request options."
  )
}).annotations({ identifier: "Model" })
export type ModelEntry = typeof ModelEntry.Type

export const ModelList = Schema.Struct({
  object: Schema.Literal("list").annotations({ description: "Always list." }),
  data: Schema.Array(ModelEntry).annotations({
    description: "`auto` first when anything is eligible, then `auto:<slug>` by slug, then models by id."
  }),
  links: Schema.Struct({
    next: Schema.Null.annotations({ description: "Always null: the list is complete." })
  }).annotations({ description: "Links to more entries." }),
  total_count: Schema.Int.annotations({ description: "Number of entries." })
}).annotations({ identifier: "ModelList" })
export type ModelList = typeof ModelList.Type
