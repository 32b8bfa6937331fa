import type { AssistantMessage, Message as ChatMessage, ToolMessage, UserPart } from "../domain/Chat.ts"
import type { MessageId } from "../domain/Ids.ts"
import type { Message, Step } from "./MessageStore.ts"

export interface PromptOptions {
  readonly system: string | undefined
  /** Whether the model is given the tools that earlier answers have called. */
  readonly withTools: boolean
  /** The images of questions, as data URLs; `null` for one that is left out. */
  readonly images: ReadonlyMap<MessageId, ReadonlyArray<string | null>>
}

/** A conversation as a model reads it: answers without any content are left out. */
export const promptOf = (
  messages: ReadonlyArray<Pick<Message, "id" | "role" | "content" | "steps">>,
  { images, system, withTools }: PromptOptions
): ReadonlyArray<ChatMessage> => [
  ...(system === undefined || system === "" ? [] : [{ role: "system", content: system } as const]),
  ...messages.flatMap((message): ReadonlyArray<ChatMessage> => {
    if (message.role === "user") return [question(message.content, images.get(message.id) ?? [])]
    return withTools ? answer(message) : plain(message.content)
  })
]

const question = (content: string, images: ReadonlyArray<string | null>): ChatMessage => {
  if (images.length === 0) return { role: "user", content }
  const parts = images.map(
    (url): UserPart => (url === null ? { type: "text", text: leftOut } : { type: "image_url", image_url: { url } })
  )
  return { role: "user", content: [...parts, { type: "text", text: content }] }
}

const leftOut = "[An earlier image is left out here, since all together are too large for one request.]"

const plain = (content: string): ReadonlyArray<AssistantMessage> =>
  content === "" ? [] : [{ role: "assistant", content }]

/** The text between the calls of tools, each call with its result. */
const answer = ({ content, steps }: Pick<Message, "content" | "steps">): ReadonlyArray<ChatMessage> => {
  let from = 0
  const rounds = steps.flatMap((step) => {
    const text = content.slice(from, step.at)
    from = step.at
    return round(text, step)
  })
  return [...rounds, ...plain(content.slice(from))]
}

/** One response that calls tools, with what they return. */
export const round = (
  text: string,
  { calls }: Pick<Step, "calls">
): readonly [AssistantMessage, ...ReadonlyArray<ToolMessage>] => [
  {
    role: "assistant",
    content: text === "" ? null : text,
    tool_calls: calls.map(({ arguments: json, id, name }) => ({
      id,
      type: "function",
      function: { name, arguments: json }
    }))
  },
  ...calls.map(
    ({ id, isError, result }): ToolMessage => ({ role: "tool", tool_call_id: id, content: result, is_error: isError })
  )
]
