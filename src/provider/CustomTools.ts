import type { ChatRequest, JsonObject, Message, Tool, ToolCall } from "../domain/Chat.ts"
import type { ChatEvent } from "../domain/ChatEvent.ts"
import { isObject, parseObject, textAt } from "./Json.ts"
import type { Provider, Receiver } from "./Provider.ts"
import { customToolsOf } from "./protocols/turns/Tools.ts"

/**
 * The same provider for clients with custom tools, which it does not know: each is sent as a function of one text, and
 * calls of these functions come back as the custom calls they are.
 */
export const asFunctions = (provider: Provider): Provider => ({
  id: provider.id,
  open: (call, receiver) => {
    const custom = customToolsOf(call.request)
    return custom.size === 0
      ? provider.open(call, receiver)
      : provider.open({ ...call, request: customAsFunctions(call.request) }, new Restored(custom, receiver))
  }
})

interface Kept {
  readonly index: number
  arguments: string
}

/** The input of a call can only be told once its JSON is whole, so it is delivered before the finish. */
class Restored implements Receiver {
  private readonly custom: ReadonlySet<string>
  private readonly receiver: Receiver
  private readonly calls = new Map<number, Kept>()

  constructor(custom: ReadonlySet<string>, receiver: Receiver) {
    this.custom = custom
    this.receiver = receiver
  }

  readonly activity: Receiver["activity"] = () => this.receiver.activity()
  readonly fail: Receiver["fail"] = (error) => this.receiver.fail(error)

  readonly event = (event: ChatEvent): void => {
    if (event._tag === "Finish") this.deliver()
    const known = event._tag === "ToolCall" ? this.calls.get(event.index) : undefined
    if (event._tag === "ToolCall" && known !== undefined) known.arguments += event.arguments
    else if (event._tag === "ToolCall" && event.name !== undefined && this.custom.has(event.name)) {
      this.calls.set(event.index, { index: event.index, arguments: event.arguments })
      this.receiver.event({ ...event, kind: "custom", arguments: "" })
    } else this.receiver.event(event)
  }

  readonly end = (): void => {
    this.deliver()
    this.receiver.end()
  }

  private deliver(): void {
    for (const { arguments: text, index } of this.calls.values()) {
      this.receiver.event({ _tag: "ToolCall", index, kind: "custom", arguments: inputOf(text) })
    }
    this.calls.clear()
  }
}

/** A model that did not keep to the one text has its arguments passed on as they are. */
const inputOf = (text: string): string => textAt(parseObject(text), "input") ?? text

const customAsFunctions = (request: ChatRequest): ChatRequest => ({
  ...request,
  tools: request.tools.map(toolAsFunction),
  messages: request.messages.map(messageAsFunctions),
  toolChoice: isObject(request.toolChoice) ? choiceAsFunction(request.toolChoice) : request.toolChoice
})

const toolAsFunction = (tool: Tool): Tool => {
  if (tool.type === "function") return tool
  const { name, description, format } = tool.custom
  const grammar = format?.["type"] === "grammar" && isObject(format["grammar"]) ? format["grammar"] : undefined
  return {
    type: "function",
    function: {
      name,
      ...(description === undefined ? {} : { description }),
      parameters: {
        type: "object",
        properties: { input: { type: "string", description: inputDescription(grammar) } },
        required: ["input"],
        additionalProperties: false
      }
    }
  }
}

const inputDescription = (grammar: JsonObject | undefined): string =>
  grammar === undefined
    ? "The tool's input, as plain text."
    : `The tool's input, as plain text. It must match this ${String(grammar["syntax"])} grammar:\n${String(grammar["definition"])}`

const messageAsFunctions = (message: Message): Message =>
  message.role === "assistant" && message.tool_calls?.some((call) => call.type === "custom")
    ? { ...message, tool_calls: message.tool_calls.map(callAsFunction) }
    : message

const callAsFunction = (call: ToolCall): ToolCall => {
  if (call.type === "function") return call
  const { custom, ...facts } = call
  return {
    ...facts,
    type: "function",
    function: { name: custom.name, arguments: JSON.stringify({ input: custom.input }) }
  }
}

const choiceAsFunction = (choice: JsonObject): JsonObject => {
  const allowed = choice["allowed_tools"]
  if (choice["type"] === "allowed_tools" && isObject(allowed) && Array.isArray(allowed["tools"]))
    return { ...choice, allowed_tools: { ...allowed, tools: allowed["tools"].map(namedAsFunction) } }
  return namedAsFunction(choice)
}

const namedAsFunction = (named: JsonObject): JsonObject =>
  named["type"] === "custom" ? { type: "function", function: named["custom"] } : named
