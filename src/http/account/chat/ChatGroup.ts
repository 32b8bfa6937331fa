import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { ConversationId, MessageId } from "../../../domain/Ids.ts"
import {
  ChatArtifactOut,
  ChatArtifactVersionsPage,
  ChatImageOut,
  ChatModelsPage,
  ChatModelsParameters,
  ChatProjectsPage,
  ConversationDetailOut,
  ConversationOut,
  ConversationPageOut,
  ConversationParameters,
  CreateConversationRequest,
  EditMessageRequest,
  ForkConversationRequest,
  maxFilenameCharacters,
  RestoreArtifactRequest,
  RetryMessageRequest,
  SaveArtifactRequest,
  SendMessageRequest,
  StartedTurnOut,
  UpdateConversationRequest
} from "../../../wire/account/Chat.ts"
import { PageParameters } from "../../../wire/account/Page.ts"
import { sentId } from "../../../wire/account/SentId.ts"
import * as Errors from "../DeclaredErrors.ts"
import { IfMatchHeaders } from "../EntityTag.ts"
import { IdempotencyHeaders } from "../Idempotent.ts"
import { Identity } from "../Identity.ts"

const ConversationPath = Schema.Struct({ id: sentId(ConversationId, "Id of the conversation.") })
const MessagePath = Schema.Struct({
  ...ConversationPath.fields,
  message_id: sentId(MessageId, "Id of the message.")
})

const root = "/api/chat/conversations"
const storageLimit = "A user can store 10 GiB of images, saved artifacts and copied conversations."

const listChatProjects = HttpApiEndpoint.get("listChatProjects", "/api/chat/projects")
  .setUrlParams(PageParameters)
  .addSuccess(ChatProjectsPage)
  .annotate(OpenApi.Summary, "The projects that can pay for a conversation")
  .annotate(OpenApi.Description, "Those in which the caller is owner or member, newest first.")

const listChatModels = HttpApiEndpoint.get("listChatModels", "/api/chat/models")
  .setUrlParams(ChatModelsParameters)
  .addSuccess(ChatModelsPage)
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .annotate(OpenApi.Summary, "The models that a conversation of a project may use")
  .annotate(OpenApi.Description, "`auto`, the project's active routing configurations, then the models by id.")

const createConversation = HttpApiEndpoint.post("createConversation", root)
  .setHeaders(IdempotencyHeaders)
  .setPayload(CreateConversationRequest)
  .addSuccess(ConversationOut, { status: 201 })
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Begin a conversation")
  .annotate(OpenApi.Description, "A user can have 10,000 conversations.")

const listConversations = HttpApiEndpoint.get("listConversations", root)
  .setUrlParams(ConversationParameters)
  .addSuccess(ConversationPageOut)
  .annotate(OpenApi.Summary, "The caller's conversations")
  .annotate(
    OpenApi.Description,
    "The last changed first. One that changes while its list is read can be on two pages: tell them apart by `id`."
  )

const getConversation = HttpApiEndpoint.get("getConversation", `${root}/:id`)
  .setPath(ConversationPath)
  .addSuccess(ConversationDetailOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "A conversation with its messages")
  .annotate(
    OpenApi.Description,
    "Of an answer that is being written, what was stored last; all of it comes by the events."
  )

const updateConversation = HttpApiEndpoint.patch("updateConversation", `${root}/:id`)
  .setPath(ConversationPath)
  .setHeaders(IfMatchHeaders)
  .setPayload(UpdateConversationRequest)
  .addSuccess(ConversationOut)
  .addError(Errors.NotFound)
  .addError(Errors.VersionMismatch)
  .annotate(OpenApi.Summary, "Rename a conversation")

const deleteConversation = HttpApiEndpoint.del("deleteConversation", `${root}/:id`)
  .setPath(ConversationPath)
  .addSuccess(HttpApiSchema.NoContent)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Delete a conversation")
  .annotate(
    OpenApi.Description,
    "An answer that is being written ends. For a minute the deletion can be taken back; within a day all content is erased. The calls stay in the request log, which has no content."
  )

