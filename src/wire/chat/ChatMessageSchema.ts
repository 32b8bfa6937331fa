import * as Schema from "effect/Schema"
import { allowed, freeForm, nonEmptyText, optional } from "../validation/SchemaParts.ts"

const breakpoint = optional(freeForm, "Cache breakpoint for providers that support it.")

const TextPart = Schema.Struct({
  type: Schema.Literal("text").annotations({ description: "Marks a text part." }),
  text: Schema.String.annotations({ description: "The text." }),
  prompt_cache_breakpoint: breakpoint
}).annotations({ identifier: "TextPart" })

const RefusalPart = Schema.Struct({
  type: Schema.Literal("refusal").annotations({ description: "Marks a refusal part." }),
  refusal: Schema.String.annotations({ description: "Text of the model's refusal." })
}).annotations({ identifier: "RefusalPart" })

export const MediaUrl = Schema.String.pipe(
  Schema.filter((url) => isMediaUrl(url), {
    title: "an https: or data: URL",
    jsonSchema: { pattern: "^([hH][tT][tT][pP][sS]|[dD][aA][tT][aA]):" }
  })
)
/**
 * An image or a file: inline, or at an address that a provider may fetch. The gateway never fetches it; a provider that does not
 * support this kind of URL is not eligible.
 */
export const isMediaUrl = (url: string): boolean => /^(?:https|data):/i.test(url)

const ImagePart = Schema.Struct({
  type: Schema.Literal("image_url").annotations({ description: "Marks an image part." }),
  image_url: Schema.Struct({
    url: MediaUrl.annotations({ description: "An https: or data: URL of the image. The gateway never fetches it." }),
    detail: optional(Schema.String, "Image detail level: auto, low or high.")
  }).annotations({ description: "The image." }),
  prompt_cache_breakpoint: breakpoint
}).annotations({ identifier: "ImagePart" })

const AudioPart = Schema.Struct({
  type: Schema.Literal("input_audio").annotations({ description: "Marks an audio part." }),
  input_audio: Schema.Struct({
    data: Schema.String.annotations({ description: "The audio in base64." }),
    format: Schema.String.annotations({ description: "Audio format, such as wav or mp3." })
  }).annotations({ description: "The audio." }),
  prompt_cache_breakpoint: breakpoint
}).annotations({ identifier: "AudioPart" })

const FilePart = Schema.Struct({
  type: Schema.Literal("file").annotations({ description: "Marks a file part." }),
  file: Schema.Struct({
    filename: optional(Schema.String, "Name of the file."),
    file_data: optional(
      MediaUrl,
      "The file as a data: URL, or its https: URL, which the gateway never fetches; required unless `file_id` is sent."
    ),
    file_id: optional(Schema.String, "Id of a file stored at the provider.")
  }).pipe(
    Schema.filter((file) => (isEmptyFile(file) ? { path: ["file_data"], message: fileRule } : undefined), {
      jsonSchema: {}
    }),
    Schema.annotations({ description: "The file." })
  ),
  prompt_cache_breakpoint: breakpoint
}).annotations({ identifier: "FilePart" })
const fileRule = "a file needs its data or the id under which its provider has it"

/** True for a file part without a file. */
export const isEmptyFile = (file: {
  readonly file_data?: string | null | undefined
  readonly file_id?: string | null | undefined
}): boolean => (file.file_data ?? null) === null && (file.file_id ?? null) === null

const name = optional(Schema.String, "Distinguishes participants of the same role.")

const textContent = Schema.Union(Schema.String, Schema.Array(TextPart))

const systemMessage = <R extends "developer" | "system">(role: R) =>
  Schema.Struct({
    role: Schema.Literal(role).annotations({ description: "Role of the message." }),
    content: textContent.annotations({ description: "The instructions." }),
    name
  })
const DeveloperMessage = systemMessage("developer").annotations({ identifier: "DeveloperMessage" })
const SystemMessage = systemMessage("system").annotations({ identifier: "SystemMessage" })

const UserMessage = Schema.Struct({
  role: Schema.Literal("user").annotations({ description: "Role of the message." }),
  content: Schema.Union(
    Schema.String,
    Schema.Array(Schema.Union(TextPart, ImagePart, AudioPart, FilePart))
  ).annotations({ description: "Content of the message: text, images, audio or files." }),
  name
}).annotations({ identifier: "UserMessage" })

export const ToolCall = Schema.Union(
  Schema.Struct({
    id: Schema.String.annotations({ description: "Id of the call; its result refers to this id." }),
    type: Schema.Literal("function").annotations({ description: "A function tool call." }),
    function: Schema.Struct({
      name: Schema.String.annotations({ description: "Name of the function." }),
      arguments: Schema.String.annotations({ description: "Arguments as JSON text, not necessarily valid." })
    }).annotations({ description: "The function to call." }),
    extra_content: optional(freeForm, "Opaque provider data (reasoning signatures); send it back unchanged.")
  }),
  Schema.Struct({
    id: Schema.String.annotations({ description: "Id of the call; its result refers to this id." }),
    type: Schema.Literal("custom").annotations({ description: "A custom tool call." }),
    custom: Schema.Struct({
      name: Schema.String.annotations({ description: "Name of the tool." }),
      input: Schema.String.annotations({ description: "Input as free text." })
    }).annotations({ description: "The custom tool to call." }),
    extra_content: optional(freeForm, "Opaque provider data (reasoning signatures); send it back unchanged.")
  })
).annotations({ identifier: "ToolCall" })

