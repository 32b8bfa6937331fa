import {
  type AssistantMessage,
  type BlockKind,
  hasReasoningFirst,
  type JsonObject,
  type Message,
  type ReasoningDetail,
  type TextPart,
  type ToolCall,
  type ToolMessage,
  type ToolResultPart,
  type UserMessage
} from "../../domain/Chat.ts"
import { writeExactly } from "../../domain/ExactJson.ts"
import { maxMessages } from "../chat/ChatRequestSchema.ts"
import {
  array,
  arrayOrText,
  boolean,
  cut,
  nonEmpty,
  object,
  oneOf,
  optional,
  reject,
  string
} from "../validation/Fields.ts"
import { withoutBillingHeader } from "./BillingHeader.ts"
import {
  type ContentPart,
  contentParts,
  contentTypes,
  type ReadingState,
  textContent,
  textPart,
  unknownBlock,
  unwrapText
} from "./MessagesContent.ts"
import { redactedDetail, textDetail } from "./MessagesReasoning.ts"

export interface DecodedConversation {
  readonly messages: ReadonlyArray<Message>
  /** For each of the messages, where it stands in the request. */
  readonly paths: ReadonlyArray<string>
}

/** The conversation of `system` and `messages`. */
export const decodeConversation = (system: unknown, messages: unknown, state: ReadingState): DecodedConversation => {
  const history = new History()
  const instructions = optional(system, "system", (value, param) =>
    withoutBillingHeader(textContent(value, param, state), state)
  )
  if (instructions !== undefined && instructions.length > 0) {
    history.addSystem(instructions, "system")
  }
  const given = array(messages, "messages")
  if (given.length === 0 || given.length > maxMessages) {
    reject("invalid_value", "messages", `Invalid value for 'messages': expected an array of 1 to ${maxMessages} items.`)
  }
  given.forEach((value, index) => {
    const path = `messages[${index}]`
    addMessage(history, object(value, path), path, state)
  })
  return history.end()
}

const addMessage = (history: History, message: JsonObject, path: string, state: ReadingState): void => {
  const content = message["content"]
  const at = `${path}.content`
  switch (oneOf("user", "assistant", "system")(message["role"], `${path}.role`)) {
    case "system":
      history.addSystem(textContent(content, at, state), path)
      return
    case "user":
      if (typeof content === "string") history.addUser(content, path)
      else addUserBlocks(history, arrayOrText(content, at), path, state)
      return
    case "assistant":
      if (typeof content === "string") {
        const order = content === "" ? [] : (["text"] as const)
        history.addAssistant({ content, calls: [], reasoning: [], order }, path)
      } else addAssistantBlocks(history, arrayOrText(content, at), path, state)
  }
}

const addUserBlocks = (history: History, blocks: ReadonlyArray<unknown>, path: string, state: ReadingState): void => {
  const parts: Array<ContentPart> = []
  if (blocks.length === 0) {
    reject("invalid_value", `${path}.content`, `Invalid value for '${path}.content': it must not be empty.`)
  }
  blocks.forEach((value, index) => {
    const at = `${path}.content[${index}]`
    const block = object(value, at)
    const type = string(block["type"], `${at}.type`)
    if (type === "tool_result") history.addResult(toolResult(block, at, state), at, path)
    else for (const part of contentParts(block, type, at, state) ?? unknownBlock(type, at, userTypes)) parts.push(part)
  })
  if (parts.length > 0) history.addUser(unwrapText(parts), path)
}

const userTypes = [...contentTypes, "tool_result"] as const

const toolResult = (block: JsonObject, param: string, state: ReadingState): ToolMessage => {
  const id = nonEmpty(block["tool_use_id"], `${param}.tool_use_id`)
  const content = block["content"] ?? ""
  const isError = optional(block["is_error"], `${param}.is_error`, boolean)
  return {
    role: "tool",
    tool_call_id: id,
    content: typeof content === "string" ? content : unwrapText(resultParts(content, `${param}.content`, state)),
    ...(isError === true && { is_error: true }),
    ...state.marks.of(block, param)
  }
}

const resultParts = (content: unknown, param: string, state: ReadingState): ReadonlyArray<ToolResultPart> =>
  arrayOrText(content, param).flatMap((value, index) => {
    const at = `${param}[${index}]`
    const block = object(value, at)
    const type = string(block["type"], `${at}.type`)
    return contentParts(block, type, at, state) ?? unknownBlock(type, at, contentTypes)
  })

interface AssistantPart {
  readonly content: string | ReadonlyArray<TextPart>
  readonly calls: ReadonlyArray<ToolCall>
  readonly reasoning: ReadonlyArray<ReasoningDetail>
  /** Of all blocks. */
  readonly order: ReadonlyArray<BlockKind>
}

/**
 * Reasoning after text begins another message of the same turn, so that providers get it where it was. After a call nothing can be
 * apart from it: the message says in which order its blocks were.
 */
