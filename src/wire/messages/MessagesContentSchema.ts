import * as Schema from "effect/Schema"
import { freeForm, optional } from "../validation/SchemaParts.ts"

const CacheControl = Schema.Struct({
  type: Schema.Literal("ephemeral").annotations({ description: "The only cache type." }),
  ttl: optional(
    Schema.Literal("5m", "1h"),
    "Cache lifetime; 5m by default. 1h is sent only where its price is known, or the project pays its providers itself."
  )
}).annotations({
  identifier: "MessagesCacheControl",
  description: "Cache breakpoint: ends a cached prefix of the prompt, at providers that support it."
})

export const cacheControl = optional(
  CacheControl,
  "Cache breakpoint: ends a cached prefix of the prompt after this block."
)

const TextBlock = Schema.Struct({
  type: Schema.Literal("text").annotations({ description: "Text." }),
  text: Schema.String.annotations({ description: "The text." }),
  cache_control: cacheControl
}).annotations({ identifier: "MessagesTextBlock" })

const ImageSource = Schema.Union(
  Schema.Struct({
    type: Schema.Literal("base64").annotations({ description: "The image itself." }),
    media_type: Schema.Literal("image/jpeg", "image/png", "image/gif", "image/webp").annotations({
      description: "Format of the image."
    }),
    data: Schema.NonEmptyString.annotations({ description: "The image in base64." })
  }),
  Schema.Struct({
    type: Schema.Literal("url").annotations({ description: "URL of the image." }),
    url: Schema.String.annotations({ description: "An https: URL. The gateway never fetches it." })
  })
).annotations({ identifier: "MessagesImageSource" })

const ImageBlock = Schema.Struct({
  type: Schema.Literal("image").annotations({ description: "An image." }),
  source: ImageSource.annotations({ description: "Source of the image." }),
  cache_control: cacheControl
}).annotations({ identifier: "MessagesImageBlock" })

const DocumentSource = Schema.Union(
  Schema.Struct({
    type: Schema.Literal("base64").annotations({ description: "The document itself." }),
    media_type: Schema.Literal("application/pdf").annotations({ description: "Format of the document." }),
    data: Schema.NonEmptyString.annotations({ description: "The document in base64." })
  }),
  Schema.Struct({
    type: Schema.Literal("text").annotations({ description: "Plain text." }),
    media_type: Schema.Literal("text/plain").annotations({ description: "Format of the document." }),
    data: Schema.String.annotations({ description: "The text." })
  }),
  Schema.Struct({
    type: Schema.Literal("content").annotations({ description: "Content blocks that form the document." }),
    content: Schema.Union(Schema.String, Schema.Array(Schema.Union(TextBlock, ImageBlock))).annotations({
      description: "A string, or text and image blocks."
    })
  }),
  Schema.Struct({
    type: Schema.Literal("url").annotations({ description: "URL of the document." }),
    url: Schema.String.annotations({ description: "An https: URL. The gateway never fetches it." })
  })
).annotations({ identifier: "MessagesDocumentSource" })

const DocumentBlock = Schema.Struct({
  type: Schema.Literal("document").annotations({ description: "A document." }),
  source: DocumentSource.annotations({ description: "Source of the document." }),
  title: optional(Schema.String, "Title of the document."),
  context: optional(Schema.String, "Not sent to the model, and named in `dropped_parameters`."),
  citations: optional(freeForm, "Not supported: the response has no citations. Named in `dropped_parameters`."),
  cache_control: cacheControl
}).annotations({ identifier: "MessagesDocumentBlock" })

const SearchResultBlock = Schema.Struct({
  type: Schema.Literal("search_result").annotations({ description: "A search result of the client." }),
  source: Schema.String.annotations({ description: "Source of the search result." }),
  title: Schema.String.annotations({ description: "Title of the search result." }),
  content: Schema.Array(TextBlock).annotations({
    description: "Content of the search result; sent to the model as text."
  }),
  citations: optional(freeForm, "Not supported: the response has no citations. Named in `dropped_parameters`."),
  cache_control: cacheControl
}).annotations({ identifier: "MessagesSearchResultBlock" })

const ToolResultBlock = Schema.Struct({
  type: Schema.Literal("tool_result").annotations({ description: "The result of a tool call." }),
  tool_use_id: Schema.NonEmptyString.annotations({ description: "The id of the call in the preceding turn." }),
  content: optional(
    Schema.Union(Schema.String, Schema.Array(Schema.Union(TextBlock, ImageBlock, DocumentBlock, SearchResultBlock))),
    "Result of the tool."
  ),
  is_error: optional(Schema.Boolean, "Whether the tool failed."),
  cache_control: cacheControl
}).annotations({ identifier: "MessagesToolResultBlock" })

const ReasoningBlock = Schema.Struct({
  type: Schema.Literal("thinking").annotations({ description: "The model's reasoning, as returned." }),
  thinking: Schema.String.annotations({ description: "The reasoning; may be empty." }),
  signature: Schema.String.annotations({
    description: "As returned. It identifies the model that reasoned; the block is sent to no other model."
  })
}).annotations({ identifier: "MessagesThinkingBlock" })

const RedactedBlock = Schema.Struct({
  type: Schema.Literal("redacted_thinking").annotations({ description: "Reasoning that only its model can read." }),
  data: Schema.String.annotations({ description: "As returned." })
}).annotations({ identifier: "MessagesRedactedThinkingBlock" })

const ToolUseBlock = Schema.Struct({
  type: Schema.Literal("tool_use").annotations({ description: "A tool call." }),
  id: Schema.NonEmptyString.annotations({ description: "Id of the call; its result refers to this id." }),
  name: Schema.NonEmptyString.annotations({ description: "Name of the tool." }),
  input: freeForm.annotations({ description: "The arguments." }),
  extra_content: optional(freeForm, "Opaque provider data (reasoning signatures); send it back unchanged."),
  cache_control: cacheControl
}).annotations({ identifier: "MessagesToolUseBlock" })

const UserMessage = Schema.Struct({
  role: Schema.Literal("user").annotations({ description: "A user message." }),
  content: Schema.Union(
    Schema.String,
    Schema.NonEmptyArray(Schema.Union(TextBlock, ImageBlock, DocumentBlock, SearchResultBlock, ToolResultBlock))
  ).annotations({ description: "A string, or content blocks: text, images, documents, and tool results." })
}).annotations({ identifier: "MessagesUserMessage" })

const AssistantMessage = Schema.Struct({
  role: Schema.Literal("assistant").annotations({ description: "An assistant message." }),
  content: Schema.Union(
    Schema.String,
    Schema.Array(Schema.Union(TextBlock, ReasoningBlock, RedactedBlock, ToolUseBlock))
  ).annotations({ description: "A string, or content blocks as returned." })
}).annotations({ identifier: "MessagesAssistantMessage" })

export const systemContent = Schema.Union(Schema.String, Schema.Array(TextBlock))

const SystemMessage = Schema.Struct({
  role: Schema.Literal("system").annotations({ description: "Instructions within the conversation." }),
  content: systemContent.annotations({ description: "The instructions." })
}).annotations({ identifier: "MessagesSystemMessage" })

export const InputMessage = Schema.Union(UserMessage, AssistantMessage, SystemMessage).annotations({
  identifier: "MessagesInputMessage",
  description: "One message of the conversation."
})
