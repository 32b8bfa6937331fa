import { cost } from "../domain/Call.ts"
import type { MessageId } from "../domain/Ids.ts"
import type {
  ChatArtifactEventOut,
  ChatArtifactOut,
  ChatImageOut,
  ChatMessageOut,
  ConversationDetailOut,
  ConversationOut
} from "../wire/account/Chat.ts"
import type { Artifact, Image } from "./ContentStore.ts"
import type { Conversation } from "./ConversationStore.ts"
import type { Message } from "./MessageStore.ts"

/** What a conversation has beside the text of its messages. */
export interface Attachments {
  readonly images: ReadonlyMap<MessageId, ReadonlyArray<ChatImageOut>>
  readonly events: ReadonlyMap<MessageId, ReadonlyArray<ChatArtifactEventOut>>
  /** In their last version, by name. */
  readonly artifacts: ReadonlyArray<ChatArtifactOut>
}

export const conversationOut = (conversation: Conversation): ConversationOut => ({
  id: conversation.id,
  project_id: conversation.projectId,
  title: conversation.title,
  created_at: conversation.createdAt,
  updated_at: conversation.updatedAt,
  running: conversation.turnId !== null
})

/** `messages` by position, and at each position by version. */
export const detailOut = (
  conversation: Conversation,
  messages: ReadonlyArray<Message>,
  attachments: Attachments
): ConversationDetailOut => ({
  ...conversationOut(conversation),
  messages: messagesOut(messages, attachments),
  artifacts: attachments.artifacts
})

const messagesOut = (messages: ReadonlyArray<Message>, attachments: Attachments): ReadonlyArray<ChatMessageOut> => {
  const before = new Map<number, Array<Message>>()
  return messages.flatMap((message) => {
    if (message.isCurrent) return [messageOut(message, before.get(message.position) ?? [], attachments)]
    const versions = before.get(message.position)
    if (versions === undefined) before.set(message.position, [message])
    else versions.push(message)
    return []
  })
}

/** A current message with those that were at its place before. */
export const messageOut = (
  message: Message,
  versions: ReadonlyArray<Message>,
  { events, images }: Pick<Attachments, "events" | "images">
): ChatMessageOut => ({
  ...versionOut(message),
  role: message.role,
  position: message.position,
  images: images.get(message.id) ?? [],
  artifact_events: events.get(message.id) ?? [],
  versions: versions.map(versionOut)
})

const versionOut = (message: Message): ChatMessageOut["versions"][number] => ({
  id: message.id,
  content: message.content,
  status: message.status,
  created_at: message.createdAt,
  model_requested: message.modelRequested,
  model_used: message.modelUsed,
  request_ids: message.requestIds,
  reasoning: message.reasoning,
  finish_reason: message.finishReason,
  error: message.errorCode === null ? null : { code: message.errorCode, message: message.errorMessage },
  cost: message.role === "user" ? null : cost(message.costMicroUsd, message.costBasis)
})

export const imageOut = ({ filename, id, mediaType, sizeBytes }: Image, url: string): ChatImageOut => ({
  id,
  filename,
  media_type: mediaType,
  size_bytes: sizeBytes,
  url
})

export const artifactOut = (
  { createdAt, id, mediaType, name, sizeBytes, updatedAt, version }: Artifact,
  contentUrl: string
): ChatArtifactOut => ({
  id,
  name,
  media_type: mediaType,
  size_bytes: sizeBytes,
  version,
  created_at: createdAt,
  updated_at: updatedAt,
  content_url: contentUrl,
  download_url: `${contentUrl}&download=1`
})
