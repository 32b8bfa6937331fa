import { isObject, type Json, listAt, objectAt, textAt } from "../../../provider/protocols/shared/Json.ts"
import type { Claude } from "./AnthropicModels.ts"
import { isSigned } from "./AnthropicSignatures.ts"
import { rejectedSystemMessages, roleOf } from "./AnthropicSystemMessages.ts"

const maxBreakpoints = 4

/** What is wrong with system text and messages, if anything. */
export const rejectedContent = (body: Json, claude: Claude, reasons: boolean): string | undefined => {
  const system = body["system"]
  if (system !== undefined && (!Array.isArray(system) || system.length === 0)) return "system: must not be empty"
  for (const [at, block] of listAt(body, "system").entries()) {
    const refused =
      isObject(block) && block["type"] === "text" ? rejectedText(block, `system.${at}`) : `system.${at}: text only`
    if (refused !== undefined) return refused
  }
  const breakpoints = JSON.stringify([system, body["messages"]]).split('"cache_control":{').length - 1
  if (breakpoints > maxBreakpoints)
    return `A maximum of 4 blocks with cache_control may be provided. Found ${breakpoints}.`
  return new Messages(claude, reasons).refused(listAt(body, "messages"))
}

class Messages {
  private readonly ids = new Set<string>()
  /** Calls of the preceding turn without a result. */
  private open: Array<string> = []
  private readonly claude: Claude
  private readonly reasons: boolean

  constructor(claude: Claude, reasons: boolean) {
    this.claude = claude
    this.reasons = reasons
  }

  refused(messages: ReadonlyArray<unknown>): string | undefined {
    if (messages.length === 0) return "messages: at least one message is required"
    const refusedSystem = rejectedSystemMessages(messages, this.claude)
    if (refusedSystem !== undefined) return refusedSystem
    for (const [at, message] of messages.filter((one) => roleOf(one) !== "system").entries()) {
      const role = roleOf(message)
      if (role !== (at % 2 === 0 ? "user" : "assistant")) {
        return at === 0 ? "messages: first message must use the user role" : "messages: roles must alternate"
      }
      const content = listAt(isObject(message) ? message : {}, "content").filter(isObject)
      if (content.length === 0) return `messages.${at}: content must not be empty`
      const path = `messages.${at}.content`
      const refused = role === "user" ? this.user(content, path) : this.assistant(content, path)
      if (refused !== undefined) return refused
    }
    return this.open.length > 0 ? unanswered(this.open) : this.last(messages.filter(isObject))
  }

  private user(content: ReadonlyArray<Json>, path: string): string | undefined {
    const results = content.filter((block) => block["type"] === "tool_result")
    if (content.slice(0, results.length).some((block) => block["type"] !== "tool_result")) {
      return `${path}: tool_result blocks must come first`
    }
    for (const result of results) {
      const id = textAt(result, "tool_use_id") ?? ""
      if (!this.open.includes(id)) return `${path}: unexpected tool_use_id ${id}: no tool_use in the previous message`
      this.open = this.open.filter((one) => one !== id)
      for (const block of listAt(result, "content")) {
        const refused = isObject(block) ? rejectedBlock(block, userBlocks, path) : `${path}: not a block`
        if (refused !== undefined) return refused
      }
    }
    if (this.open.length > 0) return unanswered(this.open)
    return firstRefused(content, (block) => rejectedBlock(block, userBlocks, path))
  }

  private assistant(content: ReadonlyArray<Json>, path: string): string | undefined {
    for (const block of content) {
      const refused = rejectedBlock(block, assistantBlocks, path) ?? this.signed(block, path)
      if (refused !== undefined) return refused
      if (block["type"] === "tool_use") {
        const id = textAt(block, "id") ?? ""
        if (!/^[a-zA-Z0-9_-]{1,64}$/.test(id)) return `${path}: tool_use.id must match ^[a-zA-Z0-9_-]+$`
        if (this.ids.has(id)) return `${path}: tool_use ids must be unique`
        this.ids.add(id)
        this.open.push(id)
      }
    }
    const last = content.at(-1)?.["type"]
    return last === "thinking" || last === "redacted_thinking"
      ? `${path}: the final block cannot be thinking`
      : undefined
  }

