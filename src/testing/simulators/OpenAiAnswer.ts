import type { Effort, Message, Tool, ToolChoice } from "../../domain/Chat.ts"
import { isObject, type Json, listAt, objectAt, textAt } from "../../provider/Json.ts"
import * as Answers from "../../provider/simulated/Answers.ts"
import { promptOf } from "../../provider/simulated/Prompt.ts"
import type { Accepted, Refusal } from "./OpenAiRules.ts"
import { type Fault, json, type Reply, retryAfterSeconds } from "./Simulator.ts"
import { digest, tokensOf } from "./Tokens.ts"

export const refusalReply = ({ code, message, status }: Refusal): Reply =>
  json(status, { error: { message, type: "invalid_request_error", param: null, code } })

/** Faults that come in place of an answer; the others break one. */
export const faultReply = (fault: Fault, { stream }: Accepted): Reply | undefined => {
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

/** The same answer to the same request; only the cache remembers. */
export const answerTo = ({ body, stream }: Accepted, fault: Fault | undefined, cached: Set<string>): Reply => {
  const messages = listAt(body, "messages") as ReadonlyArray<Message>
  const prompt = promptOf({ messages })
  const said =
    fault === "refusal"
      ? { text: "", toolCalls: [] }
      : Answers.answerTo(askingOf(body), prompt, textAt(body, "model") ?? "")
  const effort = efforts.find((one) => one === body["reasoning_effort"])
  const thoughts = Answers.thoughtsFor(effort, prompt)
  const most = Number(body["max_completion_tokens"] ?? body["max_tokens"] ?? Number.MAX_SAFE_INTEGER)
  const tokens = tokensOf(said.text)
  const finish =
    fault === "refusal"
      ? "content_filter"
      : said.toolCalls.length > 0
        ? "tool_calls"
        : tokens.length > most
          ? "length"
          : "stop"
  const pieces = tokens.slice(0, most)
  const toolCalls = said.toolCalls.map((call, index) => ({
    index,
    id: `call_${digest(`${JSON.stringify(messages)} ${index}`)}`,
    type: "function",
    function: { name: call.name, arguments: call.arguments }
  }))
  const answerTokens = toolCalls.length > 0 ? tokensOf(JSON.stringify(toolCalls)).length : pieces.length
  const usage = usageOf(body, answerTokens, tokensOf(thoughts).length, cached)
  const answer = { pieces, thoughts, toolCalls, finish, usage }
  return stream ? streamed(answer, fault) : plain(answer, fault)
}

/** Thoughts stand where compatible servers put them; at OpenAI itself they are counted and not shown. */
interface Answer {
  readonly pieces: ReadonlyArray<string>
  readonly thoughts: string
  readonly toolCalls: ReadonlyArray<Json>
  readonly finish: string
  readonly usage: Json
}

const askingOf = (body: Json): Answers.Asking => ({
  tools: listAt(body, "tools") as ReadonlyArray<Tool>,
  toolChoice: isObject(body["tool_choice"]) ? body["tool_choice"] : asChoice(body["tool_choice"]),
  parallelToolCalls: body["parallel_tool_calls"] === false ? false : undefined,
  responseFormat: objectAt(body, "response_format"),
  stop: listAt(body, "stop").filter((stop) => typeof stop === "string")
})

const efforts: ReadonlyArray<Effort> = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]

const asChoice = (choice: unknown): ToolChoice => (choice === "none" || choice === "required" ? choice : "auto")

/** All of an earlier conversation that this one begins with comes from the cache; both details are inside their sums. */
const usageOf = (body: Json, answer: number, thoughts: number, cached: Set<string>): Json => {
  const messages = listAt(body, "messages")
  const head = JSON.stringify(body["tools"] ?? [])
  const keys = messages.map((_, at) => head + JSON.stringify(messages.slice(0, at + 1)))
  const known = keys.slice(0, -1).findLast((key) => cached.has(key))
  const whole = keys.at(-1) ?? head
  cached.add(whole)
  const prompt = countOf(whole)
  return {
    prompt_tokens: prompt,
    completion_tokens: answer + thoughts,
    total_tokens: prompt + answer + thoughts,
    prompt_tokens_details: { cached_tokens: known === undefined ? 0 : countOf(known) },
    completion_tokens_details: { reasoning_tokens: thoughts }
  }
}

const countOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4)

const plain = ({ finish, pieces, thoughts, toolCalls, usage }: Answer, fault: Fault | undefined): Reply => {
  const message = {
    role: "assistant",
    content: toolCalls.length > 0 ? null : pieces.join(""),
    refusal: null,
    ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls })
  }
  const reply = json(200, {
    id: "chatcmpl-simulated",
    object: "chat.completion",
    created: 0,
    model: "simulated",
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage
  })
  return fault === "hang-mid" ? { ...reply, ending: "hang" } : reply
}

const streamed = ({ finish, pieces, thoughts, toolCalls, usage }: Answer, fault: Fault | undefined): Reply => {
  const named = { id: "chatcmpl-simulated", object: "chat.completion.chunk", created: 0, model: "simulated" }
  const chunk = (delta: Json, finish_reason: string | null = null) => ({
    ...named,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }]
  })
  const content = [
    chunk({ role: "assistant", content: "" }),
    ...(thoughts === "" ? [] : [chunk({ reasoning_content: thoughts })]),
    ...pieces.map((piece) => chunk({ content: piece })),
    ...toolCalls.map((call) => chunk({ tool_calls: [call] }))
  ]
  if (fault === undefined || fault === "refusal") {
    return eventStream([...content, chunk({}, finish), { ...named, choices: [], usage }, "[DONE]"])
  }
  const begun = content.slice(0, 2)
  if (fault === "error-mid") return eventStream([...begun, overloaded])
  const reply = eventStream(begun)
  if (fault === "malformed-mid") return { ...reply, chunks: [...reply.chunks, "data: {broken\n\n"] }
  return { ...reply, ending: fault === "cut-mid" ? "cut" : fault === "hang-mid" ? "hang" : "end" }
}
