import * as Schema from "effect/Schema"
import { CallError, Cost } from "../../domain/Call.ts"
import { efforts } from "../../domain/Chat.ts"
import { MessageId, ProjectId } from "../../domain/Ids.ts"
import { allowed, listOf, storedText } from "../validation/SchemaParts.ts"
import { pageOf, pageParameters } from "./Page.ts"
import { sentId } from "./SentId.ts"
import { strict } from "./Strict.ts"
import { timestamp } from "./Times.ts"

/** The records of `/api/chat`. */

/** Halves of surrogate pairs are replaced where it is written: text that was cut by somebody is text. */
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

const Title = storedText(maxTitleCharacters)

export const ChatProjectOut = Schema.Struct({
  id: ProjectId.annotations({ description: "Id of the project." }),
  name: Schema.String.annotations({ description: "Name of the project." })
}).annotations({ identifier: "ChatProjectOut", description: "A project that pays for conversations." })

export const ChatProjectsPage = pageOf("ChatProjectsPage", ChatProjectOut)

export const ChatModelOut = Schema.Struct({
  id: Schema.String.annotations({ description: "Value to send as `model`." }),
  provider: Schema.String.annotations({ description: "Id of its provider; `gateway` for `auto` and `auto:<slug>`." })
}).annotations({ identifier: "ChatModelOut", description: "A model that a conversation may use." })
export type ChatModelOut = typeof ChatModelOut.Type

export const ChatModelsPage = pageOf("ChatModelsPage", ChatModelOut)

export const ChatImageOut = Schema.Struct({
  id: id("Id of the image."),
  filename: Schema.String.annotations({ description: "Name of the file, as it was uploaded." }),
  media_type: Schema.String.annotations({ description: "Media type, read from the bytes." }),
  size_bytes: Schema.Int.annotations({ description: "Size, in bytes." }),
  url: Schema.String.annotations({ description: "Where it is shown from, for some hours; needs no identity." })
}).annotations({ identifier: "ChatImageOut", description: "An image of a message." })
export type ChatImageOut = typeof ChatImageOut.Type

export const ChatArtifactOut = Schema.Struct({
  id: id("Id of the artifact."),
  name: Schema.String.annotations({ description: "Name, unique in its conversation." }),
  media_type: Schema.String.annotations({ description: "Media type of this version." }),
  size_bytes: Schema.Int.annotations({ description: "Size of this version, in bytes of UTF-8." }),
  version: Schema.Int.annotations({ description: "Number of the version, from 1." }),
  created_at: timestamp("When its first version was made."),
  updated_at: timestamp("When this version was made."),
  content_url: Schema.String.annotations({
    description: "Where this version is shown from in a frame, for some hours; needs no identity."
  }),
  download_url: Schema.String.annotations({ description: "The same as a file." })
}).annotations({ identifier: "ChatArtifactOut", description: "A version of a document that a model has made." })
export type ChatArtifactOut = typeof ChatArtifactOut.Type

export const ChatArtifactVersionsPage = pageOf("ChatArtifactVersionsPage", ChatArtifactOut)

export const maxArtifactBytes = 1024 * 1024

/** What an artifact is written with, by a model or by a person. */
export const artifactFields = {
  name: Schema.String.pipe(
    Schema.minLength(1),
    Schema.maxLength(200),
    Schema.pattern(/^[^\p{Cc}\p{Surrogate}/\\]+$/u)
  ).annotations({
    description: "File name, unique in its conversation: 1 to 200 characters, none of them a slash."
  }),
  media_type: Schema.String.pipe(Schema.pattern(/^[a-z]+[/][a-z0-9.+-]{1,100}$/)).annotations({
    description: "Media type without parameters, such as `text/html`."
  }),
  content: Schema.String.pipe(
    withoutNul,
    Schema.filter((content) => Buffer.byteLength(content) <= maxArtifactBytes || `at most ${maxArtifactBytes} bytes`)
  ).annotations({ description: "The whole text, at most 1 MiB of UTF-8." })
} as const

export const SaveArtifactRequest = strict(artifactFields).annotations({ identifier: "SaveArtifactRequest" })
export type SaveArtifactRequest = typeof SaveArtifactRequest.Type

export const RestoreArtifactRequest = strict({
  version: Schema.Int.pipe(Schema.between(1, 1_000)).annotations({ description: "Number of the version, from 1." })
}).annotations({ identifier: "RestoreArtifactRequest" })

