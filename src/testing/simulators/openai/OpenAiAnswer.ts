import type { Effort, Message, Tool, ToolChoice } from "../../../domain/Chat.ts"
import { isObject, type Json, listAt, objectAt, textAt } from "../../../provider/protocols/shared/Json.ts"
import * as Answers from "../../../provider/simulated/Answers.ts"
import { promptOf } from "../../../provider/simulated/Prompt.ts"
import { type InjectedFault, json, jsonBrokenBy, type Reply, retryAfterSeconds } from "../core/Simulator.ts"
import { digest, tokensOf } from "../core/Tokens.ts"
import type { Accepted, Rejection } from "./OpenAiRules.ts"

export const rejectionReply = ({ code, message, status }: Rejection): Reply =>
  json(status, { error: { message, type: "invalid_request_error", param: null, code } })

/** Faults in place of a response; the other faults break a response. */
export const faultReply = (fault: InjectedFault, { stream }: Accepted): Reply | undefined => {
  const error = (status: number, code: string, message = "x", headers: Readonly<Record<string, string>> = {}): Reply =>
    json(status, { error: { message, type: "x", param: null, code } }, headers)
  switch (fault) {
    case "overloaded":
      return error(503, "server_is_overloaded")
    case "rate-limited":
      return error(429, "rate_limit_exceeded", "slow down", { "retry-after": String(retryAfterSeconds) })
    case "quota":
      return error(429, "insufficient_quota")
    case "unauthorized":
      return error(401, "invalid_api_key")
    case "model-gone":
      return error(404, "model_not_found")
    case "invalid":
      return error(400, "invalid_value")
    case "context-length":
      return error(400, "context_length_exceeded")
    case "content-policy":
      return error(400, "content_policy_violation")
    case "server-error":
      return error(500, "server_error")
    case "error-first":
      return stream ? eventStream([overloaded]) : error(503, "server_is_overloaded")
    case "error-mid":
      return stream ? undefined : error(503, "server_is_overloaded")
    default:
      return undefined
  }
}

const overloaded: Json = { error: { message: "x", type: "server_error", code: "server_is_overloaded" } }

const eventStream = (events: ReadonlyArray<unknown>): Reply => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  chunks: events.map((event) => (event === "[DONE]" ? "data: [DONE]\n\n" : `data: ${JSON.stringify(event)}\n\n`)),
  ending: "end"
})

/** The same response to the same request, except for cache counts. */
export const answerTo = ({ body, stream }: Accepted, fault: InjectedFault | undefined, cached: Set<string>): Reply => {
  const messages = listAt(body, "messages") as ReadonlyArray<Message>
  const prompt = promptOf({ messages })
  const answered =
    fault === "refusal"
      ? { text: "", toolCalls: [] }
      : Answers.answerTo(answerFieldsOf(body), prompt, textAt(body, "model") ?? "")
  const effort = efforts.find((one) => one === body["reasoning_effort"])
  const reasoning = Answers.reasoningFor(effort, prompt)
  const cap = Number(body["max_completion_tokens"] ?? body["max_tokens"] ?? Number.MAX_SAFE_INTEGER)
  const tokens = tokensOf(answered.text)
  const finish =
    fault === "refusal"
      ? "content_filter"
      : answered.toolCalls.length > 0
        ? "tool_calls"
        : tokens.length > cap
          ? "length"
          : "stop"
  const pieces = tokens.slice(0, cap)
  const toolCalls = answered.toolCalls.map((call, at) => ({
    ...call,
    id: `call_${digest(`${JSON.stringify(messages)} ${at}`)}`
  }))
  const answerTokens =
    toolCalls.length > 0 ? tokensOf(JSON.stringify(toolCalls.map(completeCall))).length : pieces.length
  const usage = usageOf(body, answerTokens, tokensOf(reasoning).length, cached)
  const answer = { body, pieces, reasoning, toolCalls, finish, usage }
  return stream ? streamed(answer, fault) : nonStreaming(answer, fault)
}

/** Reasoning is in the field of compatible servers; OpenAI itself counts reasoning tokens without showing the text. */
interface Answer {
  /** Of the request. */
  readonly body: Json
  readonly pieces: ReadonlyArray<string>
  readonly reasoning: string
  readonly toolCalls: ReadonlyArray<Call>
  readonly finish: string
  readonly usage: Json
}

interface Call extends Answers.SimulatedToolCall {
  readonly id: string
}

const answerFieldsOf = (body: Json): Answers.AnswerFields => ({
  tools: listAt(body, "tools") as ReadonlyArray<Tool>,
  toolChoice: isObject(body["tool_choice"]) ? body["tool_choice"] : asChoice(body["tool_choice"]),
  parallelToolCalls: body["parallel_tool_calls"] === false ? false : undefined,
  responseFormat: objectAt(body, "response_format"),
  stop: listAt(body, "stop").filter((stop) => typeof stop === "string")
})

