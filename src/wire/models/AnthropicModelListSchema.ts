import * as Schema from "effect/Schema"

const has = (description: string) =>
  Schema.Struct({
    supported: Schema.Boolean.annotations({ description: "Whether the model supports this through the gateway." })
  }).annotations({ description })

const Capabilities = Schema.Struct({
  batch: has("Batch processing."),
  citations: has("Citations."),
  code_execution: has("Code execution at the provider."),
  context_management: Schema.Struct({
    supported: Schema.Boolean.annotations({ description: "Whether the provider manages the context." }),
    clear_thinking_20251015: Schema.Null.annotations({ description: "Always null." }),
    clear_tool_uses_20250919: Schema.Null.annotations({ description: "Always null." }),
    compact_20260112: Schema.Null.annotations({ description: "Always null." })
  }).annotations({ description: "Context management at the provider." }),
  effort: Schema.Struct({
    supported: Schema.Boolean.annotations({ description: "Whether a reasoning effort can be selected." }),
    low: has("Effort low."),
    medium: has("Effort medium."),
    high: has("Effort high."),
    xhigh: has("Effort xhigh."),
    max: has("Effort max.")
  }).annotations({ description: "Selectable reasoning efforts." }),
  image_input: has("Images as input."),
  pdf_input: has("Files as input."),
  server_tools: Schema.Struct({
    supported: Schema.Boolean.annotations({ description: "Whether the provider runs tools." }),
    code_execution: has("Code execution."),
    web_search: has("Web search.")
  }).annotations({ description: "Tools that the provider runs." }),
  structured_outputs: has("Structured output that follows a JSON schema."),
  thinking: Schema.Struct({
    supported: Schema.Boolean.annotations({ description: "Whether the model reasons." }),
    types: Schema.Struct({
      adaptive: has("The model decides how much it reasons."),
      between_tools: has("Reasoning between tool calls."),
      disabled: has("Reasoning can be disabled."),
      enabled: has("Reasoning within a budget.")
    }).annotations({ description: "Reasoning modes." })
  }).annotations({ description: "Reasoning." })
})

export const AnthropicModelEntry = Schema.Struct({
  type: Schema.Literal("model").annotations({ description: "Always model." }),
  id: Schema.String.annotations({ description: "Value to send as `model`." }),
  display_name: Schema.String.annotations({ description: "Display name." }),
  created_at: Schema.String.annotations({ description: "Release date (RFC 3339); the epoch if unknown." }),
  max_input_tokens: Schema.NullOr(Schema.Int).annotations({ description: "Maximum prompt tokens, if documented." }),
  max_tokens: Schema.NullOr(Schema.Int).annotations({ description: "Maximum completion tokens, if documented." }),
  lifecycle: Schema.Literal("active").annotations({ description: "Always active." }),
  line: Schema.Null.annotations({ description: "Always null." }),
  deprecated_at: Schema.Null.annotations({ description: "Always null." }),
  retires_at: Schema.Null.annotations({ description: "Always null." }),
  capabilities: Schema.NullOr(Capabilities).annotations({ description: "Null for `auto` and `auto:<slug>`." })
}).annotations({ identifier: "AnthropicModel" })
export type AnthropicModelEntry = typeof AnthropicModelEntry.Type

export const AnthropicModelList = Schema.Struct({
  data: Schema.Array(AnthropicModelEntry).annotations({ description: "One page, in the order of the default list." }),
  has_more: Schema.Boolean.annotations({ description: "Whether there are more entries in the direction of paging." }),
  first_id: Schema.NullOr(Schema.String).annotations({ description: "Id of the page's first entry." }),
  last_id: Schema.NullOr(Schema.String).annotations({ description: "Id of the page's last entry." })
}).annotations({
  identifier: "AnthropicModelList",
  description: "The list for requests that carry an `anthropic-version` header, of any value."
})
export type AnthropicModelList = typeof AnthropicModelList.Type
