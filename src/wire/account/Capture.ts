import * as Schema from "effect/Schema"
import { CallError, CallStatus, CandidatePool, Cost, endpoints, routingReasons } from "../../domain/Call.ts"
import { finishReasons } from "../../domain/ChatEvent.ts"
import { promptClasses } from "../../domain/PromptClass.ts"
import { matching, storedText, within } from "../validation/SchemaParts.ts"
import { discriminator } from "./Discriminator.ts"
import { sentId } from "./SentId.ts"
import { strict } from "./Strict.ts"
import { timestamp } from "./Times.ts"

/** The records of `/api/projects/{id}/capture` and `/api/capture/samples`. */

const maxRetentionDays = 365
const maxSamplesOfProject = 100_000
const maxWarningCharacters = 2_000

const contentDescription =
  "full: requests and responses are stored as they were sent. fingerprint: no text is stored, only what distinguishes the blocks of a prompt, their sizes and kinds, and names of tools."
const replayDescription =
  "Whether an analysis may, on request, send samples to other models than the one that answered; applies to samples captured from now on."

const rate = within({ type: "number", minimum: 0, maximum: 1 }).annotations({
  description: "Share of conversations that are captured, 0 to 1; each completely or not at all."
})
const retentionDays = within({ type: "integer", minimum: 1, maximum: maxRetentionDays }).annotations({
  description: `Days after which a sample is deleted, 1 to ${maxRetentionDays}; 30 by default.`
})
const maxSamples = within({ type: "integer", minimum: 1, maximum: maxSamplesOfProject }).annotations({
  description: `Maximum number of stored samples, 1 to ${maxSamplesOfProject}; 10,000 by default. Beyond it, complete conversations are deleted.`
})
const content = Schema.Literal("full", "fingerprint").annotations({ description: contentDescription })
const replayAllowed = Schema.Boolean.annotations({ description: replayDescription })
const enabled = Schema.Boolean.annotations({
  description: "Whether calls with `token_doctor: true` are captured."
})
const warning = "Warning for whoever enables the collection."

export const CaptureSettings = Schema.Struct({
  enabled,
  sampling_rate: rate,
  config_version: Schema.NonNegativeInt.annotations({
    description:
      "Number of the current collection window: every change of the settings opens a new one. 0 before the first."
  }),
  retention_days: retentionDays,
  max_samples: maxSamples,
  content_warning: Schema.String.annotations({ description: warning }),
  content,
  replay_allowed: replayAllowed,
  samples_stored: Schema.NonNegativeInt.annotations({
    description: "Samples currently stored, of all windows. Disabling the collection keeps them."
  })
}).annotations({ identifier: "CaptureSettings", description: "What a project captures of calls that opt in." })
export type CaptureSettings = typeof CaptureSettings.Type

export const UpdateCaptureSettings = Schema.Struct({
  enabled,
  sampling_rate: rate,
  config_version: within({ type: "integer", minimum: 0 }).annotations({
    description: "The current version, as it was read; any other is rejected with 409 `config_version_mismatch`."
  }),
  retention_days: Schema.optionalWith(retentionDays, { default: () => 30 }),
  max_samples: Schema.optionalWith(maxSamples, { default: () => 10_000 }),
  content_warning: Schema.optionalWith(
    storedText(maxWarningCharacters).annotations({ description: `${warning} If omitted, the default.` }),
    { exact: true }
  ),
  content: Schema.optionalWith(content, { default: () => "full" as const }),
  replay_allowed: Schema.optionalWith(replayAllowed, { default: () => false })
}).annotations({
  identifier: "UpdateCaptureSettings",
  description: "The new settings; omitted fields get their defaults. `samples_stored` is ignored."
})
export type UpdateCaptureSettings = typeof UpdateCaptureSettings.Type

const object = (description: string) =>
  Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({ description })
const objects = (description: string) =>
  Schema.NullOr(Schema.Array(object("As in chat completions."))).annotations({ description })
const tokens = (description: string) => Schema.NonNegativeInt.annotations({ description: `${description}.` })
const names = (description: string) => Schema.Array(Schema.String).annotations({ description })

const CapturedUsage = Schema.Struct({
  input_tokens: tokens("Prompt tokens neither read from nor written to a cache"),
  cache_read_tokens: tokens("Prompt tokens read from a cache"),
  cache_write_tokens: tokens("Prompt tokens written to a cache"),
  output_tokens: tokens("Completion tokens without reasoning"),
  reasoning_tokens: tokens("Reasoning tokens")
}).annotations({
  identifier: "CapturedUsage",
  description: "Token counts of a call; each token is in exactly one of them."
})

