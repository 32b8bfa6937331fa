import type { ChatRequest, JsonObject, Message, Tool, ToolCall } from "../domain/Chat.ts"
import { isObject } from "./Guard.ts"

/**
 * The same request for a provider without custom tools: each becomes a function with one string field, `input`. The encoders
 * turn calls of these functions back, so that the client sees custom calls only.
 */
export const customAsFunctions = (request: ChatRequest): ChatRequest => ({
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
