import type { Effort, Tool, ToolChoice } from "../../../domain/Chat.ts"
import { isObject, type Json, listAt, objectAt, parseObject, textAt } from "../../../provider/protocols/shared/Json.ts"
import * as Answers from "../../../provider/simulated/Answers.ts"
import type { Prompt } from "../../../provider/simulated/Prompt.ts"
import { type InjectedFault, json, jsonBrokenBy, type Reply, retryAfterSeconds } from "../core/Simulator.ts"
import { digest, tokensOf } from "../core/Tokens.ts"
import type { Accepted, Rejection } from "./AnthropicRules.ts"
import { redactedBy, signatureOf } from "./AnthropicSignatures.ts"

export const rejectionReply = ({ message, status, type }: Rejection): Reply => errorReply(status, type, message)

/** Faults in place of a response; the other faults break a response. */
export const faultReply = (fault: InjectedFault, { stream }: Accepted): Reply | undefined => {
  switch (fault) {
    case "overloaded":
      return errorReply(529, "overloaded_error", "Overloaded")
    case "rate-limited":
      return errorReply(429, "rate_limit_error", "Slow down.", { "retry-after": String(retryAfterSeconds) })
    case "quota":
      return errorReply(
        429,
        "rate_limit_error",
        "The monthly limit is reached.",
        {},
        { error_code: "enforced_spend_limit_reached" }
      )
    case "unauthorized":
      return errorReply(401, "authentication_error", "invalid x-api-key")
    case "model-gone":
      return errorReply(404, "not_found_error", "model: gone")
    case "invalid":
      return errorReply(400, "invalid_request_error", "messages: not like this")
    case "context-length":
      return errorReply(400, "invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum")
    case "content-policy":
      return errorReply(400, "invalid_request_error", "Output blocked by content filtering policy")
    case "server-error":
      return errorReply(500, "api_error", "Internal server error")
    case "error-first":
      return stream
        ? { ...eventStream([overloadedEvent]), ending: "end" }
        : json(200, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } })
    case "error-mid":
      return stream ? undefined : errorReply(529, "overloaded_error", "Overloaded")
    default:
      return undefined
  }
}

/** The same response to the same request, except for cache counts. */
export const answerTo = (accepted: Accepted, fault: InjectedFault | undefined, cached: Set<string>): Reply => {
  const message = fault === "refusal" ? refusalMessage(accepted) : messageFor(accepted)
  const usage = { ...promptUsage(accepted.body, cached), ...message.output }
  if (!accepted.stream) {
    const { content, head, stop } = message
    return jsonBrokenBy(fault, { ...head, content, ...stop, usage })
  }
  const events = eventsOf(message, usage)
  if (fault === undefined || fault === "refusal") return eventStream(events)
  const content = events.findIndex((event) => event["type"] === "content_block_delta")
  const begun = events.slice(0, content + 1)
  if (fault === "error-mid") return eventStream([...begun, overloadedEvent])
  const reply = eventStream(begun)
  if (fault === "malformed-mid")
    return { ...reply, chunks: [...reply.chunks, "event: content_block_delta\ndata: {broken\n\n"] }
  return { ...reply, ending: endingOf(fault) }
}

const endingOf = (fault: InjectedFault | undefined): Reply["ending"] =>
  fault === "cut-mid" ? "cut" : fault === "hang-mid" ? "hang" : "end"

const overloadedEvent: Json = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }

const errorReply = (
  status: number,
  type: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  details?: Json
): Reply =>
  json(
    status,
    { type: "error", error: { type, message, ...(details && { details }) }, request_id: "req_simulated" },
    headers
  )

