import * as Schema from "effect/Schema"
import { CallError, Cost } from "../../domain/Call.ts"
import { efforts } from "../../domain/Chat.ts"
import { MessageId, ProjectId } from "../../domain/Ids.ts"
import { allowed, listOf, matching, nonEmptyText, storedName, storedText, within } from "../validation/SchemaParts.ts"
import { cursorOfList, cursorParameter, limitParameter, pageOf } from "./Page.ts"
import { sentBoolean } from "./SentBoolean.ts"
import { sentId } from "./SentId.ts"
import { strict } from "./Strict.ts"
import { timestamp } from "./Times.ts"

/** The records of `/api/chat`. */

/** Halves of surrogate pairs are replaced where it is written: text that was cut elsewhere is text. */
const withoutNul = Schema.pattern<typeof Schema.String>(/^[^\0]*$/, { message: () => "Expected text without NUL" })
const id = (description: string) => Schema.UUID.annotations({ description })
const orNull = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.NullOr(schema).annotations({ description })

const maxTitleCharacters = 200
export const maxFilenameCharacters = 200
const maxImagesPerMessage = 8
/** The body of a request is bounded by 1 MiB, too. */
const maxQuestionCharacters = 1024 * 1024
const maxModelCharacters = 300

const titled = (description: string) => storedName(maxTitleCharacters, description)

export const ChatProjectOut = Schema.Struct({
  id: ProjectId.annotations({ description: "Id of the project." }),
  name: Schema.String.annotations({ description: "Name of the project." })
}).annotations({ identifier: "ChatProjectOut", description: "A project that can pay for conversations." })

export const ChatProjectsPage = pageOf("ChatProjectsPage", ChatProjectOut)

export const ChatModelOut = Schema.Struct({
  id: Schema.String.annotations({ description: "Value to send as `model`." }),
  provider: Schema.String.annotations({ description: "Id of its provider; `gateway` for `auto` and `auto:<slug>`." })
}).annotations({ identifier: "ChatModelOut", description: "A model that a conversation may use." })
export type ChatModelOut = typeof ChatModelOut.Type

export const ChatModelsPage = pageOf(
  "ChatModelsPage",
  ChatModelOut,
  "`auto` first, then routing configurations, then models by id"
)

export const ChatImageOut = Schema.Struct({
  id: id("Id of the image."),
  filename: Schema.String.annotations({ description: "File name, as uploaded." }),
  media_type: Schema.String.annotations({ description: "Media type, detected from the content." }),
  size_bytes: Schema.Int.annotations({ description: "Size, in bytes." }),
  url: Schema.String.annotations({ description: "URL of the image; valid for some hours, without authentication." })
}).annotations({ identifier: "ChatImageOut", description: "An image of a message." })
export type ChatImageOut = typeof ChatImageOut.Type

export const ChatArtifactOut = Schema.Struct({
  id: id("Id of the artifact."),
  name: Schema.String.annotations({ description: "Name, unique in its conversation." }),
  media_type: Schema.String.annotations({ description: "Media type of this version." }),
  size_bytes: Schema.Int.annotations({ description: "Size of this version, in bytes of UTF-8." }),
  version: Schema.Int.annotations({ description: "Number of the version, from 1." }),
  created_at: timestamp("When its first version was created."),
  updated_at: timestamp("When this version was created."),
  content_url: Schema.String.annotations({
    description: "URL of this version for display in a frame; valid for some hours, without authentication."
  }),
  download_url: Schema.String.annotations({
    description: "URL for downloading this version as a file; valid for some hours, without authentication."
  })
}).annotations({ identifier: "ChatArtifactOut", description: "A version of a document created in a conversation." })
export type ChatArtifactOut = typeof ChatArtifactOut.Type

export const ChatArtifactVersionsPage = pageOf("ChatArtifactVersionsPage", ChatArtifactOut)

export const maxArtifactBytes = 1024 * 1024