export const artifactActions = ["created", "updated", "restored", "deleted"] as const
export const ChatArtifactEventOut = Schema.Struct({
  action: Schema.Literal(...artifactActions).annotations({ description: "What was done." }),
  artifact: ChatArtifactOut.annotations({ description: "The artifact as it was then." })
}).annotations({ identifier: "ChatArtifactEventOut" })
export type ChatArtifactEventOut = typeof ChatArtifactEventOut.Type

export const messageRoles = ["user", "assistant"] as const
export const messageStatuses = ["complete", "streaming", "stopped", "failed", "interrupted"] as const
const Role = Schema.Literal(...messageRoles).annotations({ description: "Who has written it." })
const Status = Schema.Literal(...messageStatuses).annotations({
  description:
    "complete. streaming: content is still added at its end. stopped: by the person. failed: see `error`. interrupted: the gateway stopped before."
})

/** What a message is, in each of its versions. */
const versioned = {
  id: id("Id of the message."),
  content: Schema.String.annotations({ description: "Text; only ever appended to while streaming." }),
  status: Status,
  created_at: timestamp("When it was begun."),
  model_requested: orNull(Schema.String, "`model` that an answer was asked for with; null for a question."),
  model_used: orNull(Schema.String, "Id of the model that has answered; null before, and for a question."),
  request_ids: Schema.Array(Schema.UUID).annotations({
    description: "The calls of an answer, in order: ids of `GET /api/requests/{id}`."
  }),
  reasoning: Schema.String.annotations({ description: "What the model has shown of its reasoning." }),
  finish_reason: orNull(Schema.String, "Why the model stopped; null before."),
  error: orNull(CallError, "Why the answer failed; null for any other."),
  cost: orNull(Cost, "What the calls of an answer were charged so far; null for a question.")
}

const ChatMessageVersionOut = Schema.Struct(versioned).annotations({
  identifier: "ChatMessageVersionOut",
  description: "What was at the place of a message before it was written anew."
})

export const ChatMessageOut = Schema.Struct({
  ...versioned,
  role: Role,
  position: Schema.Int.annotations({ description: "Its place in the conversation, from 0." }),
  images: Schema.Array(ChatImageOut).annotations({ description: "The images of a question." }),
  artifact_events: Schema.Array(ChatArtifactEventOut).annotations({
    description: "What was done to artifacts during it, or after it and before the next, in order."
  }),
  versions: Schema.Array(ChatMessageVersionOut).annotations({ description: "Those before this one, oldest first." })
}).annotations({ identifier: "ChatMessageOut", description: "A message of a conversation." })
export type ChatMessageOut = typeof ChatMessageOut.Type

const conversation = {
  id: id("Id of the conversation."),
  project_id: ProjectId.annotations({ description: "The project that pays." }),
  title: Schema.String.annotations({ description: "Title; until it is set, the beginning of the first question." }),
  created_at: timestamp("When it was created."),
  updated_at: timestamp("When the last message or title was written."),
  running: Schema.Boolean.annotations({ description: "Whether an answer is being written." })
}

export const ConversationOut = Schema.Struct(conversation).annotations({ identifier: "ConversationOut" })
export type ConversationOut = typeof ConversationOut.Type

export const ConversationDetailOut = Schema.Struct({
  ...conversation,
  messages: Schema.Array(ChatMessageOut).annotations({ description: "The messages, by `position`." }),
  artifacts: Schema.Array(ChatArtifactOut).annotations({ description: "The artifacts in their last version, by name." })
}).annotations({ identifier: "ConversationDetailOut", description: "A conversation with all that is in it." })
export type ConversationDetailOut = typeof ConversationDetailOut.Type

export const ConversationPageOut = Schema.Struct({
  items: Schema.Array(ConversationOut).annotations({ description: "The conversations, last changed first." }),
  has_more: Schema.Boolean.annotations({ description: "Whether older ones follow." }),
  next_cursor: orNull(Schema.String, "`cursor` of the next page; null where there is none.")
}).annotations({ identifier: "ConversationPageOut" })

const maxQueryCharacters = 200
const maxMillis = 8_640_000_000_000_000

/** The time and the id of the last conversation before the page. */
const CursorPosition = Schema.parseJson(Schema.Tuple(Schema.Int.pipe(Schema.between(0, maxMillis)), Schema.UUID))
const ConversationCursor = Schema.compose(Schema.StringFromBase64Url, CursorPosition)
export const conversationCursor = Schema.encodeSync(ConversationCursor)