  private signed(block: Json, path: string): string | undefined {
    return isSigned(block, this.claude.name) ? undefined : `${path}: Invalid signature in thinking block`
  }

  private last(messages: ReadonlyArray<Json>): string | undefined {
    const last = messages.at(-1)
    const block = listAt(last, "content").at(-1)
    const text = isObject(block) ? (textAt(block, "text") ?? "") : ""
    if (last?.["role"] === "assistant" && text !== text.trimEnd()) {
      return "messages: final assistant content cannot end with trailing whitespace"
    }
    const isMidTools = listAt(last, "content").some((one) => isObject(one) && one["type"] === "tool_result")
    const before = listAt(messages.at(-2), "content")[0]
    const begins = isObject(before) ? before["type"] : undefined
    return this.reasons &&
      !this.claude.reasonsAdaptively &&
      isMidTools &&
      begins !== "thinking" &&
      begins !== "redacted_thinking"
      ? "messages: Expected `thinking` or `redacted_thinking`, but found `tool_use`."
      : undefined
  }
}

const unanswered = (ids: ReadonlyArray<string>): string =>
  `tool_use ids were found without tool_result blocks immediately after: ${ids.join(", ")}`

const userBlocks: Readonly<Record<string, ReadonlyArray<string>>> = {
  text: ["text"],
  image: ["source"],
  document: ["source", "title", "context", "citations"],
  tool_result: ["tool_use_id", "content", "is_error"]
}
const assistantBlocks: Readonly<Record<string, ReadonlyArray<string>>> = {
  text: ["text"],
  thinking: ["thinking", "signature"],
  redacted_thinking: ["data"],
  tool_use: ["id", "name", "input"]
}

const rejectedBlock = (
  block: Json,
  known: Readonly<Record<string, ReadonlyArray<string>>>,
  path: string
): string | undefined => {
  const fields = known[String(block["type"])]
  if (fields === undefined) return `${path}: unexpected block '${String(block["type"])}'`
  const extra = Object.keys(block).find((key) => key !== "type" && key !== "cache_control" && !fields.includes(key))
  if (extra !== undefined) return `${path}.${extra}: Extra inputs are not permitted`
  switch (block["type"]) {
    case "text":
      return rejectedText(block, path)
    case "image":
      return rejectedSource(objectAt(block, "source"), imageTypes, path)
    case "document":
      return rejectedSource(objectAt(block, "source"), documentTypes, path)
    case "tool_use":
      return isObject(block["input"]) ? undefined : `${path}.input: must be an object`
    default:
      return undefined
  }
}

const rejectedText = (block: Json, path: string): string | undefined =>
  /\S/.test(textAt(block, "text") ?? "") ? undefined : `${path}: text content blocks must contain non-whitespace text`

const imageTypes: ReadonlySet<unknown> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"])
const documentTypes: ReadonlySet<unknown> = new Set(["application/pdf"])

const rejectedSource = (source: Json | undefined, types: ReadonlySet<unknown>, path: string): string | undefined => {
  switch (source?.["type"]) {
    case "url":
      return /^https?:\/\//.test(textAt(source, "url") ?? "") ? undefined : `${path}.source.url: not an address`
    case "base64": {
      const data = textAt(source, "data") ?? ""
      if (!types.has(source["media_type"])) return `${path}.source.media_type: not supported`
      return data !== "" && data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data)
        ? undefined
        : `${path}.source.data: invalid base64`
    }
    case "text":
      return textAt(source, "data") === undefined ? `${path}.source.data: empty` : undefined
    case "file":
      return textAt(source, "file_id") === undefined ? `${path}.source.file_id: missing` : undefined
    default:
      return `${path}.source.type: not supported`
  }
}

const firstRefused = (blocks: ReadonlyArray<Json>, check: (block: Json) => string | undefined): string | undefined => {
  for (const block of blocks) {
    const refused = check(block)
    if (refused !== undefined) return refused
  }
  return undefined
}
