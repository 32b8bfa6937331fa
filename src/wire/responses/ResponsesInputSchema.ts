import * as Schema from "effect/Schema"
import { MediaUrl } from "../chat/ChatMessageSchema.ts"
import { freeForm, optional } from "../validation/SchemaParts.ts"

export const maxItems = 20_000

const itemId = optional(Schema.String, "Id of the item, as returned; optional.")
const itemStatus = optional(Schema.String, "Status of the item, as returned; optional.")
const callId = Schema.NonEmptyString.annotations({ description: "Pairs a call with its output." })
const breakpoint = optional(freeForm, "Cache breakpoint for providers that support it.")

const InputText = Schema.Struct({
  type: Schema.Literal("input_text", "output_text").annotations({ description: "Text." }),
  text: Schema.String.annotations({ description: "The text." }),
  prompt_cache_breakpoint: breakpoint
}).annotations({ identifier: "ResponsesInputText" })

const InputImage = Schema.Struct({
  type: Schema.Literal("input_image").annotations({ description: "An image." }),
  image_url: MediaUrl.annotations({ description: "An https: or data: URL; never fetched by the gateway." }),
  detail: optional(Schema.String, "Image detail level, such as auto, low or high."),
  prompt_cache_breakpoint: breakpoint
}).annotations({ identifier: "ResponsesInputImage" })

const InputFile = Schema.Struct({
  type: Schema.Literal("input_file").annotations({ description: "A file." }),
  file_data: optional(MediaUrl, "The file as a data: URL, or its https: URL; required unless `file_url` is sent."),
  file_url: optional(MediaUrl, "Alternative to `file_data`, which takes precedence. The gateway never fetches it."),
  filename: optional(Schema.String, "Name of the file."),
  detail: optional(Schema.String, "Not sent to the model: any but auto is named in `dropped_parameters`."),
  prompt_cache_breakpoint: breakpoint
}).annotations({ identifier: "ResponsesInputFile" })

const InputAudio = Schema.Struct({
  type: Schema.Literal("input_audio").annotations({ description: "An audio clip." }),
  input_audio: Schema.Struct({
    data: Schema.String.annotations({ description: "The audio in base64." }),
    format: Schema.Literal("wav", "mp3").annotations({ description: "Format of the audio." })
  }).annotations({ description: "The audio clip." })
}).annotations({ identifier: "ResponsesInputAudio" })

const RefusalPart = Schema.Struct({
  type: Schema.Literal("refusal").annotations({ description: "A refusal of the model." }),
  refusal: Schema.String.annotations({ description: "Its text." })
}).annotations({ identifier: "ResponsesRefusal" })

const userParts = Schema.Union(InputText, InputImage, InputFile, InputAudio)
const messageType = optional(Schema.Literal("message"), "Optional for messages.")
const phase = optional(Schema.String, "Accepted for compatibility; not sent to the model.")

const UserMessage = Schema.Struct({
  type: messageType,
  role: Schema.Literal("user").annotations({ description: "A user message." }),
  content: Schema.Union(Schema.String, Schema.Array(userParts)).annotations({
    description: "A string, or content parts."
  }),
  id: itemId,
  status: itemStatus,
  phase
}).annotations({ identifier: "ResponsesUserMessage" })

const SystemMessage = Schema.Struct({
  type: messageType,
  role: Schema.Literal("system", "developer").annotations({ description: "Instructions." }),
  content: Schema.Union(Schema.String, Schema.Array(InputText)).annotations({
    description: "A string, or text parts."
  }),
  id: itemId,
  status: itemStatus,
  phase
}).annotations({ identifier: "ResponsesSystemMessage" })

const AssistantMessage = Schema.Struct({
  type: messageType,
  role: Schema.Literal("assistant").annotations({ description: "An earlier assistant message." }),
  content: Schema.Union(Schema.String, Schema.Array(Schema.Union(InputText, RefusalPart))).annotations({
    description: "A string, or text and refusal parts."
  }),
  id: itemId,
  status: itemStatus,
  phase
}).annotations({ identifier: "ResponsesAssistantMessage" })

const extraContent = optional(freeForm, "Provider data of the call, as returned.")
const namespace = optional(Schema.String, "Namespace of the tool.")
const toolName = Schema.NonEmptyString.annotations({ description: "Name of the tool." })

const FunctionCall = Schema.Struct({
  type: Schema.Literal("function_call").annotations({ description: "A function call." }),
  call_id: callId,
  name: toolName,
  namespace,
  arguments: Schema.String.annotations({ description: "The arguments, as JSON text." }),
  extra_content: extraContent,
  id: itemId,
  status: itemStatus
}).annotations({ identifier: "ResponsesFunctionCallInput" })

const CustomToolCall = Schema.Struct({
  type: Schema.Literal("custom_tool_call").annotations({ description: "A custom tool call." }),
  call_id: callId,
  name: toolName,
  namespace,
  input: Schema.String.annotations({ description: "The input, as plain text." }),
  extra_content: extraContent,
  id: itemId,
  status: itemStatus
}).annotations({ identifier: "ResponsesCustomToolCallInput" })

const ToolOutput = Schema.Struct({
  type: Schema.Literal("function_call_output", "custom_tool_call_output").annotations({
    description: "The output of an earlier call."
  }),
  call_id: callId,
  output: Schema.Union(Schema.String, Schema.Array(userParts)).annotations({
    description: "A string, or content parts; images and files are sent to the model in a message after the outputs."
  }),
  id: itemId,
  status: itemStatus
}).annotations({ identifier: "ResponsesToolOutput" })

const Reasoning = Schema.Struct({
  type: Schema.Literal("reasoning").annotations({ description: "Reasoning, as returned." }),
  summary: optional(Schema.Array(freeForm), "The summary, as returned."),
  content: optional(Schema.Array(freeForm), "The text, as returned."),
  encrypted_content: optional(
    Schema.String,
    "As returned. Reasoning without a value created by this gateway is ignored."
  ),
  id: itemId,
  status: itemStatus
}).annotations({ identifier: "ResponsesReasoningInput" })

const WebSearchCall = Schema.Struct({
  type: Schema.Literal("web_search_call").annotations({ description: "Ignored, since hosted web search is removed." }),
  id: itemId
}).annotations({ identifier: "ResponsesWebSearchCall" })

export const InputItem = Schema.Union(
  UserMessage,
  SystemMessage,
  AssistantMessage,
  FunctionCall,
  CustomToolCall,
  ToolOutput,
  Reasoning,
  WebSearchCall
).annotations({
  identifier: "ResponsesInputItem",
  description: "An item of the conversation. References to stored items are rejected: nothing is stored."
})