export const ConversationParameters = Schema.Struct({
  limit: pageParameters.limit,
  cursor: Schema.optional(
    ConversationCursor.annotations({
      jsonSchema: { type: "string", description: "`next_cursor` of the page before this one." }
    })
  ),
  project_id: Schema.optional(sentId(ProjectId, "Only those that this project pays for.")),
  q: Schema.optional(
    storedText(maxQueryCharacters, 0).annotations({ description: "Only those with this in their title." })
  ),
  running: Schema.optional(
    Schema.BooleanFromString.annotations({
      jsonSchema: {
        type: "string",
        enum: ["true", "false"],
        description: "`true`: only those whose answer is being written; `false`: only the others."
      }
    })
  )
})
export type ConversationParameters = typeof ConversationParameters.Type

export const ChatModelsParameters = Schema.Struct({
  project_id: sentId(ProjectId, "The project that will pay."),
  limit: pageParameters.limit,
  cursor: Schema.optional(
    Schema.StringFromBase64Url.pipe(Schema.minLength(1), Schema.maxLength(maxModelCharacters))
  ).annotations({ description: "`next_cursor` of the page before this one." })
})

export const CreateConversationRequest = strict({
  project_id: sentId(ProjectId, "The project that pays."),
  title: Schema.optionalWith(Title, { exact: true }).annotations({
    description: `Title, 1 to ${maxTitleCharacters} characters; without one the beginning of the first question.`
  })
}).annotations({ identifier: "CreateConversationRequest" })
export type CreateConversationRequest = typeof CreateConversationRequest.Type

export const UpdateConversationRequest = strict({
  title: Title.annotations({ description: `Title, 1 to ${maxTitleCharacters} characters.` })
}).annotations({ identifier: "UpdateConversationRequest" })

const exact = { exact: true } as const

/** How an answer is asked for. */
const answerSettings = {
  model: storedText(maxModelCharacters).annotations({
    description: "`auto`, `auto:<slug>`, or the id of a model."
  }),
  alpha: Schema.optionalWith(
    Schema.Number.pipe(
      allowed({ type: "number", minimum: 0, maximum: 1, description: "For `auto`: 0 is cheapest, 1 is best." })
    ),
    exact
  ),
  effort: Schema.optionalWith(Schema.Literal(...efforts).annotations({ description: "How much it reasons." }), exact),
  system: Schema.optionalWith(
    storedText(100_000, 0).annotations({ description: "Instructions before the conversation." }),
    exact
  ),
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
        description: "At most so many tokens of the answer, in each of its calls."
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

const question = Schema.String.pipe(
  Schema.minLength(1),
  Schema.maxLength(maxQuestionCharacters),
  withoutNul
).annotations({
  description: "The question."
})
const imageIds = listOf(sentId(Schema.UUID, "Id of an uploaded image."), { max: maxImagesPerMessage })

export const SendMessageRequest = strict({
  content: question,
  image_ids: Schema.optionalWith(imageIds, { default: () => [], exact: true }).annotations({
    description: `Images that were uploaded before, ${maxImagesPerMessage} at most.`
  }),
  ...answerSettings
}).annotations({ identifier: "SendMessageRequest" })
export type SendMessageRequest = typeof SendMessageRequest.Type

const { model, ...otherSettings } = answerSettings

/** What is left out stays as it was for the answer before. */
const changedSettings = {
  model: Schema.optionalWith(model, exact).annotations({
    description: "`auto`, `auto:<slug>`, or the id of a model; by default as before."
  }),
  ...otherSettings,
  artifacts: Schema.optionalWith(Schema.Boolean, exact).annotations({
    description: "Whether the model may write artifacts; by default as before."
  })
}

export const RetryMessageRequest = strict(changedSettings).annotations({
  identifier: "RetryMessageRequest",
  description: "What is left out stays as it was for the answer before."
})
export type RetryMessageRequest = typeof RetryMessageRequest.Type

export const EditMessageRequest = strict({
  content: question,
  image_ids: Schema.optionalWith(imageIds, exact).annotations({
    description: `Images that were uploaded before, ${maxImagesPerMessage} at most; by default those of the question.`
  }),
  ...changedSettings
}).annotations({
  identifier: "EditMessageRequest",
  description: "What is left out stays as it was for the question and the answer before."
})
export type EditMessageRequest = typeof EditMessageRequest.Type

export const ForkConversationRequest = strict({
  message_id: Schema.optionalWith(
    sentId(MessageId, "The last message that the new conversation has; without it all."),
    exact
  )
}).annotations({ identifier: "ForkConversationRequest" })

export const StartedTurnOut = Schema.Struct({
  user_message: ChatMessageOut.annotations({ description: "The question." }),
  assistant_message: ChatMessageOut.annotations({ description: "The answer that is being written." }),
  cursor: Schema.String.annotations({ description: "`cursor` of the events from the beginning of the answer." })
}).annotations({ identifier: "StartedTurnOut" })
export type StartedTurnOut = typeof StartedTurnOut.Type
