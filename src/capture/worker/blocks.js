import { mediaOf } from "./media.js"

/**
 * A prompt as blocks: one for each tool, then one for each message, each as JSON of the fields that the gateway passes on. What is
 * never kept is replaced: media by `media:<id>`, encrypted reasoning, signatures and ids at a provider by their length.
 *
 * @typedef {import("../../domain/Chat.ts").Message} Message
 * @typedef {import("../../domain/Chat.ts").Tool} Tool
 * @typedef {import("../../domain/CapturedCall.ts").BlockKind} BlockKind
 * @typedef {import("../../domain/CapturedCall.ts").BlockLook} BlockLook
 * @typedef {{ kind: BlockKind, text: string, content: string, tool: string | null, mark: "5m" | "1h" | null }} Block
 * @typedef {{ key: Uint8Array, media: Map<string, import("./media.js").Media>, isBound: boolean, tools: Map<string, string> }} Found
 * @typedef {{ readonly [key: string]: any }} Loose
 */

/** @param {Uint8Array} key @returns {Found} */
export const nothingFound = (key) => ({ key, media: new Map(), isBound: false, tools: new Map() })

/** @param {ReadonlyArray<Message>} messages @param {ReadonlyArray<Tool>} tools @param {Found} found @returns {ReadonlyArray<Block>} */
export const blocksOf = (messages, tools, found) => [
  ...tools.map((tool) => toolBlock(tool)),
  ...messages.map((message) => messageBlock(message, found))
]

/** @param {Loose} tool @returns {Block} */
const toolBlock = (tool) => {
  const { cache_control, type } = tool
  const kept =
    type === "custom" ? { type, custom: tool["custom"] } : { type, function: tool["function"], cache_control }
  const text = JSON.stringify(kept)
  const name = tool[type === "custom" ? "custom" : "function"]?.name ?? null
  return { kind: "tool", text, content: text, tool: name, mark: markOf(cache_control) }
}

/** @param {Loose} message @param {Found} found @returns {Block} */
export const messageBlock = (message, found) => {
  const { role } = message
  const content = contentOf(message["content"], found)
  const mark = markOf(message["cache_control"]) ?? markOfParts(message)
  const common = { role, content }
  const plain = textOf(message["content"])
  if (role === "tool") {
    const { cache_control, is_error, tool_call_id } = message
    const text = JSON.stringify({ ...common, tool_call_id, is_error, cache_control })
    return { kind: "tool_result", text, content: plain, tool: found.tools.get(tool_call_id) ?? null, mark }
  }
  if (role !== "assistant") {
    const text = JSON.stringify({ ...common, name: message["name"] })
    return { kind: role === "user" ? "user" : "system", text, content: plain, tool: null, mark }
  }
  const { audio, name, reasoning, reasoning_content, reasoning_details, refusal, tool_calls } = message
  if (audio !== undefined && audio !== null) found.isBound = true
  const text = JSON.stringify({
    ...common,
    refusal,
    name,
    tool_calls: tool_calls?.map((/** @type {Loose} */ call) => toolCall(call, found)),
    audio: audio && { id: omitted(audio.id) },
    reasoning_content,
    reasoning,
    reasoning_details: reasoning_details?.map((/** @type {Loose} */ detail) => reasoningDetail(detail, found))
  })
  return { kind: "assistant", text, content: plain, tool: null, mark }
}

/** @param {Loose} call @param {Found} found */
const toolCall = (call, found) => {
  const { cache_control, custom, extra_content, function: called, id, type } = call
  found.tools.set(id, type === "custom" ? custom.name : called?.name)
  return {
    id,
    type,
    ...(type === "custom"
      ? { custom: { name: custom.name, input: custom.input } }
      : { function: { name: called?.name, arguments: called?.arguments } }),
    ...(extra_content !== undefined && extra_content !== null && { extra_content: bound(extra_content, found) }),
    cache_control
  }
}

/** @param {unknown} value @param {Found} found */
const bound = (value, found) => {
  found.isBound = true
  return { omitted: JSON.stringify(value).length }
}

/** @param {Loose} detail @param {Found} found */
const reasoningDetail = (detail, found) => {
  const { data, format, id, index, signature, summary, text, type } = detail
  const isBound = [data, signature, id].some((one) => typeof one === "string")
  if (isBound) found.isBound = true
  return { type, text, summary, data: omitted(data), signature: omitted(signature), format, id: omitted(id), index }
}

/** @param {unknown} value */
const omitted = (value) => (typeof value === "string" ? `omitted:${value.length}` : value)

/** @param {unknown} content @param {Found} found */
const contentOf = (content, found) => (Array.isArray(content) ? content.map((part) => partOf(part, found)) : content)

