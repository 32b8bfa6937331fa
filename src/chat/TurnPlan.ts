import * as Either from "effect/Either"
import type { NotFound } from "../domain/AccountError.ts"
import { InvalidRequest } from "../domain/GatewayError.ts"
import type { MessageId } from "../domain/Ids.ts"
import type {
  AnswerSettings,
  EditMessageRequest,
  RetryMessageRequest,
  SendMessageRequest
} from "../wire/account/Chat.ts"
import { noSuchMessage } from "./ConversationAccess.ts"
import type { Message } from "./MessageStore.ts"

/** What is asked, at which place; without content the question that is there. */
export interface TurnPlan {
  readonly position: number
  readonly content: string | undefined
  readonly images: ReadonlyArray<string>
  readonly settings: AnswerSettings
}

type Refused = NotFound | InvalidRequest

export const sendPlan = (
  written: ReadonlyArray<Message>,
  { content, image_ids: images, ...settings }: SendMessageRequest
): TurnPlan => ({ position: written.filter(({ isCurrent }) => isCurrent).length, content, images, settings })

export const retryPlan = (
  written: ReadonlyArray<Message>,
  answer: MessageId,
  request: RetryMessageRequest
): Either.Either<TurnPlan, Refused> =>
  Either.map(lastOf(written, answer, "assistant"), ({ position, settings }) => ({
    position: position - 1,
    content: undefined,
    images: [],
    settings: { ...(settings ?? defaultSettings), ...request }
  }))

/** The images are those of the request, or of the question as it is. */
export const editPlan = (
  written: ReadonlyArray<Message>,
  question: MessageId,
  { content, image_ids: _, ...settings }: EditMessageRequest
): Either.Either<Omit<TurnPlan, "images">, Refused> =>
  Either.map(lastOf(written, question, "user"), ({ position }) => {
    const answer = written.find((one) => one.isCurrent && one.position === position + 1)
    return { position, content, settings: { ...(answer?.settings ?? defaultSettings), ...settings } }
  })

/** Only the last question, and the answer to it, can be edited or regenerated. A fork can end with a question that has no answer yet. */
const lastOf = (
  written: ReadonlyArray<Message>,
  id: MessageId,
  role: Message["role"]
): Either.Either<Message, Refused> => {
  const current = written.filter(({ isCurrent }) => isCurrent)
  const found = current.find((message) => message.id === id)
  if (found === undefined) return Either.left(noSuchMessage)
  const last = role === "assistant" ? current.length - 1 : current.findLastIndex((message) => message.role === "user")
  return found.role === role && found.position === last ? Either.right(found) : Either.left(notLast)
}

/** Of a conversation, including earlier versions of messages: it is read at once, for its page and for each of its answers. */
const maxMessages = 2_000
const maxCharacters = 8 * 1024 * 1024

/** Whether a question of this content, and an answer, may be added. */
export const requireRoom = (
  written: ReadonlyArray<Message>,
  content: string | undefined
): Either.Either<void, InvalidRequest> => {
  if (written.length + 2 > maxMessages) return Either.left(tooManyMessages)
  const characters = written.reduce((sum, message) => sum + charactersOf(message), content?.length ?? 0)
  return characters > maxCharacters ? Either.left(tooManyCharacters) : Either.right(undefined)
}

const charactersOf = ({ content, reasoning, steps }: Message): number =>
  steps
    .flatMap(({ calls }) => calls)
    .reduce((sum, call) => sum + call.arguments.length + call.result.length, content.length + reasoning.length)

const defaultSettings: AnswerSettings = { model: "auto", artifacts: true }

const tooManyMessages = new InvalidRequest({
  code: "invalid_value",
  message: `A conversation has at most ${maxMessages} messages, including earlier versions: start a new one.`,
  param: null
})
const tooManyCharacters = new InvalidRequest({
  code: "invalid_value",
  message: `A conversation has at most ${maxCharacters} characters, including earlier versions of messages: start a new one.`,
  param: null
})
const notLast = new InvalidRequest({
  code: "invalid_value",
  message:
    "Only the last question and its answer can be edited or regenerated: fork the conversation at an earlier message.",
  param: "message_id"
})
