import type { Effort, Message, Tool, ToolChoice } from "../../src/domain/Chat.ts"
import { isObject, type Json, listAt, objectAt, parseObject, textAt } from "../../src/provider/Json.ts"
import { type Asking, answerTo, type SimulatedAnswer, thoughtsFor } from "../../src/provider/simulated/Answers.ts"
import { promptOf } from "../../src/provider/simulated/Prompt.ts"
import * as Loopback from "../../src/testing/simulators/Simulator.ts"
import {
  type Fault,
  hang,
  html,
  json,
  type Reply,
  retryAfterSeconds,
  type Simulator
} from "../../src/testing/simulators/Simulator.ts"

/** Chat completions on loopback, for the contract that all protocols share. It trusts what it is sent. */
export const start = (): Promise<Simulator> =>
  Loopback.start({
    basePath: "/v1",
    answer: (request, fault) => {
      const body = parseObject(request.text) ?? {}
      if (fault === "hang") return hang
      if (fault === "html") return html
      return (fault === undefined ? undefined : refusal(fault, body["stream"] === true)) ?? answer(body, fault)
    }
  })

const refusal = (fault: Fault, stream: boolean): Reply | undefined => {
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

const answer = (body: Json, fault: Fault | undefined): Reply => {
  const messages = listAt(body, "messages") as ReadonlyArray<Message>
  const prompt = promptOf({ messages })
  const stops = listAt(body, "stop").filter((stop) => typeof stop === "string")
  const asking: Asking = {
    tools: listAt(body, "tools") as ReadonlyArray<Tool>,
    toolChoice: isObject(body["tool_choice"]) ? body["tool_choice"] : asChoice(body["tool_choice"]),
    parallelToolCalls: undefined,
    responseFormat: objectAt(body, "response_format"),
    stop: stops
  }
  const said = fault === "refusal" ? { text: "", toolCalls: [] } : answerTo(asking, prompt, textAt(body, "model") ?? "")
  const thoughts = thoughtsFor(
    efforts.find((effort) => effort === body["reasoning_effort"]),
    prompt
  )
  const most = Number(body["max_completion_tokens"])
  const tokens = said.text.match(/\s*\S{1,6}|\s+$/gu) ?? []
  const isCut = tokens.length > most
  const finish =
    fault === "refusal" ? "content_filter" : said.toolCalls.length > 0 ? "tool_calls" : isCut ? "length" : "stop"
  const pieces = tokens.slice(0, most)
  return body["stream"] === true
    ? streamed(pieces, thoughts, said, finish, fault)
    : plain(pieces, thoughts, said, finish, fault)
}

const efforts: ReadonlyArray<Effort> = ["low", "medium", "high"]

const asChoice = (choice: unknown): ToolChoice => (choice === "none" || choice === "required" ? choice : "auto")

const usage: Json = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

const calls = ({ toolCalls }: SimulatedAnswer): ReadonlyArray<Json> =>
  toolCalls.map((call, index) => ({
    index,
    id: `call_${index}`,
    type: "function",
    function: { name: call.name, arguments: call.arguments }
  }))

const plain = (
  pieces: ReadonlyArray<string>,
  thoughts: string,
  said: SimulatedAnswer,
  finish: string,
  fault: Fault | undefined
): Reply => {
  const message = { role: "assistant", content: pieces.join(""), reasoning_content: thoughts, tool_calls: calls(said) }
  const reply = json(200, { choices: [{ index: 0, message, finish_reason: finish }], usage })
  return fault === "hang-mid" ? { ...reply, ending: "hang" } : reply
}

const streamed = (
  pieces: ReadonlyArray<string>,
  thoughts: string,
  said: SimulatedAnswer,
  finish: string,
  fault: Fault | undefined
): Reply => {
  const chunk = (delta: Json, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason }]
  })
  const content = [
    chunk({ role: "assistant", content: "" }),
    ...(thoughts === "" ? [] : [chunk({ reasoning_content: thoughts })]),
    ...pieces.map((piece) => chunk({ content: piece })),
    ...calls(said).map((call) => chunk({ tool_calls: [call] }))
  ]
  if (fault === undefined || fault === "refusal") {
    return eventStream([...content, chunk({}, finish), { choices: [], usage }, "[DONE]"])
  }
  const begun = content.slice(0, 2)
  if (fault === "error-mid") return eventStream([...begun, overloaded])
  const reply = eventStream(begun)
  if (fault === "malformed-mid") return { ...reply, chunks: [...reply.chunks, "data: {broken\n\n"] }
  return { ...reply, ending: fault === "cut-mid" ? "cut" : fault === "hang-mid" ? "hang" : "end" }
}