const usageOrNull = Schema.NullOr(CapturedUsage).annotations({ description: "Token counts; null where unknown." })

const CapturedBlock = Schema.Struct({
  id: Schema.String.annotations({
    description: "Equal for blocks of one conversation that differ at most in cache breakpoints; empty where truncated."
  }),
  canonical_id: Schema.String.annotations({
    description:
      "Equal for blocks that differ at most in cache breakpoints, the order of keys, times, dates and UUIDs; empty where truncated."
  }),
  kind: Schema.Literal("tool", "system", "user", "assistant", "tool_result").annotations({
    description: "A tool definition, or the role of a message."
  }),
  bytes: Schema.NonNegativeInt.annotations({ description: "Size of its JSON, in bytes, without media." }),
  tool: Schema.NullOr(Schema.String).annotations({ description: "Name of the tool, for a tool and its results." }),
  looks: Schema.Array(Schema.Literal("json", "json_pretty", "base64", "markup")).annotations({
    description: "Formats recognized in its text."
  }),
  cache_mark: Schema.NullOr(Schema.Literal("5m", "1h")).annotations({
    description:
      "Cache lifetime of the prefix that ends with this block, as the last attempt's provider was asked for it; null where it was sent no cache breakpoint."
  })
}).annotations({ identifier: "CapturedBlock", description: "A block of a prompt, or the response." })

const CapturedMedia = Schema.Struct({
  id: Schema.String.annotations({ description: "Referenced in `messages` by the URL `media:<id>`." }),
  type: Schema.Literal("image", "audio", "file").annotations({ description: "Kind of media." }),
  media_type: Schema.NullOr(Schema.String).annotations({
    description: "Media type, such as image/png; null where unknown."
  }),
  bytes: Schema.NullOr(Schema.NonNegativeInt).annotations({ description: "Size in bytes; null for a URL." }),
  pixels: Schema.NullOr(
    Schema.Struct({
      width: Schema.NonNegativeInt.annotations({ description: "In pixels." }),
      height: Schema.NonNegativeInt.annotations({ description: "In pixels." })
    })
  ).annotations({ description: "Dimensions of an image; null where unknown." })
}).annotations({ identifier: "CapturedMedia", description: "An image, audio or file; its content is not stored." })

const noMessage = "Its `message` is null in a list, and where no text is stored."

const CapturedAttempt = Schema.Struct({
  provider: Schema.String.annotations({ description: "Provider id." }),
  model: Schema.String.annotations({ description: "Concrete model id." }),
  status: CallStatus,
  error: Schema.NullOr(CallError).annotations({
    description: `Null for an attempt that succeeded. ${noMessage}`
  }),
  cost: Cost,
  usage: usageOrNull,
  started_at: timestamp("When it started."),
  latency_ms: Schema.Number.annotations({ description: "From its start to its end, in milliseconds." })
}).annotations({ identifier: "CapturedAttempt", description: "One call to one provider." })