export const ReasoningDetail = Schema.Struct({
  type: Schema.Literal("reasoning.text", "reasoning.summary", "reasoning.encrypted").annotations({
    description: "Which of `text`, `summary` and `data` holds the reasoning."
  }),
  text: optional(Schema.String, "The reasoning text."),
  summary: optional(Schema.String, "A summary of the reasoning."),
  data: optional(Schema.String, "The reasoning, encrypted so that only its provider can read it."),
  signature: optional(Schema.String, "The provider's signature of the block."),
  format: optional(
    Schema.String,
    "Concrete id of the model that produced the block; its signature is valid for this model only."
  ),
  provider_format: optional(
    Schema.String,
    "The provider's name for the encoding of the block; send it back unchanged."
  ),
  id: optional(Schema.String, "The provider's id of the block."),
  index: optional(Schema.Number.pipe(allowed({ type: "integer", minimum: 0 })), "Position of the block, from 0.")
}).annotations({ identifier: "ReasoningDetail", description: "One block of a model's reasoning." })

const AssistantMessage = Schema.Struct({
  role: Schema.Literal("assistant").annotations({ description: "Role of the message." }),
  content: optional(
    Schema.Union(Schema.String, Schema.Array(Schema.Union(TextPart, RefusalPart))),
    "Content of the message; required unless it has tool calls, a refusal or audio."
  ),
  refusal: optional(Schema.String, "Text of the model's refusal."),
  name,
  tool_calls: optional(Schema.Array(ToolCall), "The tools that the model called."),
  audio: optional(
    Schema.Struct({ id: Schema.String.annotations({ description: "Id of an earlier audio output." }) }),
    "Refers to an earlier audio output."
  ),
  reasoning_content: optional(Schema.String, "The model's reasoning, as returned."),
  reasoning: optional(Schema.String, "The model's reasoning, as returned."),
  reasoning_details: optional(Schema.Array(ReasoningDetail), "The model's reasoning block by block, as returned.")
}).pipe(
  Schema.filter((message) => (isEmptyMessage(message) ? { path: ["content"], message: contentRule } : undefined), {
    jsonSchema: {}
  }),
  Schema.annotations({ identifier: "AssistantMessage" })
)
const contentRule =
  "an assistant message needs content unless it has 'tool_calls', a refusal or audio ('function_call' is not supported)"

/** True for an assistant message without content, refusal, audio and tool calls. */
export const isEmptyMessage = (message: {
  readonly content?: unknown
  readonly refusal?: string | null | undefined
  readonly tool_calls?: ReadonlyArray<unknown> | null | undefined
  readonly audio?: unknown
}): boolean =>
  (message.content ?? null) === null &&
  (message.refusal ?? null) === null &&
  (message.audio ?? null) === null &&
  (message.tool_calls ?? []).length === 0

const ToolMessage = Schema.Struct({
  role: Schema.Literal("tool").annotations({ description: "Role of the message." }),
  content: textContent.annotations({ description: "The result of the call." }),
  tool_call_id: Schema.String.annotations({ description: "Id of the call that this result belongs to." })
}).annotations({ identifier: "ToolMessage" })

export const Message = Schema.Union(
  DeveloperMessage,
  SystemMessage,
  UserMessage,
  AssistantMessage,
  ToolMessage
).annotations({ identifier: "Message", description: "One message of the conversation." })

/** Providers have narrower rules; this bound rejects only names that no provider supports. */
export const maxToolNameCharacters = 256

const toolName = nonEmptyText(maxToolNameCharacters).annotations({ description: "Name of the tool, unique." })

export const ToolDefinition = Schema.Union(
  Schema.Struct({
    type: Schema.Literal("function").annotations({ description: "A tool with a JSON schema." }),
    function: Schema.Struct({
      name: toolName,
      description: optional(Schema.String, "Describes the function to the model."),
      parameters: optional(freeForm, "JSON schema of the arguments."),
      strict: optional(Schema.Boolean, "Enforce the schema on the arguments, where the provider supports it.")
    }).annotations({ description: "The function." })
  }),
  Schema.Struct({
    type: Schema.Literal("custom").annotations({ description: "A tool with free text as input." }),
    custom: Schema.Struct({
      name: toolName,
      description: optional(Schema.String, "Describes the tool to the model."),
      format: optional(freeForm, "Grammar of the input.")
    }).annotations({ description: "The tool." })
  })
).annotations({ identifier: "ToolDefinition" })
