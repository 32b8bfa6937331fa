import { isObject } from "../validation/Guard.ts"

/** Where a message of the canonical request came from in `input`. */
export interface MessageSource {
  /** The item, or `instructions`, or `input` where it is a text. */
  readonly item: string
  /** The content's parts, where their positions are those of the message's. */
  readonly parts: string | undefined
  /** The item of each tool call. */
  readonly calls: ReadonlyArray<string>
  /** As the client has sent it, where its fields may have other names. */
  readonly content?: unknown
}

/** The path in a Responses request for one in a chat completions request, which the rest of the gateway names fields by. */
export const responsesPath = (path: string, sources: ReadonlyArray<MessageSource>): string => {
  const message = /^messages\[(\d{1,6})\](.*)$/s.exec(path)
  if (message !== null) return messagePath(sources[Number(message[1])], message[2] ?? "")
  const known = fields.get(path)
  if (known !== undefined) return known
  const schema = /^response_format(?:\.json_schema)?(\..*)?$/s.exec(path)
  if (schema !== null) return `text.format${schema[1] ?? ""}`
  // positions differ where hosted tools were removed or a namespace holds several
  return path.startsWith("tools[") ? "tools" : path
}

const fields: ReadonlyMap<string, string> = new Map([
  ["messages", "input"],
  ["messages.image_url.detail", "input.detail"],
  ["messages.prompt_cache_breakpoint", "input.prompt_cache_breakpoint"],
  ["tools.function.strict", "tools.strict"],
  ["response_format", "text.format"],
  ["reasoning_effort", "reasoning.effort"],
  ["verbosity", "text.verbosity"],
  ["max_tokens", "max_output_tokens"],
  ["max_completion_tokens", "max_output_tokens"],
  ["logprobs", "include"]
])

const messagePath = (source: MessageSource | undefined, rest: string): string => {
  if (source === undefined) return "input"
  const call = /^\.tool_calls\[(\d{1,6})\](.*)$/s.exec(rest)
  if (call !== null) {
    const inner = (call[2] ?? "").replace(/^\.(?:function|custom)(?=\.)/, "")
    return `${source.calls[Number(call[1])] ?? source.item}${inner}`
  }
  const part = /^\.content\[(\d{1,6})\](.*)$/s.exec(rest)
  if (part !== null) {
    const sent = Array.isArray(source.content) ? source.content[Number(part[1])] : undefined
    return source.parts === undefined ? source.item : `${source.parts}[${part[1]}]${partPath(part[2] ?? "", sent)}`
  }
  if (rest === ".tool_call_id") return `${source.item}.call_id`
  return source.item.startsWith("input[") && rest === ".role" ? `${source.item}.type` : source.item
}

/** Chat completions nests the fields of a part under its type, and has one for data and address of a file. */
const partPath = (rest: string, sent: unknown): string =>
  rest
    .replace(/^\.file\.file_data/, fileFieldOf(sent))
    .replace(/^\.image_url\.url/, ".image_url")
    .replace(/^\.image_url\.detail/, ".detail")
    .replace(/^\.file(?=\.|$)/, "")

const fileFieldOf = (sent: unknown): string =>
  isObject(sent) && (sent["file_data"] ?? null) === null && "file_url" in sent ? ".file_url" : ".file_data"