const restoreConversation = HttpApiEndpoint.post("restoreConversation", `${root}/:id/restore`)
  .setPath(ConversationPath)
  .addSuccess(ConversationOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Take a deletion back")
  .annotate(OpenApi.Description, "Within a minute; after it the conversation is not found.")

const asking =
  "The answer is written by the service, whether or not anybody reads its events; it is in the conversation when it ends."

const sendMessage = HttpApiEndpoint.post("sendMessage", `${root}/:id/messages`)
  .setPath(ConversationPath)
  .setHeaders(IdempotencyHeaders)
  .setPayload(SendMessageRequest)
  .addSuccess(StartedTurnOut, { status: 202 })
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.ConversationRunning)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Ask a question")
  .annotate(
    OpenApi.Description,
    `${asking} The calls count by a key of the caller's own in the project. A call that fails, for want of money for example, is the answer's \`error\`.`
  )

const retryMessage = HttpApiEndpoint.post("retryMessage", `${root}/:id/messages/:message_id/retry`)
  .setPath(MessagePath)
  .setHeaders(IdempotencyHeaders)
  .setPayload(RetryMessageRequest)
  .addSuccess(StartedTurnOut, { status: 202 })
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.ConversationRunning)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Ask the last question once more")
  .annotate(OpenApi.Description, `The message is the last answer, which becomes one of \`versions\`. ${asking}`)

const editMessage = HttpApiEndpoint.post("editMessage", `${root}/:id/messages/:message_id/edit`)
  .setPath(MessagePath)
  .setHeaders(IdempotencyHeaders)
  .setPayload(EditMessageRequest)
  .addSuccess(StartedTurnOut, { status: 202 })
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.ConversationRunning)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Ask another question in place of the last one")
  .annotate(
    OpenApi.Description,
    `The message is the last question; it and its answer become \`versions\`. What is left out stays as it was. ${asking}`
  )

const stopConversation = HttpApiEndpoint.post("stopConversation", `${root}/:id/stop`)
  .setPath(ConversationPath)
  .addSuccess(ConversationOut)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Stop the answer that is being written")
  .annotate(
    OpenApi.Description,
    "What was written stays and is charged, also where the browser that asks is another one. `running` is true in the response only where the node that writes has not answered within two seconds. Without an answer in progress nothing happens."
  )

const forkConversation = HttpApiEndpoint.post("forkConversation", `${root}/:id/fork`)
  .setPath(ConversationPath)
  .setHeaders(IdempotencyHeaders)
  .setPayload(ForkConversationRequest)
  .addSuccess(ConversationOut, { status: 201 })
  .addError(Errors.NotFound)
  .addError(Errors.RoleRequired)
  .addError(Errors.ConversationRunning)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Begin a conversation with the messages of another one")
  .annotate(
    OpenApi.Description,
    `The messages up to the given one, in their last versions, are copied. ${storageLimit}`
  )

const CursorText = Schema.String.pipe(Schema.maxLength(60)).annotations({
  description:
    "`<message>:<offset>` as in StartedTurnOut, or the id of the last event: only what comes after it is sent."
})

const followConversation = HttpApiEndpoint.get("followConversation", `${root}/:id/events`)
  .setPath(ConversationPath)
  .setUrlParams(Schema.Struct({ cursor: Schema.optional(CursorText) }))
  .setHeaders(Schema.Struct({ "last-event-id": Schema.optional(CursorText) }))
  .addSuccess(HttpApiSchema.Text({ contentType: "text/event-stream" }))
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "Follow the answer that is being written")
  .annotate(
    OpenApi.Description,
    [
      "Server-sent events, each with JSON data; the stream ends when nothing is written any more. It also ends, within about a second and without a `conversation` that does not run, when the session has ended or the conversation may no longer be read: following again then says why, with 401 or 404. Any number of clients may follow the same answer.",
      "`snapshot`: ConversationDetailOut, which replaces all; it comes first unless the cursor is one of the answer in progress.",
      "`delta` and `reasoning`: `{message_id, offset, text}`. Where `offset` is the length of the text that the client has, append; where it is smaller, leave out what is known; where it is larger, follow again without a cursor.",
      "`attempt`: `{message_id, request_id, index, provider, model, status, error}`, with status `running` when it begins and again when it ends.",
      "`artifact`: ChatArtifactEventOut. `artifact_delta`: `{message_id, name, offset, text}`, the text of an artifact that is being written.",
      "`message`: ChatMessageOut, the answer as it has ended. `conversation`: ConversationOut; with `running` false it is the last event."
    ].join("\n\n")
  )

