import * as Schema from "effect/Schema"
import type { ChatEvent, TurnCursor } from "../../../chat/Following.ts"
import type { Part } from "../../../chat/LiveTurn.ts"
import { MessageId } from "../../../domain/Ids.ts"
import { chatEvents } from "../../../wire/account/ChatEvents.ts"

const encoders = {
  snapshot: Schema.encodeSync(Schema.parseJson(chatEvents.snapshot)),
  delta: Schema.encodeSync(Schema.parseJson(chatEvents.delta)),
  reasoning: Schema.encodeSync(Schema.parseJson(chatEvents.reasoning)),
  attempt: Schema.encodeSync(Schema.parseJson(chatEvents.attempt)),
  artifact: Schema.encodeSync(Schema.parseJson(chatEvents.artifact)),
  artifact_delta: Schema.encodeSync(Schema.parseJson(chatEvents.artifact_delta)),
  message: Schema.encodeSync(Schema.parseJson(chatEvents.message)),
  conversation: Schema.encodeSync(Schema.parseJson(chatEvents.conversation))
}

/** The cursor of a request; `undefined` for what is none, so that everything is sent. */
export const cursorOf = (text: string | undefined): TurnCursor | undefined => {
  const [, message, offset] = /^([0-9a-f-]{36}):(\d{1,9})$/.exec(text ?? "") ?? []
  return Schema.is(MessageId)(message) ? { message, offset: Number(offset) } : undefined
}

export const cursorText = ({ message, offset }: TurnCursor): string => `${message}:${offset}`

/** The event on the wire. */
export const frameOf = (event: ChatEvent): string => {
  switch (event._tag) {
    case "Snapshot":
      return frame("snapshot", encoders.snapshot(event.conversation), event.cursor)
    case "Part":
      return frame(...partOf(event.message, event.part), event.cursor)
    case "Message":
      return frame("message", encoders.message(event.message))
    case "Conversation":
      return frame("conversation", encoders.conversation(event.conversation))
    case "Silence":
      return ": keep-alive\n\n"
  }
}

const partOf = (message_id: MessageId, part: Part): readonly [name: string, data: string] => {
  switch (part._tag) {
    case "Delta":
      return ["delta", encoders.delta({ message_id, offset: part.offset, text: part.text })]
    case "Reasoning":
      return ["reasoning", encoders.reasoning({ message_id, offset: part.offset, text: part.text })]
    case "Draft": {
      const { name, offset, text } = part
      return ["artifact_delta", encoders.artifact_delta({ message_id, name, offset, text })]
    }
    case "Artifact":
      return ["artifact", encoders.artifact(part.event)]
    case "Attempt": {
      const { ended, index, model, provider } = part.step
      const status = ended?.status ?? "running"
      const error = ended?.error ?? null
      return [
        "attempt",
        encoders.attempt({ message_id, request_id: part.requestId, index, provider, model, status, error })
      ]
    }
  }
}

const frame = (name: string, data: string, cursor?: TurnCursor): string =>
  `${cursor === undefined ? "" : `id: ${cursorText(cursor)}\n`}event: ${name}\ndata: ${data}\n\n`
