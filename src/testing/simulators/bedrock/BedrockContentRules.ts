import { isObject, type Json, listAt, objectAt, textAt } from "../../../provider/protocols/shared/Json.ts"
import { isSigned } from "../anthropic/AnthropicSignatures.ts"
import type { BedrockModel } from "./BedrockModels.ts"

const maxCachePoints = 4

/** What is wrong with system text and messages, if anything. */
export const rejectedContent = (body: Json, model: BedrockModel): string | undefined => {
  const system = body["system"]
  if (system !== undefined && (!Array.isArray(system) || system.length === 0)) return "system: must not be empty"
  const rules = new ContentRules(model)
  for (const [at, block] of listAt(body, "system").entries()) {
    const refused = isObject(block) ? rules.block(block, systemBlocks, `system.${at}`) : `system.${at}: not a block`
    if (refused !== undefined) return refused
  }
  return rules.messages(listAt(body, "messages"))
}

const systemBlocks = ["text", "cachePoint"]
const userBlocks = ["text", "image", "document", "toolResult", "cachePoint"]
const assistantBlocks = ["text", "toolUse", "reasoningContent", "cachePoint"]

class ContentRules {
  private readonly ids = new Set<string>()
  private readonly documents = new Set<string>()
  private cachePoints = 0
  /** Calls of the preceding turn without a result. */
  private open: ReadonlyArray<string> = []
  private readonly model: BedrockModel

  constructor(model: BedrockModel) {
    this.model = model
  }

  messages(messages: ReadonlyArray<unknown>): string | undefined {
    for (const [at, message] of messages.entries()) {
      const role = isObject(message) ? message["role"] : undefined
      if (role !== (at % 2 === 0 ? "user" : "assistant")) {
        return at === 0
          ? "A conversation must start with a user message. Try again with a conversation that starts with a user message."
          : "A conversation must alternate between user and assistant roles."
      }
      const content = listAt(isObject(message) ? message : {}, "content").filter(isObject)
      if (content.length === 0) return `The content field in the Message object at messages.${at} is empty.`
      const path = `messages.${at}.content`
      const refused = role === "user" ? this.user(content, path) : this.assistant(content, path)
      if (refused !== undefined) return refused
    }
    return messages.length % 2 === 1
      ? undefined
      : "This model does not support assistant message prefill. The conversation must end with a user message."
  }

  block(block: Json, known: ReadonlyArray<string>, path: string): string | undefined {
    const [kind, ...others] = Object.keys(block)
    if (kind === undefined || others.length > 0 || !known.includes(kind)) return `${path}: not a block of this role`
    const inner = block[kind]
    if (kind === "text") {
      return typeof inner === "string" && /\S/.test(inner)
        ? undefined
        : `The text field in the ContentBlock object at ${path} is blank. Add text to the text field, and try again.`
    }
    if (!isObject(inner)) return `${path}.${kind}: not an object`
    switch (kind) {
      case "image":
        return imageFormats.has(inner["format"]) ? rejectedBytes(inner, path) : `${path}.image.format: not supported`
      case "document":
        return this.document(inner, path)
      case "cachePoint":
        return this.cachePoint(inner, path)
      case "reasoningContent":
        return this.reasoning(inner, path)
      case "toolUse":
        return rejectedCall(inner, path)
      default:
        return undefined
    }
  }

  private user(content: ReadonlyArray<Json>, path: string): string | undefined {
    const results = content.map((block) => objectAt(block, "toolResult")).filter(isObject)
    const answered = results.map((result) => textAt(result, "toolUseId") ?? "")
    if (new Set(answered).size < answered.length || answered.some((id) => !this.open.includes(id))) {
      return `The number of toolResult blocks at ${path} exceeds the number of toolUse blocks of previous turn.`
    }
    const unanswered = this.open.filter((id) => !answered.includes(id))
    if (unanswered.length > 0) {
      return `Expected toolResult blocks at ${path} for the following Ids: ${unanswered.join(", ")}`
    }
    this.open = []
    const firstOther = content.findIndex((block) => !("toolResult" in block) && !("cachePoint" in block))
    if (firstOther !== -1 && content.slice(firstOther).some((block) => "toolResult" in block)) {
      return `${path}: toolResult blocks must come first`
    }
    for (const result of results) {
      if (result["status"] !== undefined && !this.model.forcesTools)
        return `${path}: status is not supported by this model`
      const inner = listAt(result, "content").filter(isObject)
      const refused = first(inner, (block) => this.block(block, ["text", "json", "image", "document"], path))
      if (refused !== undefined || inner.length === 0) return refused ?? `${path}: a toolResult without content`
    }
    if (content.some((block) => "document" in block) && !content.some((block) => "text" in block)) {
      return `${path}: a text block must be included when using documents.`
    }
    return first(content, (block) => this.block(block, userBlocks, path))
  }

