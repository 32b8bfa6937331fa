import type { components } from "../../api/schema.d.ts"

type Records = components["schemas"]
export type Conversation = Records["ConversationDetailOut"]
export type Message = Records["ChatMessageOut"]
export type Artifact = Records["ChatArtifactOut"]
export type Image = Records["ChatImageOut"]
type ArtifactEvent = Records["ChatArtifactEventOut"]

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

/** Text of an artifact that is being written. */
export interface Draft {
  readonly message_id: string
  readonly name: string
  readonly text: string
}

/** The events of `GET /api/chat/conversations/{id}/events` that the page follows. */
export type ChatEvent =
  | { readonly name: "snapshot"; readonly data: Conversation }
  | { readonly name: "delta" | "reasoning"; readonly data: Delta }
  | { readonly name: "attempt"; readonly data: Attempt }
  | { readonly name: "artifact"; readonly data: ArtifactEvent }
  | { readonly name: "artifact_delta"; readonly data: Delta & { readonly name: string } }
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
  /** Of the artifacts that it writes. */
  readonly drafts: ReadonlyArray<Draft>
}

export const nothing: ChatState = { conversation: undefined, attempts: [], drafts: [] }

/** The state after an event; `undefined` where text is missing before it: the conversation has to be followed from its beginning. */
export const applied = (state: ChatState, event: ChatEvent): ChatState | undefined => {
  if (event.name === "snapshot") return { ...nothing, conversation: event.data }
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
    case "artifact_delta":
      return withDraft(state, event.data)
    case "artifact":
      return withArtifact(state, event.data)
    case "message":
      return withMessage(state, event.data)
    case "conversation": {
      const drafts = event.data.running ? state.drafts : []
      return { ...state, drafts, conversation: { ...conversation, ...event.data } }
    }
  }
}

/** `undefined` where text is missing before it; one that starts over replaces what there was. */
const withDraft = (
  state: ChatState,
  { message_id, name, offset, text }: Delta & { readonly name: string }
): ChatState | undefined => {
  const known = state.drafts.find((draft) => draft.name === name)?.text ?? ""
  if (offset > known.length) return undefined
  const others = state.drafts.filter((draft) => draft.name !== name)
  return { ...state, drafts: [...others, { message_id, name, text: known.slice(0, offset) + text }] }
}

/** With what was done to an artifact; a reader that comes back receives it again. */
const withArtifact = (state: ChatState, { action, artifact }: ArtifactEvent): ChatState => {
  const { conversation } = state
  if (conversation === undefined) return state
  const before = conversation.artifacts.find(({ id }) => id === artifact.id)
  const others = conversation.artifacts.filter(({ id }) => id !== artifact.id)
  const latest = before !== undefined && before.version > artifact.version ? before : artifact
  const artifacts = action === "deleted" ? others : [...others, latest].sort((a, b) => (a.name < b.name ? -1 : 1))
  return {
    ...state,
    drafts: state.drafts.filter(({ name }) => name !== artifact.name),
    conversation: { ...conversation, artifacts }
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
  return { ...nothing, conversation: conversation && { ...conversation, running: true } }
}

/** From where an answer in progress is followed on. One that has no text yet may be to a question after others that were asked elsewhere. */
export const cursorOf = ({ conversation }: ChatState): string | undefined => {
  const writing = conversation?.messages.findLast(({ status }) => status === "streaming")
  return writing === undefined || writing.content === "" ? undefined : `${writing.id}:${writing.content.length}`
}

const names: ReadonlyArray<string> = [
  "snapshot",
  "delta",
  "reasoning",
  "attempt",
  "artifact",
  "artifact_delta",
  "message",
  "conversation"
]

/** `undefined` for an event of a newer service. */
export const parsed = (name: string, data: string): ChatEvent | undefined =>
  names.includes(name) ? ({ name, data: JSON.parse(data) } as ChatEvent) : undefined