const efforts: ReadonlyArray<Effort> = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]

const asChoice = (choice: unknown): ToolChoice => (choice === "none" || choice === "required" ? choice : "auto")

/** The longest earlier conversation that is a prefix of this one counts as cached; details are part of their sums. */
const usageOf = (body: Json, answer: number, reasoning: number, cached: Set<string>): Json => {
  const messages = listAt(body, "messages")
  const head = JSON.stringify(body["tools"] ?? [])
  const keys = messages.map((_, at) => head + JSON.stringify(messages.slice(0, at + 1)))
  const known = keys.slice(0, -1).findLast((key) => cached.has(key))
  const whole = keys.at(-1) ?? head
  cached.add(whole)
  const prompt = countOf(whole)
  return {
    prompt_tokens: prompt,
    completion_tokens: answer + reasoning,
    total_tokens: prompt + answer + reasoning,
    prompt_tokens_details: { cached_tokens: known === undefined ? 0 : countOf(known) },
    completion_tokens_details: { reasoning_tokens: reasoning }
  }
}

const countOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4)

const nonStreaming = (
  { body, finish, pieces, reasoning, toolCalls, usage }: Answer,
  fault: InjectedFault | undefined
): Reply => {
  const message = {
    role: "assistant",
    content: toolCalls.length > 0 ? null : pieces.join(""),
    refusal: null,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(completeCall) })
  }
  return jsonBrokenBy(fault, {
    id: "chatcmpl-simulated",
    object: "chat.completion",
    created: 0,
    model: body["model"],
    choices: [{ index: 0, message, logprobs: logprobsOf(pieces, body), finish_reason: finish }],
    usage
  })
}

const streamed = (
  { body, finish, pieces, reasoning, toolCalls, usage }: Answer,
  fault: InjectedFault | undefined
): Reply => {
  const asksForUsage = objectAt(body, "stream_options")?.["include_usage"] === true
  const named = { id: "chatcmpl-simulated", object: "chat.completion.chunk", created: 0, model: body["model"] }
  const chunk = (delta: Json, finish_reason: string | null = null, logprobs: Json | null = null) => ({
    ...named,
    choices: [{ index: 0, delta, logprobs, finish_reason }],
    ...(asksForUsage && { usage: null })
  })
  const content = [
    chunk({ role: "assistant", content: toolCalls.length > 0 ? null : "", refusal: null }),
    ...(reasoning === "" ? [] : [chunk({ reasoning_content: reasoning })]),
    ...pieces.map((piece) => chunk({ content: piece }, null, logprobsOf([piece], body))),
    ...toolCalls.flatMap(fragmentsOf).map((fragment) => chunk({ tool_calls: [fragment] }))
  ]
  if (fault === undefined || fault === "refusal") {
    const last = asksForUsage ? [{ ...named, choices: [], usage }] : []
    return eventStream([...content, chunk({}, finish), ...last, "[DONE]"])
  }
  const begun = content.slice(0, 2)
  if (fault === "error-mid") return eventStream([...begun, overloaded])
  const reply = eventStream(begun)
  if (fault === "malformed-mid") return { ...reply, chunks: [...reply.chunks, "data: {broken\n\n"] }
  return { ...reply, ending: fault === "cut-mid" ? "cut" : fault === "hang-mid" ? "hang" : "end" }
}

const completeCall = ({ arguments: input, id, kind, name }: Call): Json => ({
  id,
  type: kind,
  ...(kind === "function" ? { function: { name, arguments: input } } : { custom: { name, input } })
})

/** The first fragment has the id and the name, and the others have pieces of the arguments. */
const fragmentsOf = (call: Call, index: number): ReadonlyArray<Json> => [
  { index, ...completeCall({ ...call, arguments: "" }) },
  ...tokensOf(call.arguments).map((piece) =>
    call.kind === "function" ? { index, function: { arguments: piece } } : { index, custom: { input: piece } }
  )
]

/** The model always gives the same response: each token has the probability 1, and there are no others. */
const logprobsOf = (pieces: ReadonlyArray<string>, body: Json): Json | null => {
  if (body["logprobs"] !== true || pieces.length === 0) return null
  const content = pieces.map((token) => {
    const one = { token, logprob: 0, bytes: [...Buffer.from(token, "utf8")] }
    return { ...one, top_logprobs: Number(body["top_logprobs"] ?? 0) > 0 ? [one] : [] }
  })
  return { content, refusal: null }
}