  private assistant(content: ReadonlyArray<Json>, path: string): string | undefined {
    const calls = content.flatMap((block) => textAt(objectAt(block, "toolUse"), "toolUseId") ?? [])
    for (const id of calls) {
      if (this.ids.has(id)) return `${path}: the toolUseId ${id} is not unique`
      this.ids.add(id)
    }
    this.open = calls
    if (content.every((block) => "reasoningContent" in block)) return `${path}: nothing but reasoning`
    return first(content, (block) => this.block(block, assistantBlocks, path))
  }

  private document(document: Json, path: string): string | undefined {
    const name = textAt(document, "name") ?? ""
    if (!/^[A-Za-z0-9 ()[\]-]{1,200}$/.test(name) || /\s{2}/.test(name)) {
      return "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets."
    }
    if (this.documents.has(name.toLowerCase())) {
      return "Messages can't contain duplicate document names. Rename the document and retry your request."
    }
    this.documents.add(name.toLowerCase())
    return documentFormats.has(document["format"])
      ? rejectedBytes(document, path)
      : `${path}.document.format: not supported`
  }

  private cachePoint(point: Json, path: string): string | undefined {
    if (point["type"] !== "default") return `${path}.cachePoint.type: must be default`
    if (this.model.claude === undefined) {
      return "You invoked an unsupported model or your request did not allow prompt caching."
    }
    return ++this.cachePoints > maxCachePoints ? "A maximum of 4 cache points may be provided." : undefined
  }

  /** Signatures are those of the vendor's own API. */
  private reasoning(content: Json, path: string): string | undefined {
    const { claude } = this.model
    if (claude === undefined) return "User messages cannot contain reasoning content."
    const text = objectAt(content, "reasoningText")
    const block =
      text === undefined
        ? { type: "redacted_thinking", data: decoded(textAt(content, "redactedContent") ?? "") }
        : { type: "thinking", thinking: text["text"], signature: text["signature"] }
    return isSigned(block, claude.name) ? undefined : `${path}: Invalid signature in thinking block`
  }
}

const decoded = (base64: string): string => Buffer.from(base64, "base64").toString("utf8")

const rejectedCall = (call: Json, path: string): string | undefined => {
  const [id, name] = [textAt(call, "toolUseId") ?? "", textAt(call, "name") ?? ""]
  if (!isName(id) || !isName(name)) return `${path}.toolUse: toolUseId and name must match [a-zA-Z0-9_-]{1,64}`
  return isObject(call["input"]) ? undefined : `${path}.toolUse.input: must be an object`
}

const isName = (text: string): boolean => /^[a-zA-Z0-9_-]{1,64}$/.test(text)

const imageFormats: ReadonlySet<unknown> = new Set(["png", "jpeg", "gif", "webp"])
const documentFormats: ReadonlySet<unknown> = new Set(["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"])

const rejectedBytes = (media: Json, path: string): string | undefined => {
  const bytes = textAt(objectAt(media, "source"), "bytes") ?? ""
  return bytes !== "" && bytes.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(bytes)
    ? undefined
    : `${path}.source.bytes: invalid base64`
}

const first = (blocks: ReadonlyArray<Json>, check: (block: Json) => string | undefined): string | undefined => {
  for (const block of blocks) {
    const refused = check(block)
    if (refused !== undefined) return refused
  }
  return undefined
}