const addAssistantBlocks = (
  history: History,
  blocks: ReadonlyArray<unknown>,
  path: string,
  state: ReadingState
): void => {
  let texts: Array<TextPart> = []
  let reasoning: Array<ReasoningDetail> = []
  let order: Array<BlockKind> = []
  const calls: Array<ToolCall> = []
  const reason = (detail: ReasoningDetail | undefined): void => {
    if (detail === undefined) return
    if (texts.length > 0 && calls.length === 0) {
      history.addAssistant({ content: unwrapText(texts), calls, reasoning, order }, path)
      texts = []
      reasoning = []
      order = []
    }
    reasoning.push({ ...detail, index: reasoning.length })
    order.push("reasoning")
  }
  blocks.forEach((value, index) => {
    const at = `${path}.content[${index}]`
    const block = object(value, at)
    const type = string(block["type"], `${at}.type`)
    switch (type) {
      case "text":
        texts.push(textPart(block, at, state))
        order.push("text")
        return
      case "thinking":
        reason(textDetail(string(block["thinking"], `${at}.thinking`), string(block["signature"], `${at}.signature`)))
        return
      case "redacted_thinking":
        reason(redactedDetail(string(block["data"], `${at}.data`)))
        return
      case "tool_use":
        calls.push(toolCall(block, at, state))
        order.push("call")
        return
      default:
        // hosted tools ran elsewhere: what they did is no part of what a model here can be told
        if (isHosted(type)) state.ignored.add(`messages.${cut(type)}`)
        else unknownBlock(type, at, assistantTypes)
    }
  })
  history.addAssistant({ content: unwrapText(texts), calls, reasoning, order }, path)
}

const assistantTypes = ["text", "thinking", "redacted_thinking", "tool_use"] as const

const isHosted = (type: string): boolean =>
  type === "server_tool_use" || type === "mcp_tool_use" || (type.endsWith("_tool_result") && type !== "tool_result")

const toolCall = (block: JsonObject, param: string, state: ReadingState): ToolCall => {
  const extra = optional(block["extra_content"], `${param}.extra_content`, object)
  return {
    id: nonEmpty(block["id"], `${param}.id`),
    type: "function",
    function: {
      name: nonEmpty(block["name"], `${param}.name`),
      arguments: writeExactly(object(block["input"], `${param}.input`))
    },
    ...(extra !== undefined && { extra_content: extra }),
    ...state.marks.of(block, param)
  }
}

/** Puts the results of a turn's calls before what else the user says in it. */
class History {
  private readonly messages: Array<Message> = []
  private readonly paths: Array<string> = []
  /** Of the assistant's last turn. */
  private callIds = new Set<string>()
  private isAfterAssistant = false
  /** The last message, where it has calls: further messages of its turn join it, so that the results of all its calls follow. */
  private calling: AssistantPart | undefined
  private users: Array<{ readonly message: UserMessage; readonly path: string }> = []

  addSystem(content: string | ReadonlyArray<TextPart>, path: string): void {
    this.flush()
    this.push({ role: "system", content }, path)
  }

  addUser(content: UserMessage["content"], path: string): void {
    this.isAfterAssistant = false
    this.users.push({ message: { role: "user", content }, path })
  }

  addResult(result: ToolMessage, param: string, path: string): void {
    const id = result.tool_call_id
    if (!this.callIds.has(id)) {
      reject(
        "invalid_value",
        `${param}.tool_use_id`,
        `The preceding assistant message has no tool_use block with the id '${cut(id)}'.`
      )
    }
    this.isAfterAssistant = false
    this.push(result, path)
  }

  addAssistant(part: AssistantPart, path: string): void {
    this.flush()
    if (!this.isAfterAssistant) this.callIds = new Set()
    this.isAfterAssistant = true
    for (const { id } of part.calls) this.callIds.add(id)
    const whole = this.calling === undefined ? part : joined(this.calling, part)
    if (this.calling === undefined) this.push(assistantMessage(part), path)
    else this.messages[this.messages.length - 1] = assistantMessage(whole)
    this.calling = whole.calls.length > 0 ? whole : undefined
  }

  end(): DecodedConversation {
    this.flush()
    return { messages: this.messages, paths: this.paths }
  }

  private flush(): void {
    for (const { message, path } of this.users) this.push(message, path)
    this.users = []
  }

  private push(message: Message, path: string): void {
    this.calling = undefined
    this.messages.push(message)
    this.paths.push(path)
  }
}

const joined = (first: AssistantPart, second: AssistantPart): AssistantPart => ({
  content: unwrapText([...textsOf(first.content), ...textsOf(second.content)]),
  calls: [...first.calls, ...second.calls],
  reasoning: [...first.reasoning, ...second.reasoning].map((detail, index) => ({ ...detail, index })),
  order: [...first.order, ...second.order]
})

const textsOf = (content: AssistantPart["content"]): ReadonlyArray<TextPart> =>
  typeof content !== "string" ? content : content === "" ? [] : [{ type: "text", text: content }]

const assistantMessage = ({ calls, content, order, reasoning }: AssistantPart): AssistantMessage => ({
  role: "assistant",
  content: content.length === 0 && calls.length > 0 ? null : content.length === 0 ? "" : content,
  ...(calls.length > 0 && { tool_calls: calls }),
  ...(reasoning.length > 0 && { reasoning_details: reasoning }),
  ...(!hasReasoningFirst(order) && { order })
})
