import type { Effort, Tool, ToolChoice } from "../../../domain/Chat.ts"
import { isObject, type Json, listAt, objectAt, parseObject, textAt } from "../../../provider/protocols/shared/Json.ts"
import * as Answers from "../../../provider/simulated/Answers.ts"
import type { Prompt } from "../../../provider/simulated/Prompt.ts"
import { redactedBy, signatureOf } from "../anthropic/AnthropicSignatures.ts"
import { digest, tokensOf } from "../core/Tokens.ts"
import type { Accepted } from "./BedrockRules.ts"

/** A complete response of `Converse`. */
export interface BedrockAnswer {
  readonly content: ReadonlyArray<Json>
  readonly stopReason: string
  readonly usage: Json
}

/** The same response to the same request, except for cache counts. */
export const answerFor = (accepted: Accepted, cached: Set<string>): BedrockAnswer => {
  const { body, model } = accepted
  const prompt = promptOf(body)
  const answer = Answers.answerTo(answerFieldsOf(body), prompt, model.id)
  const reasoning = reasoningFor(accepted, prompt)
  const config = objectAt(body, "inferenceConfig")
  const stops = listAt(config, "stopSequences").flatMap((stop) =>
    typeof stop === "string" && answer.text.includes(stop) ? [answer.text.indexOf(stop)] : []
  )
  const visible = answer.text.slice(0, Math.min(...stops, answer.text.length))
  const cap = Number(config?.["maxTokens"] ?? Number.MAX_SAFE_INTEGER)
  const tokens = tokensOf(visible)
  const text = tokens.slice(0, cap).join("")
  const calls = answer.toolCalls.map((call, at) => ({
    toolUse: {
      toolUseId: `tooluse_${digest(`${JSON.stringify(body["messages"])} ${at}`)}`,
      name: call.name,
      input: parseObject(call.arguments) ?? {}
    }
  }))
  const content = [...reasoning, ...(text === "" ? [] : [{ text }]), ...calls]
  return {
    content,
    stopReason:
      calls.length > 0
        ? "tool_use"
        : tokens.length > cap
          ? "max_tokens"
          : stops.length > 0
            ? "stop_sequence"
            : "end_turn",
    usage: usageOf(body, cached, tokensOf(JSON.stringify(content)).length)
  }
}

/** Reasoning is signed for vendors that sign it; prompts of odd length also get a redacted block. */
const reasoningFor = ({ body, model, reasons }: Accepted, prompt: Prompt): ReadonlyArray<Json> => {
  if (!reasons) return []
  const named = /"(?:effort|reasoning_effort|maxReasoningEffort)":"([a-z]+)"/.exec(JSON.stringify(body))?.[1]
  const effort = efforts.find((one) => one === named) ?? "medium"
  const text = Answers.reasoningFor(effort, prompt)
  const { claude } = model
  if (claude === undefined) return text === "" ? [] : [{ reasoningContent: { reasoningText: { text } } }]
  const signed = { reasoningContent: { reasoningText: { text, signature: signatureOf(claude.name, text) } } }
  const redactedContent = Buffer.from(`${redactedBy(claude.name)}${digest(text)}`, "utf8").toString("base64")
  return prompt.text.length % 2 === 0 ? [signed] : [signed, { reasoningContent: { redactedContent } }]
}

const efforts: ReadonlyArray<Effort> = ["none", "low", "medium", "high", "xhigh", "max"]

const promptOf = (body: Json): Prompt => {
  const last = listAt(
    listAt(body, "messages")
      .filter(isObject)
      .findLast((message) => message["role"] === "user"),
    "content"
  ).filter(isObject)
  return {
    text: textsOf(last).join("\n").trim(),
    attachments: last.flatMap((block) =>
      ["image", "document"].flatMap((kind) => {
        const format = textAt(objectAt(block, kind), "format")
        return format === undefined ? [] : [`${kind} (${format})`]
      })
    ),
    toolResults: last.flatMap((block) => {
      const result = objectAt(block, "toolResult")
      return result === undefined ? [] : [textsOf(listAt(result, "content").filter(isObject)).join("\n")]
    })
  }
}

const textsOf = (blocks: ReadonlyArray<Json>): ReadonlyArray<string> =>
  blocks.flatMap((block) => textAt(block, "text") ?? [])

const answerFieldsOf = (body: Json): Answers.AnswerFields => {
  const config = objectAt(body, "toolConfig")
  const format = objectAt(objectAt(objectAt(body, "outputConfig"), "textFormat"), "structure")
  const schema = parseObject(textAt(objectAt(format, "jsonSchema"), "schema") ?? "")
  return {
    tools: listAt(config, "tools")
      .filter(isObject)
      .filter((tool) => "toolSpec" in tool)
      .map(toolOf),
    toolChoice: choiceOf(objectAt(config, "toolChoice")),
    parallelToolCalls: undefined,
    responseFormat: schema === undefined ? undefined : { type: "json_schema", json_schema: { schema } },
    stop: []
  }
}

const toolOf = (tool: Json): Tool => {
  const spec = objectAt(tool, "toolSpec")
  return {
    type: "function",
    function: { name: textAt(spec, "name") ?? "", parameters: objectAt(objectAt(spec, "inputSchema"), "json") ?? {} }
  }
}

const choiceOf = (choice: Json | undefined): ToolChoice => {
  if (choice !== undefined && "any" in choice) return "required"
  const tool = objectAt(choice, "tool")
  return tool === undefined ? "auto" : { type: "function", function: { name: tool["name"] } }
}

/** The prompt up to its last cache point is written to the cache once and read afterwards. */
const usageOf = (body: Json, cached: Set<string>, outputTokens: number): Json => {
  const prompt = JSON.stringify([body["toolConfig"], body["system"], body["messages"]])
  const prefix = prompt.slice(0, Math.max(0, prompt.lastIndexOf('"cachePoint"')))
  const total = Math.ceil(Buffer.byteLength(prompt) / 4)
  const head = Math.min(total, Math.ceil(Buffer.byteLength(prefix) / 4))
  const isKnown = cached.has(prefix)
  if (prefix !== "") cached.add(prefix)
  return {
    inputTokens: total - head,
    outputTokens,
    totalTokens: total + outputTokens,
    cacheReadInputTokens: isKnown ? head : 0,
    cacheWriteInputTokens: isKnown ? 0 : head
  }
}
