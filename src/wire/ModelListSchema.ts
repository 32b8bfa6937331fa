import * as Schema from "effect/Schema"
import { efforts } from "../domain/Chat.ts"

const exactly = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.optionalWith(schema, { exact: true }).annotations({ description })

const tokenLimit = Schema.NullOr(Schema.Int)
const effort = Schema.Literal(...efforts)
const price = (description: string) => Schema.String.annotations({ description })

const Architecture = Schema.Struct({
  modality: Schema.String.annotations({ description: "Kinds of input and output, as in text+image->text." }),
  input_modalities: Schema.Array(Schema.String).annotations({ description: "text, image, audio, file." }),
  output_modalities: Schema.Array(Schema.String).annotations({ description: "Kinds of output." }),
  tokenizer: Schema.String.annotations({ description: "Family of the tokenizer; Other when not told." }),
  instruct_type: Schema.Null.annotations({ description: "Always null." })
})

const Pricing = Schema.Struct({
  prompt: price("USD per prompt token, a decimal; -1 where it depends on the model that is chosen or is not known."),
  completion: price("USD per completion token; -1 as for `prompt`."),
  input_cache_read: exactly(Schema.String, "USD per prompt token read from a cache."),
  input_cache_write: exactly(Schema.String, "USD per prompt token written to a cache.")
})

const TopProvider = Schema.Struct({
  is_moderated: Schema.Boolean.annotations({ description: "The gateway itself moderates nothing." }),
  context_length: tokenLimit.annotations({ description: "Prompt and completion together, in tokens." }),
  max_completion_tokens: exactly(Schema.Int, "Most completion tokens, where the provider documents it.")
})

const ListedReasoning = Schema.Struct({
  mandatory: Schema.Boolean.annotations({ description: "Reasoning cannot be switched off." }),
  supported_efforts: Schema.Array(effort).annotations({ description: "Efforts to choose from, highest first." }),
  default_effort: Schema.NullOr(effort).annotations({ description: "What holds when none is sent, if known." }),
  default_enabled: Schema.Boolean.annotations({ description: "Whether it reasons without being asked to." }),
  supports_max_tokens: exactly(Schema.Literal(true), "`reasoning.max_tokens` is taken."),
  depth: exactly(
    Schema.Struct({
      min: Schema.Int.annotations({ description: "Least depth." }),
      max: Schema.Int.annotations({ description: "Greatest depth." })
    }),
    "Range of integer efforts, a depth and not tokens."
  )
}).annotations({ identifier: "ListedReasoning", description: "Present where a reasoning effort can be chosen." })

const ReasoningOption = Schema.Union(
  Schema.Struct({
    type: Schema.Literal("effort").annotations({ description: "A named effort." }),
    values: Schema.Array(effort).annotations({ description: "The names, lowest first." })
  }),
  Schema.Struct({ type: Schema.Literal("toggle").annotations({ description: "On or off." }) }),
  Schema.Struct({
    type: Schema.Literal("budget_tokens").annotations({ description: "A budget in tokens." }),
    min: exactly(Schema.Int, "Least budget in tokens."),
    max: exactly(Schema.Int, "Greatest budget in tokens.")
  })
)

export const ModelEntry = Schema.Struct({
  id: Schema.String.annotations({ description: "What to send as `model`." }),
  object: Schema.Literal("model").annotations({ description: "Always model." }),
  created: Schema.Int.annotations({ description: "Release in seconds since the epoch; 0 when not known." }),
  owned_by: Schema.String.annotations({ description: "Provider id; gateway for the routing ids." }),
  canonical_slug: Schema.String.annotations({ description: "The same as `id`." }),
  name: Schema.String.annotations({ description: "Name for people." }),
  description: exactly(Schema.String, "What the id stands for."),
  context_length: tokenLimit.annotations({
    description: "Prompt and completion together, in tokens; null where it is not documented."
  }),
  architecture: Architecture.annotations({ description: "What goes in and comes out." }),
  pricing: Pricing.annotations({ description: "Base prices." }),
  top_provider: TopProvider.annotations({ description: "Limits at the provider." }),
  per_request_limits: Schema.Null.annotations({ description: "Always null." }),
  supported_parameters: Schema.Array(Schema.String).annotations({
    description: "Request parameters that have an effect on this model."
  }),
  default_parameters: Schema.Null.annotations({ description: "Always null." }),
  supported_voices: Schema.Null.annotations({ description: "Always null." }),
  knowledge_cutoff: exactly(Schema.String, "The last day or month it knows of, where documented."),
  links: Schema.Struct({ details: Schema.String.annotations({ description: "Path of this list." }) }).annotations({
    description: "Where to find more."
  }),
  reasoning: exactly(ListedReasoning, "Reasoning that can be chosen; absent where it cannot."),
  reasoning_options: exactly(
    Schema.Array(ReasoningOption),
    "The same as a list of controls; empty for a model that reasons without a choice."
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
    "The same as variants, each with the request options it stands for."
  )
}).annotations({ identifier: "Model" })
export type ModelEntry = typeof ModelEntry.Type

export const ModelList = Schema.Struct({
  object: Schema.Literal("list").annotations({ description: "Always list." }),
  data: Schema.Array(ModelEntry).annotations({
    description: "`auto` first when anything is eligible, then `auto:<slug>` by slug, then models by id."
  }),
  links: Schema.Struct({
    next: Schema.Null.annotations({ description: "Always null: the list is whole." })
  }).annotations({ description: "Where the list goes on." }),
  total_count: Schema.Int.annotations({ description: "Number of entries." })
}).annotations({ identifier: "ModelList" })
export type ModelList = typeof ModelList.Type
