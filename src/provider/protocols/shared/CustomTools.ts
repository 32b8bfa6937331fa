import type { ChatRequest, JsonObject, Message, Tool, ToolCall } from "../../../domain/Chat.ts"
import type { ChatEvent } from "../../../domain/ChatEvent.ts"
import type { Provider, Receiver } from "../../Provider.ts"
import { customInput } from "./ContentBlocks.ts"
import { isObject } from "./Json.ts"
import { customInputSchema, customToolsOf } from "./Tools.ts"

/**
 * Adds custom tools to a provider that does not support them: a custom tool and its calls in the conversation are sent as a
 * function with one string parameter, and calls of such a function are delivered as custom tool calls.
 */
export const asFunctions = (provider: Provider): Provider => ({
  ...provider,
  open: (call, receiver) => {
    const custom = customToolsOf(call.request)
    if (custom.size === 0 && !call.request.messages.some(callsCustomTool)) return provider.open(call, receiver)
    return provider.open(
      { ...call, request: customAsFunctions(call.request) },
      custom.size === 0 ? receiver : new CustomToolReceiver(custom, receiver)
    )
  }
})

interface BufferedCall {
  readonly index: number
  arguments: string
}

/** The input of a custom call can be read only when its JSON is complete, so it is delivered before the finish event. */
class CustomToolReceiver implements Receiver {
  private readonly custom: ReadonlySet<string>
  private readonly receiver: Receiver
  private readonly calls = new Map<number, BufferedCall>()

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
      this.receiver.event({ _tag: "ToolCall", index, kind: "custom", arguments: customInput(text) })
    }
    this.calls.clear()
  }
}

const customAsFunctions = (request: ChatRequest): ChatRequest => ({
  ...request,
  tools: request.tools.map(toolAsFunction),
  messages: request.messages.map(messageAsFunctions),
  toolChoice: isObject(request.toolChoice) ? choiceAsFunction(request.toolChoice) : request.toolChoice
})

const toolAsFunction = (tool: Tool): Tool => {
  if (tool.type === "function") return tool
  const { name, description, format } = tool.custom
  return {
    type: "function",
    function: { name, ...(description === undefined ? {} : { description }), parameters: customInputSchema(format) }
  }
}

const messageAsFunctions = (message: Message): Message =>
  callsCustomTool(message) ? { ...message, tool_calls: message.tool_calls.map(callAsFunction) } : message

/** A conversation may go on without the tools that it has called. */
const callsCustomTool = (message: Message): message is CallingMessage =>
  message.role === "assistant" && message.tool_calls?.some((call) => call.type === "custom") === true

type CallingMessage = Extract<Message, { readonly role: "assistant" }> & {
  readonly tool_calls: ReadonlyArray<ToolCall>
}

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