/** What an artifact is written with, by a model or by a person. */
export const artifactFields = {
  name: nonEmptyText(200)
    .pipe(
      Schema.pattern(/^[^\p{Cc}\p{Surrogate}/\\]+$/u, {
        message: () => "Expected a file name without slashes and control characters"
      })
    )
    .annotations({
      description: "File name, unique in its conversation: 1 to 200 characters, none of them a slash."
    }),
  media_type: matching(
    /^[a-z]+[/][a-z0-9.+-]{1,100}$/,
    "a media type in small letters without parameters, such as text/html"
  ).annotations({
    description: "Media type without parameters, such as `text/html`."
  }),
  content: Schema.String.pipe(
    withoutNul,
    Schema.filter((content) => Buffer.byteLength(content) <= maxArtifactBytes, {
      message: () => `Expected at most ${maxArtifactBytes} bytes of UTF-8`
    })
  ).annotations({ description: "The complete text, at most 1 MiB of UTF-8." })
} as const

export const SaveArtifactRequest = strict(artifactFields).annotations({ identifier: "SaveArtifactRequest" })
export type SaveArtifactRequest = typeof SaveArtifactRequest.Type

export const RestoreArtifactRequest = strict({
  version: within({ type: "integer", minimum: 1, maximum: 1_000 }).annotations({
    description: "Number of the version, from 1."
  })
}).annotations({ identifier: "RestoreArtifactRequest" })

export const artifactActions = ["created", "updated", "restored", "deleted"] as const
export const ChatArtifactEventOut = Schema.Struct({
  action: Schema.Literal(...artifactActions).annotations({ description: "What happened to the artifact." }),
  artifact: ChatArtifactOut.annotations({ description: "The artifact at that time." })
}).annotations({ identifier: "ChatArtifactEventOut" })
export type ChatArtifactEventOut = typeof ChatArtifactEventOut.Type

export const messageRoles = ["user", "assistant"] as const
export const messageStatuses = ["complete", "streaming", "stopped", "failed", "interrupted"] as const
const Role = Schema.Literal(...messageRoles).annotations({ description: "Author of the message." })
const Status = Schema.Literal(...messageStatuses).annotations({
  description:
    "complete. streaming: content is still being appended. stopped: by the user. failed: see `error`. interrupted: the gateway stopped before it was complete."
})

/** What a message is, in each of its versions. */
const versioned = {
  id: id("Id of the message."),
  content: Schema.String.annotations({ description: "Text; append-only while streaming." }),
  status: Status,
  created_at: timestamp("When it was created."),
  model_requested: orNull(Schema.String, "Requested `model` of an answer; null for a question."),
  model_used: orNull(Schema.String, "Id of the model that answered; null until then, and for a question."),
  request_ids: Schema.Array(Schema.UUID).annotations({
    description: "Ids of the calls of an answer, in order, for `GET /api/requests/{id}`."
  }),
  reasoning: Schema.String.annotations({ description: "Reasoning that the model returned." }),
  finish_reason: orNull(Schema.String, "Why the model stopped; null until then."),
  error: orNull(CallError, "Why the answer failed; otherwise null."),
  cost: orNull(Cost, "Amount charged so far for the calls of an answer; null for a question.")
}

const ChatMessageVersionOut = Schema.Struct(versioned).annotations({
  identifier: "ChatMessageVersionOut",
  description: "An earlier version of a message that was edited or regenerated."
})

export const ChatMessageOut = Schema.Struct({
  ...versioned,
  role: Role,
  position: Schema.Int.annotations({ description: "Position in the conversation, from 0." }),
  images: Schema.Array(ChatImageOut).annotations({ description: "The images of a question." }),
  artifact_events: Schema.Array(ChatArtifactEventOut).annotations({
    description: "Changes of artifacts during this message, or after it and before the next, in order."
  }),
  versions: Schema.Array(ChatMessageVersionOut).annotations({ description: "Earlier versions, oldest first." })
}).annotations({ identifier: "ChatMessageOut", description: "A message of a conversation." })
export type ChatMessageOut = typeof ChatMessageOut.Type