export const Sample = Schema.Struct({
  schema_version: Schema.Literal(1).annotations({ description: "Version of this record." }),
  request_id: Schema.UUID.annotations({ description: "Id of the call, as in `x-request-id`." }),
  captured_at: timestamp("When the call was admitted."),
  window: Schema.Struct({
    config_version: Schema.Int.annotations({ description: "Version of the settings under which it was captured." }),
    sampling_rate: Schema.Number.annotations({ description: "Share of conversations to be captured, 0 to 1." }),
    inclusion: Schema.Number.annotations({
      description: "Probability with which its conversation was captured and is still stored, 0 to 1."
    })
  }).annotations({ description: "The collection window in which it was captured." }),
  key_id: Schema.UUID.annotations({ description: "Id of the project key." }),
  end_user: Schema.NullOr(Schema.String).annotations({
    description: "Keyed hash of the request's `user`; null without one."
  }),
  conversation: Schema.String.annotations({ description: "Hash of the conversation, the same for all its calls." }),
  class: Schema.NullOr(Schema.Literal(...promptClasses)).annotations({
    description: "What the prompt most likely asks for; null for a pinned model."
  }),
  endpoint: Schema.Literal(...endpoints).annotations({ description: "Endpoint of the call." }),
  status: CallStatus,
  error: Schema.NullOr(CallError).annotations({
    description: `Why the call failed; otherwise null. ${noMessage}`
  }),
  request: Schema.Struct({
    messages: objects("In the shape of chat completions; null in a list, where no text is stored, or where truncated."),
    tools: objects("Tool definitions, as for `messages`."),
    blocks: Schema.Array(CapturedBlock).annotations({
      description: "One block per tool, then one per message; empty in a list."
    }),
    params: object(
      "Other parameters of the request. In a list, and where no text is stored, `stopCount` stands for `stop`, of `responseFormat` and `toolChoice` only the type is there, and `textId` is equal where their text is."
    ),
    tools_offered: names("Names of the tools that the request defines."),
    tools_called: names("Names of the tools that the response calls."),
    media: Schema.Array(CapturedMedia).annotations({ description: "Images, audio and files of the prompt." })
  }).annotations({ description: "The request." }),
  candidate_pool: CandidatePool,
  decision: Schema.Struct({
    requested_model: Schema.String.annotations({ description: "The `model` of the request." }),
    reason: Schema.Literal(...routingReasons).annotations({ description: "Why the first candidate was chosen." }),
    alpha: Schema.NullOr(Schema.Number).annotations({
      description: "Quality-versus-cost weight, 0 to 1; null for a pinned model."
    }),
    routing_config: Schema.NullOr(Schema.String).annotations({ description: "Slug of the routing configuration." }),
    policy_version: Schema.Int.annotations({ description: "Version of the project's policy." })
  }).annotations({ description: "What the router decided." }),
  attempts: Schema.Array(CapturedAttempt).annotations({ description: "Every attempt, in order." }),
  response: Schema.NullOr(
    Schema.Struct({
      message: Schema.NullOr(object("As the client would send it back.")).annotations({
        description: "The assistant's message; null in a list, where no text is stored, or where truncated."
      }),
      block: CapturedBlock,
      finish: Schema.NullOr(Schema.Literal(...finishReasons)).annotations({
        description: "Why the model stopped; null where the response did not reach its end."
      })
    })
  ).annotations({ description: "The response; null where none was received." }),
  usage: usageOrNull,
  cost: Cost,
  prices: Schema.NullOr(object("Rates in micro-USD per million tokens.")).annotations({
    description: "Prices at which `usage` was charged; null without usage or prices."
  }),
  latency_ms: Schema.Number.annotations({ description: "From admission to the end, in milliseconds." }),
  first_content_ms: Schema.NullOr(Schema.Number).annotations({
    description: "From admission to the first content, in milliseconds; null where none came or it was not streamed."
  }),
  truncated: Schema.Boolean.annotations({ description: "Whether it was too large, so that its text is not stored." }),
  expires_at: timestamp("When it will be deleted.")
}).annotations({ identifier: "Sample", description: "A captured call." })

export const CaptureSample = Schema.Struct({
  id: Schema.UUID.annotations({ description: "Id of the sample, equal to that of the call." }),
  sample: Sample,
  flow_authorized: Schema.Boolean.annotations({
    description: "Whether its content may be sent to other models than the one that answered."
  })
}).annotations({ identifier: "CaptureSample" })
export type CaptureSample = typeof CaptureSample.Type

export const EraseCaptureRequest = Schema.Union(
  strict({
    target: discriminator("key", "Samples of one project key."),
    key_id: sentId(Schema.UUID, "Id of the key.")
  }),
  strict({
    target: discriminator("end_user", "Samples of one end user."),
    end_user: Schema.String.annotations({ description: "The `user` of the requests, whatever it is." })
  }),
  strict({
    target: discriminator("conversation", "Samples of one conversation."),
    conversation: matching(/^[0-9a-f]{32}$/, "32 hexadecimal digits in small letters").annotations({
      description: "`conversation` of the samples, 32 hex digits."
    })
  }),
  strict({ target: discriminator("project", "All samples of the project, with their encryption keys.") })
).annotations({ identifier: "EraseCaptureRequest", description: "What is to be erased." })
export type EraseCaptureRequest = typeof EraseCaptureRequest.Type

export const EraseCaptureResponse = Schema.Struct({
  erased: Schema.NonNegativeInt.annotations({ description: "Number of samples erased." })
}).annotations({ identifier: "EraseCaptureResponse" })

/** The last line of an export. */
export const CaptureExportEnd = Schema.parseJson(Schema.Struct({ count: Schema.NonNegativeInt, sha256: Schema.String }))
