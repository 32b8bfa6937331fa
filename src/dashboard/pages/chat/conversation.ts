import type { components } from "../../api/schema.d.ts"

type Records = components["schemas"]
export type Conversation = Records["ConversationDetailOut"]
export type Message = Records["ChatMessageOut"]

/** Text of the answer that is being written, from `offset` in UTF-16 units. */
interface Delta {
  readonly message_id: string
  readonly offset: number
  readonly text: string
}

/** An attempt of the call that is running. */
export interface Attempt {
  readonly message_id: string
  readonly request_id: string
  readonly index: number
  readonly provider: string
  readonly model: string
  readonly status: string
  readonly error: { readonly code: string; readonly message: string | null } | null
}

/** The events of `GET /api/chat/conversations/{id}/events` that the page follows. */
export type ChatEvent =
  | { readonly name: "snapshot"; readonly data: Conversation }
  | { readonly name: "delta" | "reasoning"; readonly data: Delta }
  | { readonly name: "attempt"; readonly data: Attempt }
  | { readonly name: "message"; readonly data: Message }
  | { readonly name: "conversation"; readonly data: Records["ConversationOut"] }

/** A question that was taken, and the answer to it. */
export interface StartedTurn {
  readonly user_message: Message
  readonly assistant_message: Message
}

export interface ChatState {
  readonly conversation: Conversation | undefined
  /** Of the answer that is being written. */
  readonly attempts: ReadonlyArray<Attempt>
}

export const nothing: ChatState = { conversation: undefined, attempts: [] }

/** The state after an event; `undefined` where text is missing before it: the conversation has to be followed from its beginning. */
export const applied = (state: ChatState, event: ChatEvent): ChatState | undefined => {
  if (event.name === "snapshot") return { conversation: event.data, attempts: [] }
  const { conversation } = state
  if (conversation === undefined) return undefined
  switch (event.name) {
    case "delta":
    case "reasoning": {
      const field = event.name === "delta" ? "content" : "reasoning"
      const { message_id, offset, text } = event.data
      const message = conversation.messages.find(({ id }) => id === message_id)
      if (message === undefined || offset > message[field].length) return undefined
      const more = text.slice(message[field].length - offset)
      return more === "" ? state : withMessage(state, { ...message, [field]: message[field] + more })
    }
    case "attempt": {
      const others = state.attempts.filter(
        (each) => each.request_id !== event.data.request_id || each.index !== event.data.index
      )
      return { ...state, attempts: [...others, event.data] }
    }
    case "message":
      return withMessage(state, event.data)
    case "conversation":
      return { ...state, conversation: { ...conversation, ...event.data } }
  }
}

/** With a message that is new, or newer; one that is written anew keeps its place. */
export const withMessage = (state: ChatState, message: Message): ChatState => {
  const { conversation } = state
  if (conversation === undefined) return state
  const others = conversation.messages.filter(({ id, position }) => id !== message.id && position !== message.position)
  const messages = [...others, message].sort((some, other) => some.position - other.position)
  return { ...state, conversation: { ...conversation, messages } }
}

/** Both messages of a question that was just asked. */
export const started = (state: ChatState, turn: StartedTurn): ChatState => {
  const { conversation } = withMessage(withMessage(state, turn.user_message), turn.assistant_message)
  return { conversation: conversation && { ...conversation, running: true }, attempts: [] }
}

/** From where an answer in progress is followed on. */
export const cursorOf = ({ conversation }: ChatState): string | undefined => {
  const writing = conversation?.messages.findLast(({ status }) => status === "streaming")
  return writing === undefined ? undefined : `${writing.id}:${writing.content.length}`
}

const names: ReadonlyArray<string> = ["snapshot", "delta", "reasoning", "attempt", "message", "conversation"]

/** `undefined` for an event of a newer service. */
export const parsed = (name: string, data: string): ChatEvent | undefined =>
  names.includes(name) ? ({ name, data: JSON.parse(data) } as ChatEvent) : undefined
