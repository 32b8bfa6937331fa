import { isObject, type Json, listAt, objectAt, textAt } from "../../../provider/protocols/shared/Json.ts"
import { toolName } from "./OpenAiToolRules.ts"

/** What is wrong with the messages, if anything. */
export const rejectedMessages = (messages: ReadonlyArray<unknown>): string | undefined => {
  if (messages.length === 0) return "Invalid 'messages': empty array."
  /** Calls without a result. */
  let open: ReadonlyArray<string> = []
  for (const [at, message] of messages.entries()) {
    const path = `messages[${at}]`
    if (!isObject(message)) return `Invalid type for '${path}'.`
    const role = textAt(message, "role") ?? ""
    const known = fieldsOf[role]
    if (known === undefined) return `Invalid value for '${path}.role'.`
    const unknown = Object.keys(message).find((field) => field !== "role" && !known.includes(field))
    if (unknown !== undefined) return `Unknown parameter: '${path}.${unknown}'.`
    const refused = rejectedContent(message, role, path) ?? rejectedCalls(message, path)
    if (refused !== undefined) return refused
    if (role === "tool") {
      const id = textAt(message, "tool_call_id") ?? ""
      if (!open.includes(id)) {
        return `Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.`
      }
      open = open.filter((one) => one !== id)
    } else {
      if (open.length > 0) return unanswered(open)
      open = callsOf(message).map((call) => textAt(call, "id") ?? "")
    }
  }
  return open.length > 0 ? unanswered(open) : undefined
}

const unanswered = (ids: ReadonlyArray<string>): string =>
  `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(", ")}`

const fieldsOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  developer: ["content", "name"],
  system: ["content", "name"],
  user: ["content", "name"],
  assistant: ["content", "name", "refusal", "audio", "tool_calls"],
  tool: ["content", "tool_call_id"]
}

const partsOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  developer: ["text"],
  system: ["text"],
  user: ["text", "image_url", "input_audio", "file"],
  assistant: ["text", "refusal"],
  tool: ["text"]
}

const rejectedContent = (message: Json, role: string, path: string): string | undefined => {
  const { content } = message
  if (content === null || content === undefined) {
    return role === "assistant" && ["tool_calls", "refusal", "audio"].some((field) => message[field] !== undefined)
      ? undefined
      : `Invalid value for '${path}.content': expected a string, got null.`
  }
  if (typeof content === "string") return undefined
  if (!Array.isArray(content) || content.length === 0) return `Invalid '${path}.content': empty array.`
  for (const [at, part] of content.entries()) {
    const type = isObject(part) ? textAt(part, "type") : undefined
    const refused =
      isObject(part) && type !== undefined && partsOf[role]?.includes(type) === true
        ? rejectedPart(part, type, `${path}.content[${at}]`)
        : `Invalid value for '${path}.content[${at}].type'.`
    if (refused !== undefined) return refused
  }
  return undefined
}

const rejectedPart = (part: Json, type: string, path: string): string | undefined => {
  switch (type) {
    case "text":
      return typeof part["text"] === "string" ? undefined : `Missing '${path}.text'.`
    case "image_url": {
      const url = textAt(objectAt(part, "image_url"), "url") ?? ""
      return /^https?:\/\//.test(url) || /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/.test(url)
        ? undefined
        : `Invalid '${path}.image_url.url'.`
    }
    case "file":
      return isFile(objectAt(part, "file") ?? {}) ? undefined : `Missing required parameter: '${path}.file.file_id'.`
    default:
      return undefined
  }
}

/** By id, or with its data and a name. */
const isFile = (file: Json): boolean =>
  textAt(file, "file_id") !== undefined ||
  (textAt(file, "file_data") !== undefined && textAt(file, "filename") !== undefined)

const callsOf = (message: Json): ReadonlyArray<Json> => listAt(message, "tool_calls").filter(isObject)

const rejectedCalls = (message: Json, path: string): string | undefined => {
  if (message["tool_calls"] === undefined) return undefined
  const calls = callsOf(message)
  if (calls.length === 0) return `Invalid '${path}.tool_calls': empty array.`
  const ids = calls.map((call) => textAt(call, "id"))
  if (ids.some((id) => id === undefined || id === "") || new Set(ids).size < ids.length) {
    return `Invalid '${path}.tool_calls': each call needs an id of its own.`
  }
  for (const [at, call] of calls.entries()) {
    const refused = rejectedCall(call, `${path}.tool_calls[${at}]`)
    if (refused !== undefined) return refused
  }
  return undefined
}

const rejectedCall = (call: Json, path: string): string | undefined => {
  const kind = call["type"]
  if (kind !== "function" && kind !== "custom") return `Invalid value for '${path}.type'.`
  const inner = objectAt(call, kind)
  if (!toolName.test(textAt(inner, "name") ?? "")) {
    return `Invalid '${path}.${kind}.name': expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`
  }
  const input = kind === "function" ? "arguments" : "input"
  return typeof inner?.[input] === "string" ? undefined : `Missing required parameter: '${path}.${kind}.${input}'.`
}
