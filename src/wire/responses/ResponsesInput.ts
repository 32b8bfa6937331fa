import {
  type AssistantMessage,
  type BlockKind,
  hasReasoningFirst,
  type JsonObject,
  type Message,
  type ReasoningDetail,
  type ToolCall,
  type ToolMessage,
  type UserPart
} from "../../domain/Chat.ts"
import { decodeReasoning } from "../ReasoningContinuity.ts"
import { array, cut, nonEmpty, object, oneOf, optional, reject, string } from "../validation/Fields.ts"
import { type AssistantContent, assistantContent, systemContent, toolOutput, userContent } from "./ResponsesContent.ts"
import { maxItems } from "./ResponsesInputSchema.ts"
import type { MessageSource } from "./ResponsesPaths.ts"
import type { DecodedTools } from "./ResponsesTools.ts"

export interface DecodedInput {
  readonly messages: ReadonlyArray<Message>
  /** One for each message. */
  readonly sources: ReadonlyArray<MessageSource>
  /** Fields that are not sent on, each once. */
  readonly ignored: ReadonlySet<string>
}

/** The conversation of `instructions` and `input`, as messages. */
export const decodeInput = (
  instructions: string | undefined,
  input: unknown,
  tools: Pick<DecodedTools, "nameOf">
): DecodedInput => {
  const history = new History()
  if (instructions !== undefined) history.addMessage({ role: "developer", content: instructions }, "instructions")
  if (typeof input === "string") history.addMessage({ role: "user", content: input }, "input")
  else {
    const items = Array.isArray(input) ? input : reject("invalid_type", "input", notInput)
    if (items.length > maxItems) reject("invalid_value", "input", `'input' must hold at most ${maxItems} items.`)
    items.forEach((item, index) => {
      addItem(history, object(item, `input[${index}]`), `input[${index}]`, tools)
    })
  }
  const decoded = history.end()
  return decoded.messages.length > 0
    ? decoded
    : reject("invalid_value", "input", "'input' must hold at least one item.")
}

const notInput = "Invalid type for 'input': expected a string or an array of items."

const addItem = (history: History, item: JsonObject, param: string, tools: Pick<DecodedTools, "nameOf">): void => {
  const type = itemType(item, param)
  for (const name of unreadFields.get(type) ?? []) optional(item[name], `${param}.${name}`, string)
  switch (type) {
    case "message":
      addMessage(history, item, param)
      break
    case "function_call":
    case "custom_tool_call":
      history.call(toolCall(item, type, param, tools), param)
      break
    case "function_call_output":
    case "custom_tool_call_output":
      addOutput(history, item, param)
      break
    case "reasoning":
      addReasoning(history, item, param)
      break
    case "web_search_call":
      break
    case "item_reference":
      reject(
        "unsupported_parameter",
        param,
        "Item references are not supported, because no response is stored: send 'store: false' and complete items."
      )
      break
    default:
      reject("unsupported_value", `${param}.type`, `Input items of type '${cut(type)}' are not supported.`)
  }
}

/** Texts that are accepted as they were returned, and have no effect. */
const unreadFields: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["message", ["id", "status", "phase"]],
  ["function_call", ["id", "status"]],
  ["custom_tool_call", ["id", "status"]],
  ["function_call_output", ["id", "status"]],
  ["custom_tool_call_output", ["id", "status"]],
  ["reasoning", ["id", "status"]],
  ["web_search_call", ["id"]]
])

/** The type may be absent for messages, and for references, which have an id only. */
const itemType = (item: JsonObject, param: string): string => {
  const type = optional(item["type"], `${param}.type`, string)
  if (type !== undefined) return type
  return item["role"] === undefined && typeof item["id"] === "string" ? "item_reference" : "message"
}

const addMessage = (history: History, item: JsonObject, param: string): void => {
  const role = oneOf("user", "assistant", "system", "developer")(item["role"], `${param}.role`)
  const content = item["content"]
  if (role === "assistant") history.answer(assistantContent(content, `${param}.content`), param)
  else if (role === "user")
    history.addMessage({ role, content: userContent(content, `${param}.content`, history.ignored) }, param, content)
  else history.addMessage({ role, content: systemContent(content, `${param}.content`) }, param)
}