const conversation = {
  id: id("Id of the conversation."),
  project_id: ProjectId.annotations({ description: "The project that pays." }),
  title: Schema.String.annotations({ description: "Title; by default the beginning of the first question." }),
  created_at: timestamp("When it was created."),
  updated_at: timestamp("When the last message was created or the title changed."),
  running: Schema.Boolean.annotations({ description: "Whether an answer is being generated." })
}

export const ConversationOut = Schema.Struct(conversation).annotations({ identifier: "ConversationOut" })
export type ConversationOut = typeof ConversationOut.Type

export const ConversationDetailOut = Schema.Struct({
  ...conversation,
  messages: Schema.Array(ChatMessageOut).annotations({ description: "The messages, ordered by `position`." }),
  artifacts: Schema.Array(ChatArtifactOut).annotations({
    description: "The latest version of each artifact, ordered by name."
  })
}).annotations({ identifier: "ConversationDetailOut", description: "A conversation with its messages and artifacts." })
export type ConversationDetailOut = typeof ConversationDetailOut.Type

export const ConversationPageOut = Schema.Struct({
  items: Schema.Array(ConversationOut).annotations({ description: "The conversations, most recently updated first." }),
  has_more: Schema.Boolean.annotations({ description: "Whether more conversations follow." }),
  next_cursor: orNull(Schema.String, "`cursor` of the next page; null on the last page.")
}).annotations({ identifier: "ConversationPageOut" })

const maxQueryCharacters = 200
const maxMillis = 8_640_000_000_000_000

/** The time and the id of the last conversation before the page. */
const CursorPosition = Schema.parseJson(
  Schema.Tuple(within({ type: "integer", minimum: 0, maximum: maxMillis }), Schema.UUID)
)
const ConversationCursor = cursorOfList("conversations", CursorPosition)
export const conversationCursor = Schema.encodeSync(ConversationCursor)

export const ConversationParameters = Schema.Struct({
  limit: limitParameter,
  cursor: cursorParameter(ConversationCursor),
  project_id: Schema.optional(sentId(ProjectId, "Only conversations that this project pays for.")),
  q: Schema.optional(
    storedText(maxQueryCharacters, 0).annotations({ description: "Only conversations whose title contains this text." })
  ),
  running: Schema.optional(
    sentBoolean("`true`: only conversations in which an answer is being generated; `false`: only the others.")
  )
})
export type ConversationParameters = typeof ConversationParameters.Type

const ChatModelsCursor = cursorOfList(
  "chat-models",
  Schema.String.pipe(Schema.minLength(1), Schema.maxLength(maxModelCharacters))
)
export const chatModelsCursor = Schema.encodeSync(ChatModelsCursor)

/** The number of the last version before the page. */
const ArtifactVersionsCursor = cursorOfList("artifact-versions", Schema.compose(Schema.NumberFromString, Schema.Int))
export const artifactVersionsCursor = Schema.encodeSync(ArtifactVersionsCursor)

export const ArtifactVersionsParameters = Schema.Struct({
  limit: limitParameter,
  cursor: cursorParameter(ArtifactVersionsCursor)
})

export const ChatModelsParameters = Schema.Struct({
  project_id: sentId(ProjectId, "The project that pays."),
  limit: limitParameter,
  cursor: cursorParameter(ChatModelsCursor)
})

export const CreateConversationRequest = strict({
  project_id: sentId(ProjectId, "The project that pays."),
  title: Schema.optionalWith(
    titled(`Title, 1 to ${maxTitleCharacters} characters; by default the beginning of the first question.`),
    { exact: true }
  )
}).annotations({ identifier: "CreateConversationRequest" })
export type CreateConversationRequest = typeof CreateConversationRequest.Type

export const UpdateConversationRequest = strict({
  title: titled(`Title, 1 to ${maxTitleCharacters} characters.`)
}).annotations({ identifier: "UpdateConversationRequest" })

