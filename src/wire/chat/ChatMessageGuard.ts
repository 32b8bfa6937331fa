import type {
  AssistantMessage,
  AudioPart,
  FilePart,
  ImagePart,
  Message,
  ReasoningDetail,
  RefusalPart,
  SystemMessage,
  TextPart,
  Tool,
  ToolCall,
  ToolMessage,
  UserMessage,
  UserPart
} from "../../domain/Chat.ts"
import type { Guard } from "../validation/Guard.ts"
import * as G from "../validation/Guard.ts"
import { hasAtMost } from "../validation/SchemaParts.ts"
import { isEmptyFile, isEmptyMessage, isMediaUrl, maxToolNameCharacters } from "./ChatMessageSchema.ts"

/** Chat completions has no marks of its own for cached blocks, no results that are not text, and one order of blocks. */
type InChat<A> = Omit<A, "cache_control" | "is_error" | "order">

const textPart = G.struct<InChat<TextPart>>({
  type: G.required(G.literal("text")),
  text: G.required(G.string),
  prompt_cache_breakpoint: G.nullable(G.jsonObject)
})

const refusalPart = G.struct<RefusalPart>({
  type: G.required(G.literal("refusal")),
  refusal: G.required(G.string)
})

const mediaUrl = G.where(G.string, (url) => (isMediaUrl(url) ? undefined : []))

const imagePart = G.struct<InChat<ImagePart>>({
  type: G.required(G.literal("image_url")),
  image_url: G.required(
    G.struct<ImagePart["image_url"]>({
      url: G.required(mediaUrl),
      detail: G.optional(G.string)
    })
  ),
  prompt_cache_breakpoint: G.nullable(G.jsonObject)
})

const audioPart = G.struct<AudioPart>({
  type: G.required(G.literal("input_audio")),
  input_audio: G.required(
    G.struct<AudioPart["input_audio"]>({ data: G.required(G.string), format: G.required(G.string) })
  ),
  prompt_cache_breakpoint: G.nullable(G.jsonObject)
})

const filePart = G.struct<InChat<FilePart>>({
  type: G.required(G.literal("file")),
  file: G.required(
    G.where(
      G.struct<FilePart["file"]>({
        filename: G.optional(G.string),
        file_data: G.optional(mediaUrl),
        file_id: G.optional(G.string)
      }),
      (file) => (isEmptyFile(file) ? [] : undefined)
    )
  ),
  prompt_cache_breakpoint: G.nullable(G.jsonObject)
})

const textContent = G.either(G.string, G.array(G.tagged<TextPart>("type", { text: textPart })))

const systemMessage = G.struct<SystemMessage>({
  role: G.required(G.literal("developer", "system")),
  content: G.required(textContent),
  name: G.optional(G.string)
})

const userMessage = G.struct<UserMessage>({
  role: G.required(G.literal("user")),
  content: G.required(
    G.either(
      G.string,
      G.array(
        G.tagged<UserPart>("type", { text: textPart, image_url: imagePart, input_audio: audioPart, file: filePart })
      )
    )
  ),
  name: G.optional(G.string)
})

const toolCall = G.tagged<ToolCall>("type", {
  function: G.struct<InChat<Extract<ToolCall, { type: "function" }>>>({
    id: G.required(G.string),
    type: G.required(G.literal("function")),
    function: G.required(
      G.struct<{ readonly name: string; readonly arguments: string }>({
        name: G.required(G.string),
        arguments: G.required(G.string)
      })
    ),
    extra_content: G.nullable(G.jsonObject)
  }),
  custom: G.struct<Extract<ToolCall, { type: "custom" }>>({
    id: G.required(G.string),
    type: G.required(G.literal("custom")),
    custom: G.required(
      G.struct<{ readonly name: string; readonly input: string }>({
        name: G.required(G.string),
        input: G.required(G.string)
      })
    ),
    extra_content: G.nullable(G.jsonObject)
  })
})

const toolCalls = G.array(toolCall)
/** Some clients send an empty list when there are no calls; providers reject an empty list. */
const someToolCalls: Guard<ReadonlyArray<ToolCall> | undefined> = (value, trail) => {
  const checked = toolCalls(value, trail)
  return checked !== G.rejected && checked.length === 0 ? undefined : checked
}

const reasoningDetail = G.struct<ReasoningDetail>({
  type: G.required(G.literal("reasoning.text", "reasoning.summary", "reasoning.encrypted")),
  text: G.nullable(G.string),
  summary: G.nullable(G.string),
  data: G.nullable(G.string),
  signature: G.nullable(G.string),
  format: G.nullable(G.string),
  provider_format: G.nullable(G.string),
  id: G.nullable(G.string),
  index: G.nullable(G.integer(0))
})

const assistantMessage = G.where(
  G.struct<InChat<AssistantMessage>>({
    role: G.required(G.literal("assistant")),
    content: G.nullable(
      G.either(G.string, G.array(G.tagged<TextPart | RefusalPart>("type", { text: textPart, refusal: refusalPart })))
    ),
    refusal: G.nullable(G.string),
    name: G.optional(G.string),
    tool_calls: G.optional(someToolCalls),
    audio: G.nullable(G.struct<{ readonly id: string }>({ id: G.required(G.string) })),
    reasoning_content: G.nullable(G.string),
    reasoning: G.nullable(G.string),
    reasoning_details: G.nullable(G.array(reasoningDetail))
  }),
  (message) => (isEmptyMessage(message) ? [] : undefined)
)

const toolMessage = G.struct<InChat<ToolMessage>>({
  role: G.required(G.literal("tool")),
  content: G.required(textContent),
  tool_call_id: G.required(G.string)
})

export const message = G.tagged<Message>("role", {
  developer: systemMessage,
  system: systemMessage,
  user: userMessage,
  assistant: assistantMessage,
  tool: toolMessage
})

const toolName = G.where(G.string, (name) =>
  name.length > 0 && hasAtMost(name, maxToolNameCharacters) ? undefined : []
)

type FunctionTool = Extract<Tool, { type: "function" }>
type CustomTool = Extract<Tool, { type: "custom" }>

export const tool = G.tagged<Tool>("type", {
  function: G.struct<InChat<FunctionTool>>({
    type: G.required(G.literal("function")),
    function: G.required(
      G.struct<FunctionTool["function"]>({
        name: G.required(toolName),
        description: G.optional(G.string),
        parameters: G.optional(G.jsonObject),
        strict: G.nullable(G.boolean)
      })
    )
  }),
  custom: G.struct<CustomTool>({
    type: G.required(G.literal("custom")),
    custom: G.required(
      G.struct<CustomTool["custom"]>({
        name: G.required(toolName),
        description: G.optional(G.string),
        format: G.optional(G.jsonObject)
      })
    )
  })
})