const eventStream = (events: ReadonlyArray<Json>): Reply => ({
  status: 200,
  headers: { "content-type": "text/event-stream; charset=utf-8" },
  chunks: events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`),
  ending: "end"
})

// The message

interface Message {
  readonly head: Json
  readonly content: ReadonlyArray<Json>
  readonly stop: Json
  readonly output: Json
}

const headOf = ({ claude }: Accepted): Json => ({
  id: "msg_simulated",
  type: "message",
  role: "assistant",
  model: claude.name
})

const refusalMessage = (accepted: Accepted): Message => ({
  head: headOf(accepted),
  content: [],
  stop: {
    stop_reason: "refusal",
    stop_sequence: null,
    stop_details: { type: "refusal", category: null, explanation: "This is not something to help with." }
  },
  output: { output_tokens: 1 }
})

const messageFor = (accepted: Accepted): Message => {
  const { body, claude } = accepted
  const prompt = promptOf(body)
  const answer = Answers.answerTo(answerFieldsOf(body), prompt, claude.name)
  const reasoning = reasoningOf(accepted, prompt)
  const stops = listAt(body, "stop_sequences").filter((stop) => typeof stop === "string")
  const stopped = stops
    .filter((stop) => answer.text.includes(stop))
    .sort((a, b) => answer.text.indexOf(a) - answer.text.indexOf(b))[0]
  const visible = stopped === undefined ? answer.text : answer.text.slice(0, answer.text.indexOf(stopped))
  const cap = Number(body["max_tokens"])
  const tokens = tokensOf(visible)
  const isCut = tokens.length > cap
  const text = isCut ? tokens.slice(0, cap).join("") : visible
  const single = objectAt(body, "tool_choice")?.["disable_parallel_tool_use"] === true
  const calls = (single ? answer.toolCalls.slice(0, 1) : answer.toolCalls).map((call, at) => ({
    type: "tool_use",
    id: `toolu_${digest(`${JSON.stringify(body["messages"])} ${at}`)}`,
    name: call.name,
    input: parseObject(call.arguments) ?? {}
  }))
  const reasoningTokens = reasoning.reduce((sum, block) => sum + tokensOf(textAt(block, "thinking") ?? "").length, 0)
  const spoken = calls.length > 0 ? tokensOf(JSON.stringify(calls)).length : Math.min(tokens.length, cap)
  return {
    head: headOf(accepted),
    content: [...reasoning, ...(text === "" ? [] : [{ type: "text", text }]), ...calls],
    stop: {
      stop_reason:
        calls.length > 0 ? "tool_use" : isCut ? "max_tokens" : stopped === undefined ? "end_turn" : "stop_sequence",
      stop_sequence: isCut ? null : (stopped ?? null)
    },
    output: { output_tokens: spoken + reasoningTokens, output_tokens_details: { thinking_tokens: reasoningTokens } }
  }
}

/** Prompts of odd length also get a redacted block. */
const reasoningOf = ({ body, claude, reasons }: Accepted, prompt: Prompt): ReadonlyArray<Json> => {
  if (!reasons) return []
  const named = textAt(objectAt(body, "output_config"), "effort")
  const text = Answers.reasoningFor(efforts.find((effort) => effort === named) ?? "medium", prompt)
  const isOmitted = objectAt(body, "thinking")?.["display"] === "omitted"
  const thinking = isOmitted ? "" : text
  const block = { type: "thinking", thinking, signature: signatureOf(claude.name, thinking) }
  return prompt.text.length % 2 === 0
    ? [block]
    : [block, { type: "redacted_thinking", data: `${redactedBy(claude.name)}${digest(text)}` }]
}

const efforts: ReadonlyArray<Effort> = ["low", "medium", "high", "xhigh", "max"]

const promptOf = (body: Json): Prompt => {
  const last = listAt(
    listAt(body, "messages")
      .filter(isObject)
      .findLast((message) => message["role"] === "user"),
    "content"
  )
  const blocks = last.filter(isObject)
  return {
    text: textsOf(blocks).join("\n").trim(),
    attachments: blocks.flatMap((block) =>
      block["type"] === "image" || block["type"] === "document"
        ? [`${block["type"]} (${textAt(objectAt(block, "source"), "media_type") ?? "by address"})`]
        : []
    ),
    toolResults: blocks.flatMap((block) =>
      block["type"] === "tool_result" ? [textsOf(listAt(block, "content").filter(isObject)).join("\n")] : []
    )
  }
}

const textsOf = (blocks: ReadonlyArray<Json>): ReadonlyArray<string> =>
  blocks.flatMap((block) => (block["type"] === "text" ? [textAt(block, "text") ?? ""] : []))

const answerFieldsOf = (body: Json): Answers.AnswerFields => {
  const schema = objectAt(objectAt(objectAt(body, "output_config"), "format"), "schema")
  return {
    tools: listAt(body, "tools").filter(isObject).map(toolOf),
    toolChoice: choiceOf(objectAt(body, "tool_choice")),
    parallelToolCalls: undefined,
    responseFormat: schema === undefined ? undefined : { type: "json_schema", json_schema: { schema } },
    stop: []
  }
}

const toolOf = (tool: Json): Tool => ({
  type: "function",
  function: { name: textAt(tool, "name") ?? "", parameters: objectAt(tool, "input_schema") ?? {} }
})

const choiceOf = (choice: Json | undefined): ToolChoice => {
  switch (choice?.["type"]) {
    case "any":
      return "required"
    case "none":
      return "none"
    case "tool":
      return { type: "function", function: { name: choice["name"] } }
    default:
      return "auto"
  }
}

// Counting and streaming

/** The prompt up to its last breakpoint is written to the cache once and read afterwards. */
const promptUsage = (body: Json, cached: Set<string>): Json => {
  const prompt = JSON.stringify([body["tools"], body["system"], body["messages"]])
  const end = prompt.lastIndexOf('"cache_control"')
  const prefix = end === -1 ? "" : prompt.slice(0, end)
  const total = Math.ceil(Buffer.byteLength(prompt) / 4)
  const head = Math.min(total, Math.ceil(Buffer.byteLength(prefix) / 4))
  const isKnown = cached.has(prefix)
  if (prefix !== "") cached.add(prefix)
  return {
    input_tokens: total - head,
    cache_creation_input_tokens: isKnown ? 0 : head,
    cache_read_input_tokens: isKnown ? head : 0,
    service_tier: "standard"
  }
}

const eventsOf = ({ content, head, output, stop }: Message, usage: Json): ReadonlyArray<Json> => [
  {
    type: "message_start",
    message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } }
  },
  { type: "ping" },
  ...content.flatMap((block, index) => [
    { type: "content_block_start", index, content_block: emptied(block) },
    ...deltasOf(block).map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index }
  ]),
  { type: "message_delta", delta: stop, usage: output },
  { type: "message_stop" }
]

const emptied = (block: Json): Json => {
  switch (block["type"]) {
    case "text":
      return { ...block, text: "" }
    case "thinking":
      return { ...block, thinking: "", signature: "" }
    case "tool_use":
      return { ...block, input: {} }
    default:
      return block
  }
}

const deltasOf = (block: Json): ReadonlyArray<Json> => {
  switch (block["type"]) {
    case "text":
      return tokensOf(textAt(block, "text") ?? "").map((text) => ({ type: "text_delta", text }))
    case "thinking":
      return [
        ...tokensOf(textAt(block, "thinking") ?? "").map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: block["signature"] }
      ]
    case "tool_use": {
      const input = objectAt(block, "input") ?? {}
      return Object.keys(input).length === 0
        ? []
        : tokensOf(JSON.stringify(input)).map((piece) => ({ type: "input_json_delta", partial_json: piece }))
    }
    default:
      return []
  }
}