const exact = { exact: true } as const

/** How an answer is asked for. */
const answerSettings = {
  model: storedText(maxModelCharacters).annotations({
    description: "`auto`, `auto:<slug>`, or the id of a model."
  }),
  alpha: Schema.optionalWith(
    Schema.Number.pipe(
      allowed({
        type: "number",
        minimum: 0,
        maximum: 1,
        description: "Quality-versus-cost weight for `auto`: 0 is cheapest, 1 is highest quality."
      })
    ),
    exact
  ),
  effort: Schema.optionalWith(Schema.Literal(...efforts).annotations({ description: "Reasoning effort." }), exact),
  system: Schema.optionalWith(storedText(100_000, 0).annotations({ description: "System instructions." }), exact),
  temperature: Schema.optionalWith(
    Schema.Number.pipe(
      allowed({ type: "number", minimum: 0, maximum: 2, description: "Sampling temperature, 0 to 2." })
    ),
    exact
  ),
  max_completion_tokens: Schema.optionalWith(
    Schema.Number.pipe(
      allowed({
        type: "integer",
        minimum: 1,
        description: "Maximum completion tokens of each call of the answer."
      })
    ),
    exact
  ),
  artifacts: Schema.optionalWith(Schema.Boolean, { default: () => true, exact: true }).annotations({
    description: "Whether the model may write artifacts, if it can call tools; default true."
  })
}

/** As it is kept with an answer. */
export const AnswerSettings = Schema.Struct(answerSettings)
export type AnswerSettings = typeof AnswerSettings.Type

const question = nonEmptyText(maxQuestionCharacters).pipe(withoutNul).annotations({
  description: "The question."
})
const imageIds = listOf(sentId(Schema.UUID, "Id of an uploaded image."), { max: maxImagesPerMessage })

export const SendMessageRequest = strict({
  content: question,
  image_ids: Schema.optionalWith(imageIds, { default: () => [], exact: true }).annotations({
    description: `Ids of uploaded images, at most ${maxImagesPerMessage}.`
  }),
  ...answerSettings
}).annotations({ identifier: "SendMessageRequest" })
export type SendMessageRequest = typeof SendMessageRequest.Type

const { model, ...otherSettings } = answerSettings

/** What is left out stays as it was for the answer before. */
const changedSettings = {
  model: Schema.optionalWith(model, exact).annotations({
    description: "`auto`, `auto:<slug>`, or the id of a model; unchanged by default."
  }),
  ...otherSettings,
  artifacts: Schema.optionalWith(Schema.Boolean, exact).annotations({
    description: "Whether the model may write artifacts; unchanged by default."
  })
}

export const RetryMessageRequest = strict(changedSettings).annotations({
  identifier: "RetryMessageRequest",
  description: "Omitted fields keep their values from the previous answer."
})
export type RetryMessageRequest = typeof RetryMessageRequest.Type

export const EditMessageRequest = strict({
  content: question,
  image_ids: Schema.optionalWith(imageIds, exact).annotations({
    description: `Ids of uploaded images, at most ${maxImagesPerMessage}; by default those of the question.`
  }),
  ...changedSettings
}).annotations({
  identifier: "EditMessageRequest",
  description: "Omitted fields keep their values from the previous question and answer."
})
export type EditMessageRequest = typeof EditMessageRequest.Type

export const ForkConversationRequest = strict({
  message_id: Schema.optionalWith(sentId(MessageId, "The last message to copy; all by default."), exact)
}).annotations({ identifier: "ForkConversationRequest" })

export const StartedTurnOut = Schema.Struct({
  user_message: ChatMessageOut.annotations({ description: "The question." }),
  assistant_message: ChatMessageOut.annotations({ description: "The answer that is being generated." }),
  cursor: Schema.String.annotations({ description: "`cursor` for the events from the beginning of the answer." })
}).annotations({ identifier: "StartedTurnOut" })
export type StartedTurnOut = typeof StartedTurnOut.Type
