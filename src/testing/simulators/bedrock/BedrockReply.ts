import { type Json, objectAt, textAt } from "../../../provider/protocols/shared/Json.ts"
import * as EventStream from "../../../wire/framing/EventStream.ts"
import { type InjectedFault, json, jsonBrokenBy, type Reply, retryAfterSeconds } from "../core/Simulator.ts"
import { tokensOf } from "../core/Tokens.ts"
import { answerFor, type BedrockAnswer } from "./BedrockAnswer.ts"
import type { Accepted, Rejection } from "./BedrockRules.ts"

export const rejectionReply = (
  { message, name, status }: Rejection,
  headers: Readonly<Record<string, string>> = {}
): Reply =>
  json(
    status,
    { message },
    { "x-amzn-errortype": `${name}:http://internal.amazon.com/coral/com.amazon.bedrock/`, ...headers }
  )

/** Faults in place of a response; the other faults break a response. */
export const faultReply = (fault: InjectedFault, { stream }: Accepted): Reply | undefined => {
  switch (fault) {
    case "overloaded":
      return rejectionReply(overloaded)
    case "rate-limited":
      return rejectionReply(
        { status: 429, name: "ThrottlingException", message: "Too many requests, please wait before trying again." },
        { "retry-after": String(retryAfterSeconds) }
      )
    case "quota":
      return rejectionReply({
        status: 400,
        name: "ServiceQuotaExceededException",
        message: "Your request exceeds the service quota for your account."
      })
    case "unauthorized":
      return rejectionReply({
        status: 403,
        name: "ExpiredTokenException",
        message: "The security token included in the request is expired"
      })
    case "model-gone":
      return rejectionReply({
        status: 404,
        name: "ResourceNotFoundException",
        message: "This model version has reached the end of its life."
      })
    case "invalid":
      return rejectionReply({
        status: 400,
        name: "ValidationException",
        message: "Malformed input request: not like this"
      })
    case "context-length":
      return rejectionReply({
        status: 400,
        name: "ValidationException",
        message: "Input is too long for requested model."
      })
    case "content-policy":
      return rejectionReply({
        status: 400,
        name: "ValidationException",
        message: "The model returned the following errors: Output blocked by content filtering policy"
      })
    case "server-error":
      return rejectionReply({
        status: 500,
        name: "InternalServerException",
        message: "The system encountered an unexpected error."
      })
    case "error-first":
      return stream
        ? eventStream([event("messageStart", { role: "assistant" }), exception])
        : rejectionReply(overloaded)
    case "error-mid":
      return stream ? undefined : rejectionReply(overloaded)
    default:
      return undefined
  }
}

/** The response, broken by `fault` if given. */
export const answerTo = (accepted: Accepted, fault: InjectedFault | undefined, cached: Set<string>): Reply => {
  const answer = fault === "refusal" ? filtered : answerFor(accepted, cached)
  if (!accepted.stream) {
    const { content, stopReason, usage } = answer
    const message = { role: "assistant", content }
    return jsonBrokenBy(fault, { output: { message }, stopReason, usage, metrics })
  }
  const frames = framesOf(answer)
  if (fault === undefined || fault === "refusal") return eventStream(frames.map(({ bytes }) => bytes))
  const content = frames.findIndex(({ isContent }) => isContent)
  const begun = frames.slice(0, content + 1).map(({ bytes }) => bytes)
  if (fault === "error-mid") return eventStream([...begun, exception])
  if (fault === "malformed-mid") return eventStream([...begun, damaged(frames[content]?.bytes ?? exception)])
  return { ...eventStream(begun), ending: endingOf(fault) }
}

const overloaded = {
  status: 503,
  name: "ServiceUnavailableException",
  message: "Bedrock is unable to process your request."
}

const filtered: BedrockAnswer = {
  content: [],
  stopReason: "content_filtered",
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
}

const metrics: Json = { latencyMs: 1 }

const endingOf = (fault: InjectedFault | undefined): Reply["ending"] =>
  fault === "cut-mid" ? "cut" : fault === "hang-mid" ? "hang" : "end"

// The stream

const text = (value: string): EventStream.HeaderValue => ({ type: "string", value })

const event = (type: string, payload: Json): Uint8Array =>
  EventStream.write(
    { ":event-type": text(type), ":content-type": text("application/json"), ":message-type": text("event") },
    Buffer.from(JSON.stringify(payload), "utf8")
  )

const exception = EventStream.write(
  {
    ":exception-type": text("serviceUnavailableException"),
    ":content-type": text("application/json"),
    ":message-type": text("exception")
  },
  Buffer.from(JSON.stringify({ message: overloaded.message }), "utf8")
)

const damaged = (frame: Uint8Array): Uint8Array => {
  const copy = Uint8Array.from(frame)
  copy[copy.length - 1] = (copy.at(-1) ?? 0) ^ 0xff
  return copy
}

const eventStream = (chunks: ReadonlyArray<Uint8Array>): Reply => ({
  status: 200,
  headers: { "content-type": "application/vnd.amazon.eventstream" },
  chunks,
  ending: "end"
})

interface Frame {
  readonly bytes: Uint8Array
  readonly isContent: boolean
}

const frame = (type: string, payload: Json, isContent = false): Frame => ({ bytes: event(type, payload), isContent })

/** Text and reasoning blocks have no start event. */
const framesOf = ({ content, stopReason, usage }: BedrockAnswer): ReadonlyArray<Frame> => [
  frame("messageStart", { role: "assistant" }),
  ...content.flatMap((block, contentBlockIndex) => {
    const toolUse = objectAt(block, "toolUse")
    const { input: _input, ...start } = toolUse ?? {}
    return [
      ...(toolUse === undefined ? [] : [frame("contentBlockStart", { contentBlockIndex, start: { toolUse: start } })]),
      ...deltasOf(block).map((delta) => frame("contentBlockDelta", { contentBlockIndex, delta }, true)),
      frame("contentBlockStop", { contentBlockIndex })
    ]
  }),
  frame("messageStop", { stopReason }),
  frame("metadata", { usage, metrics })
]

const deltasOf = (block: Json): ReadonlyArray<Json> => {
  const toolUse = objectAt(block, "toolUse")
  if (toolUse !== undefined) {
    const input = objectAt(toolUse, "input") ?? {}
    if (Object.keys(input).length === 0) return []
    return tokensOf(JSON.stringify(input)).map((piece) => ({ toolUse: { input: piece } }))
  }
  const reasoning = objectAt(block, "reasoningContent")
  if (reasoning === undefined) return tokensOf(textAt(block, "text") ?? "").map((piece) => ({ text: piece }))
  const reasoningText = objectAt(reasoning, "reasoningText")
  if (reasoningText === undefined) return [{ reasoningContent: reasoning }]
  const pieces = tokensOf(textAt(reasoningText, "text") ?? "").map((piece): Json => ({ text: piece }))
  const signature = textAt(reasoningText, "signature")
  return [...pieces, ...(signature === undefined ? [] : [{ signature }])].map((reasoningContent) => ({
    reasoningContent
  }))
}