/** @param {Loose} part @param {Found} found */
const partOf = (part, found) => {
  const { cache_control, prompt_cache_breakpoint, type } = part
  switch (type) {
    case "text":
      return { type, text: part["text"], prompt_cache_breakpoint, cache_control }
    case "refusal":
      return { type, refusal: part["refusal"] }
    case "image_url": {
      const { detail, url } = part["image_url"]
      return {
        type,
        image_url: { url: placed("image", url, null, found), detail },
        prompt_cache_breakpoint,
        cache_control
      }
    }
    case "input_audio": {
      const { data, format } = part["input_audio"]
      return {
        type,
        input_audio: { data: placed("audio", data, `audio/${format}`, found), format },
        prompt_cache_breakpoint
      }
    }
    default: {
      const { file_data, file_id, filename } = part["file"]
      if (file_id !== undefined) found.isBound = true
      const place = file_data === undefined ? undefined : placed("file", file_data, null, found)
      return {
        type,
        file: { filename, file_data: place, file_id: omitted(file_id) },
        prompt_cache_breakpoint,
        cache_control
      }
    }
  }
}

/** @param {import("./media.js").Media["type"]} type @param {string} source @param {string | null} mediaType @param {Found} found */
const placed = (type, source, mediaType, found) => {
  const media = mediaOf(found.key, type, source, mediaType)
  found.media.set(media.id, media)
  return `media:${media.id}`
}

/** @param {unknown} content @returns {string} */
const textOf = (content) =>
  typeof content === "string"
    ? content
    : Array.isArray(content)
      ? content.map((part) => (typeof part.text === "string" ? part.text : "")).join("")
      : ""

/** @param {{ ttl?: string } | null | undefined} control @returns {"5m" | "1h" | null} */
const markOf = (control) => (control === undefined || control === null ? null : control.ttl === "1h" ? "1h" : "5m")

/** @param {Loose} message @returns {"5m" | "1h" | null} */
const markOfParts = ({ content, tool_calls }) => {
  const parts = [...(Array.isArray(content) ? content : []), ...(tool_calls ?? [])]
  const marks = parts.map((part) => (part.prompt_cache_breakpoint ? "5m" : markOf(part.cache_control)))
  return marks.includes("1h") ? "1h" : marks.includes("5m") ? "5m" : null
}

/** @type {ReadonlyArray<BlockLook>} */
export const looks = ["json", "json_pretty", "base64", "markup"]

/** Only from the beginning of a run: shorter ones, tried from each of their characters, would take 512 times as long. */
const base64Run = /(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{512}/
const maxTagCharacters = 200
/** Share of a text that is tags. */
const markupShare = 0.3

/** What a block looks like, a bit for each of `looks`. @param {Block} block */
export const looksOf = ({ content, kind }) => {
  if (kind === "tool") return 1
  let bits = 0
  const first = content.trimStart()[0]
  if ((first === "{" || first === "[") && isJson(content)) bits += content.includes("\n ") ? 3 : 1
  if (base64Run.test(content)) bits += 4
  return charactersInTags(content) > content.length * markupShare ? bits + 8 : bits
}

/** In one pass: there may be millions. @param {string} content */
const charactersInTags = (content) => {
  let inTags = 0
  let start = -1
  for (let at = 0; at < content.length; at++) {
    const character = content.charCodeAt(at)
    if (character === 60) start = at
    if (character !== 62 || start === -1) continue
    const inner = at - start - 1
    if (inner >= 1 && inner <= maxTagCharacters) inTags += inner + 2
    start = -1
  }
  return inTags
}

/** @param {string} text */
const isJson = (text) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi
const time = /\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?/g
const clock = /\d{1,2}:\d{2}(?::\d{2})?/g
const epoch = /\b1\d{9}(?:\d{3})?\b/g

/**
 * A block, read from its JSON, as it is compared with others: without marks for the provider's cache, which are no part of the prompt
 * and move on with each request, and with a lone text as a string, because only a part can be marked. The same object where nothing
 * of that is in it.
 *
 * @param {Loose} block @returns {Loose}
 */
export const unmarked = (block) => {
  const { content, tool_calls } = block
  const parts = Array.isArray(content) ? content : []
  const isLoneText = parts.length === 1 && parts[0].type === "text"
  if (!isLoneText && ![block, ...parts, ...(tool_calls ?? [])].some(isMarked)) return block
  return {
    ...withoutMark(block),
    ...(Array.isArray(content) && { content: isLoneText ? parts[0].text : parts.map(withoutMark) }),
    ...(Array.isArray(tool_calls) && { tool_calls: tool_calls.map(withoutMark) })
  }
}

/** @param {Loose} part */
const isMarked = ({ cache_control, prompt_cache_breakpoint }) =>
  cache_control !== undefined || prompt_cache_breakpoint !== undefined

/** @param {Loose} part @returns {Loose} */
const withoutMark = ({ cache_control: _, prompt_cache_breakpoint: __, ...part }) => part

/** The same for blocks that differ in nothing but the order of their keys, times, dates, epochs and UUIDs. @param {Loose} block */
export const canonicalOf = (block) =>
  JSON.stringify(sorted(block)).replace(uuid, "#").replace(time, "#").replace(clock, "#").replace(epoch, "#")

/** @param {unknown} value @returns {unknown} */
const sorted = (value) => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([key, inner]) => [key, sorted(inner)])
  )
}