const uploadChatImage = HttpApiEndpoint.post("uploadChatImage", "/api/chat/images")
  .setHeaders(IdempotencyHeaders)
  .setUrlParams(
    Schema.Struct({
      filename: Schema.String.pipe(
        Schema.minLength(1),
        Schema.maxLength(maxFilenameCharacters),
        Schema.pattern(/^[^\p{Cc}]*$/u)
      ).annotations({ description: `Name of the file, 1 to ${maxFilenameCharacters} characters.` })
    })
  )
  .addSuccess(ChatImageOut, { status: 201 })
  .addError(Errors.SealingUnavailable)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Upload an image for a question")
  .annotate(
    OpenApi.Description,
    `The body is the image itself, at most 10 MiB: PNG, JPEG, GIF or WebP, told by its bytes, with at most 8192 pixels in width and in height. An image that is in no message after 24 hours is erased. ${storageLimit}`
  )
  .annotate(OpenApi.Transform, (operation) => ({
    ...operation,
    requestBody: {
      required: true,
      content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } }
    }
  }))

const saveArtifact = HttpApiEndpoint.post("saveArtifact", `${root}/:id/artifacts`)
  .setPath(ConversationPath)
  .setHeaders(IdempotencyHeaders)
  .setPayload(SaveArtifactRequest)
  .addSuccess(ChatArtifactOut, { status: 201 })
  .addError(Errors.NotFound)
  .addError(Errors.ConversationRunning)
  .addError(Errors.IdempotencyKeyInProgress)
  .addError(Errors.SealingUnavailable)
  .annotate(OpenApi.Summary, "Save a part of an answer as an artifact")
  .annotate(
    OpenApi.Description,
    `Under a name that the conversation has already, it is the next version of that artifact. It is done after the last answer, of which it is one of \`artifact_events\`. ${storageLimit}`
  )

const ArtifactPath = Schema.Struct({
  ...ConversationPath.fields,
  artifact_id: sentId(Schema.UUID, "Id of the artifact.")
})

const listArtifactVersions = HttpApiEndpoint.get("listArtifactVersions", `${root}/:id/artifacts/:artifact_id/versions`)
  .setPath(ArtifactPath)
  .addSuccess(ChatArtifactVersionsPage)
  .addError(Errors.NotFound)
  .annotate(OpenApi.Summary, "The versions of an artifact")
  .annotate(OpenApi.Description, "All of them, at most 100, on one page.")

const restoreArtifact = HttpApiEndpoint.post("restoreArtifact", `${root}/:id/artifacts/:artifact_id/restore`)
  .setPath(ArtifactPath)
  .setHeaders(IdempotencyHeaders)
  .setPayload(RestoreArtifactRequest)
  .addSuccess(ChatArtifactOut, { status: 201 })
  .addError(Errors.NotFound)
  .addError(Errors.ConversationRunning)
  .addError(Errors.IdempotencyKeyInProgress)
  .annotate(OpenApi.Summary, "Make an earlier version of an artifact the newest")

const deleteArtifact = HttpApiEndpoint.del("deleteArtifact", `${root}/:id/artifacts/:artifact_id`)
  .setPath(ArtifactPath)
  .addSuccess(HttpApiSchema.NoContent)
  .addError(Errors.NotFound)
  .addError(Errors.ConversationRunning)
  .annotate(OpenApi.Summary, "Delete an artifact")

export const ChatGroup = HttpApiGroup.make("chat")
  .add(listChatProjects)
  .add(listChatModels)
  .add(createConversation)
  .add(listConversations)
  .add(getConversation)
  .add(updateConversation)
  .add(deleteConversation)
  .add(restoreConversation)
  .add(sendMessage)
  .add(retryMessage)
  .add(editMessage)
  .add(stopConversation)
  .add(forkConversation)
  .add(followConversation)
  .add(uploadChatImage)
  .add(saveArtifact)
  .add(listArtifactVersions)
  .add(restoreArtifact)
  .add(deleteArtifact)
  .middleware(Identity)
  .annotate(OpenApi.Description, "Conversations of people with models.")