const toolCall = (
  item: JsonObject,
  type: "function_call" | "custom_tool_call",
  param: string,
  tools: Pick<DecodedTools, "nameOf">
): ToolCall => {
  const kind = type === "function_call" ? "function" : "custom"
  const id = nonEmpty(item["call_id"], `${param}.call_id`)
  const name = tools.nameOf({
    kind,
    name: nonEmpty(item["name"], `${param}.name`),
    namespace: optional(item["namespace"], `${param}.namespace`, string)
  })
  const extra = extraContent(item, param)
  return kind === "function"
    ? { id, type: kind, function: { name, arguments: string(item["arguments"], `${param}.arguments`) }, ...extra }
    : { id, type: kind, custom: { name, input: string(item["input"], `${param}.input`) }, ...extra }
}

const extraContent = (item: JsonObject, param: string): { readonly extra_content?: JsonObject } => {
  const extra = optional(item["extra_content"], `${param}.extra_content`, object)
  return extra === undefined ? {} : { extra_content: extra }
}

const addOutput = (history: History, item: JsonObject, param: string): void => {
  const id = nonEmpty(item["call_id"], `${param}.call_id`)
  const output = toolOutput(item["output"], `${param}.output`, history.ignored)
  if (!history.hasCall(id))
    reject("invalid_value", `${param}.call_id`, `The output has no preceding call with the id '${cut(id)}'.`)
  history.result(id, output.text, output.attachments, param)
}

/** Only reasoning items created by this gateway can be read; reasoning of other services is left out. */
const addReasoning = (history: History, item: JsonObject, param: string): void => {
  const encrypted = optional(item["encrypted_content"], `${param}.encrypted_content`, string)
  const summary = textIn(item["summary"], `${param}.summary`)
  const content = textIn(item["content"], `${param}.content`)
  const detail = encrypted === undefined ? undefined : decodeReasoning(encrypted, summary || content)
  if (detail !== undefined) history.addReasoning(detail)
}

const textIn = (parts: unknown, param: string): string =>
  (optional(parts, param, array) ?? [])
    .map((value, index) => string(object(value, `${param}[${index}]`)["text"], `${param}[${index}].text`))
    .join("")

interface Said {
  readonly message: Message
  readonly source: MessageSource
  /** Of its calls. */
  readonly results: ReadonlyArray<Said>
}

const noResults: ReadonlyArray<Said> = []

interface AssistantTurn {
  content: AssistantContent | undefined
  /** The joined content of several items. */
  joined: Array<Exclude<AssistantContent, string>[number]> | undefined
  readonly calls: Array<ToolCall>
  /** The items of the content's parts, and of the calls. */
  readonly items: Array<string>
  readonly callItems: Array<string>
  readonly reasoning: Array<ReasoningDetail>
  /** Of the reasoning, the content's parts and the calls. */
  readonly order: Array<BlockKind>
  readonly results: Array<Said>
}

/**
 * Converts items to messages: the items of one assistant turn, including parallel calls, become one message, the results of its calls
 * follow it before anything that was said meanwhile, and parts that a tool message cannot contain follow in a user message.
 */
class History {
  readonly ignored = new Set<string>()
  private readonly said: Array<Said> = []
  /** The last turn with a call of this id. */
  private readonly turns = new Map<string, AssistantTurn>()
  private turn: AssistantTurn | undefined
  /** Reasoning that precedes the next assistant item. */
  private pendingReasoning: Array<ReasoningDetail> = []
  private attachments: Array<UserPart> = []
  /** The item of the last attachment. */
  private attachedTo = "input"

  hasCall(id: string): boolean {
    return this.turns.has(id)
  }

  addMessage(message: Exclude<Message, AssistantMessage>, item: string, content?: unknown): void {
    this.closeTurn()
    this.flushAttachments()
    this.push(message, { item, parts: `${item}.content`, calls: [], content })
  }

  answer(content: AssistantContent, item: string): void {
    let turn = this.openTurn()
    if (turn.content !== undefined && turn.calls.length === 0) {
      this.pushTurn(turn)
      turn = this.openTurn()
    }
    this.attachReasoning(turn)
    turn.items.push(item)
    for (const _ of asParts(content)) turn.order.push("text")
    // No other message may come between a call and its result.
    if (turn.content === undefined) turn.content = content
    else {
      turn.joined ??= [...asParts(turn.content)]
      for (const part of asParts(content)) turn.joined.push(part)
      turn.content = turn.joined
    }
  }

  call(call: ToolCall, item: string): void {
    const turn = this.openTurn()
    this.attachReasoning(turn)
    this.turns.set(call.id, turn)
    turn.calls.push(call)
    turn.order.push("call")
    turn.callItems.push(item)
  }

  addReasoning(detail: ReasoningDetail): void {
    this.pendingReasoning.push(detail)
  }

  result(id: string, text: ToolMessage["content"], attachments: ReadonlyArray<UserPart>, item: string): void {
    this.closeTurn()
    const content = text === "" && attachments.length > 0 ? "The result is attached to the next message." : text
    this.turns.get(id)?.results.push({
      message: { role: "tool", content, tool_call_id: id },
      source: { item, parts: undefined, calls: [] },
      results: noResults
    })
    if (attachments.length === 0) return
    this.attachedTo = item
    this.attachments.push({ type: "text", text: `Attached to the result of the call ${id}:` })
    for (const part of attachments) this.attachments.push(part)
  }

  end(): DecodedInput {
    this.closeTurn()
    this.flushAttachments()
    const said = this.said.flatMap((one) => [one, ...one.results])
    return {
      messages: said.map(({ message }) => message),
      sources: said.map(({ source }) => source),
      ignored: this.ignored
    }
  }

  private push(message: Message, source: MessageSource, results = noResults): void {
    this.said.push({ message, source, results })
  }

  private openTurn(): AssistantTurn {
    if (this.turn !== undefined) return this.turn
    this.flushAttachments()
    this.turn = {
      content: undefined,
      joined: undefined,
      calls: [],
      items: [],
      callItems: [],
      reasoning: [],
      order: [],
      results: []
    }
    return this.turn
  }

  /** Reasoning after all other items belongs to the same turn (a signature may come late); without a turn it is discarded. */
  private closeTurn(): void {
    if (this.turn === undefined) this.pendingReasoning = []
    else {
      this.attachReasoning(this.turn)
      this.pushTurn(this.turn)
    }
  }

  private pushTurn(turn: AssistantTurn): void {
    this.turn = undefined
    const [item] = turn.items
    this.push(
      {
        role: "assistant",
        content: turn.content ?? null,
        ...(turn.calls.length === 0 ? {} : { tool_calls: turn.calls }),
        ...(turn.reasoning.length === 0 ? {} : { reasoning_details: turn.reasoning }),
        ...(hasReasoningFirst(turn.order) ? {} : { order: turn.order })
      },
      {
        item: item ?? turn.callItems[0] ?? "input",
        parts: turn.items.length === 1 ? `${item}.content` : undefined,
        calls: turn.callItems
      },
      turn.results
    )
  }

  private attachReasoning(turn: AssistantTurn): void {
    for (const detail of this.pendingReasoning) {
      turn.reasoning.push({ ...detail, index: turn.reasoning.length })
      turn.order.push("reasoning")
    }
    this.pendingReasoning = []
  }

  private flushAttachments(): void {
    if (this.attachments.length === 0) return
    this.push(
      { role: "user", content: this.attachments },
      { item: `${this.attachedTo}.output`, parts: undefined, calls: [] }
    )
    this.attachments = []
  }
}

const asParts = (content: AssistantContent): Exclude<AssistantContent, string> =>
  typeof content === "string" ? [{ type: "text", text: content }] : content
