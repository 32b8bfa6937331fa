import { hash } from "node:crypto"
import type { ChatEvent, FinishReason } from "../../domain/ChatEvent.ts"
import { writeExactly } from "../../domain/ExactJson.ts"
import type { TimersShape } from "../../domain/Timers.ts"
import { usage } from "../../domain/Usage.ts"
import type { Provider, ProviderCall } from "../Provider.ts"
import { answerTo, reasoningFor } from "./Answers.ts"
import { type SimulatedModel, simulatedModels } from "./Models.ts"
import { promptOf, promptTokens } from "./Prompt.ts"
import { isCacheable, SeenPrompts } from "./PromptCache.ts"
import * as Script from "./Script.ts"

/** What the ids of simulated models begin with. */
export const simulatedIds: ReadonlyArray<string> = ["sim", "sim2"]

/**
 * The simulated providers: in this process, without sockets, the same answer to the same request each time. Only what of a prompt
 * was read from their cache depends on the requests before.
 */
export const make = (timers: TimersShape): ReadonlyArray<Provider> =>
  simulatedIds.map((id) => {
    const seen = new SeenPrompts()
    return {
      id,
      open: (call, receiver) => {
        const simulated = byId.get(call.model.id)
        if (simulated === undefined) throw new Error(`not a simulated model: ${call.model.id}`)
        return new Script.ScriptPlayer(
          id,
          timers,
          scriptFor(simulated, call, cachedTokens(seen, call, timers)),
          receiver
        )
      }
    }
  })

/** Of a prompt that is long enough. */
const cachedTokens = (seen: SeenPrompts, { credential, model, request }: ProviderCall, timers: TimersShape): number =>
  isCacheable(promptTokens(request, model.imageTokens))
    ? seen.read(`${credential?.id ?? ""} ${model.id}`, request, model.imageTokens, timers.now())
    : 0

const byId: ReadonlyMap<string, SimulatedModel> = new Map(
  simulatedModels.map((simulated) => [simulated.model.id, simulated])
)

/** What the model sends and when. A non-streaming response comes at the time of the first streamed token. */
const scriptFor = ({ fault, model, pace }: SimulatedModel, call: ProviderCall, cacheReadTokens = 0): Script.Script => {
  const { outcome, tokens } = outputFor(call, cacheReadTokens)
  const sent = fault === undefined ? tokens : tokens.slice(0, call.request.stream ? fault.afterTokens : 0)
  const start = [Script.wait(pace.firstMillis), Script.event({ _tag: "ResponseInfo", model: model.upstreamModel })]
  const steps = sent.flatMap((event) =>
    call.request.stream ? [Script.event(event), Script.wait(pace.tokenMillis)] : [Script.event(event)]
  )
  if (fault === undefined) return [...start, ...steps, ...outcome.map(Script.event), Script.end]
  if (fault.failure === null) return [...start, ...steps, Script.hang]
  return [...(sent.length === 0 ? start.slice(0, 1) : start), ...steps, Script.fail(fault.failure)]
}

interface SimulatedOutput {
  /** One event for each token. */
  readonly tokens: ReadonlyArray<ChatEvent>
  /** Finish and usage. */
  readonly outcome: ReadonlyArray<ChatEvent>
}

const outputFor = (call: ProviderCall, cacheReadTokens: number): SimulatedOutput => {
  const { effort, maxOutputTokens, model, request } = call
  const prompt = promptOf(request)
  const answer = answerTo(request, prompt, model.id)
  const reasoningText =
    model.reasoning === null ? "" : reasoningFor(effort ?? model.reasoning.defaultEffort ?? undefined, prompt)
  const reasoning = pieces(reasoningText).map(
    (text): ChatEvent => ({ _tag: "Reasoning", index: 0, kind: "text", text })
  )
  const texts = pieces(answer.text).map(
    (text): ChatEvent => ({
      _tag: "Text",
      text,
      ...(request.logprobs === true && { logprobs: [logprobOf(text, request.topLogprobs ?? 0)] })
    })
  )
  const idStart = answer.toolCalls.length === 0 ? "" : toolCallIdStart(call)
  const calls = answer.toolCalls.flatMap((toolCall, index) => {
    const [first = "", ...rest] = pieces(toolCall.arguments)
    const { kind, name } = toolCall
    return [
      {
        _tag: "ToolCall",
        index,
        kind,
        id: `${idStart}${index.toString(36)}`,
        name,
        arguments: first
      } satisfies ChatEvent,
      ...rest.map((piece): ChatEvent => ({ _tag: "ToolCall", index, kind, arguments: piece }))
    ]
  })
  const all = [...reasoning, ...texts, ...calls]
  const tokens = all.slice(0, maxOutputTokens)
  const reasoningTokens = Math.min(reasoning.length, tokens.length)
  const reason: FinishReason = tokens.length < all.length ? "length" : calls.length > 0 ? "tool_calls" : "stop"
  return {
    tokens,
    outcome: [
      finishOf(reason, answer.stopSequence),
      {
        _tag: "Usage",
        usage: usage({
          inputTokens: promptTokens(request, model.imageTokens) - cacheReadTokens,
          cacheReadTokens,
          outputTokens: tokens.length - reasoningTokens,
          reasoningTokens
        })
      }
    ]
  }
}

/** What the ids of a response's tool calls begin with: of the model and the messages, which differ in each turn of a conversation. */
const toolCallIdStart = ({ model, request }: ProviderCall): string =>
  `call_${hash("sha256", `${model.id} ${writeExactly(request.messages)}`, "hex").slice(0, 32)}`

const finishOf = (reason: FinishReason, stopSequence: string | null): ChatEvent =>
  reason === "stop" && stopSequence !== null
    ? { _tag: "Finish", reason, native: "stop_sequence", stopSequence }
    : { _tag: "Finish", reason, native: reason }

/** The tokens of a text: up to six characters with the whitespace before them. */
const pieces = (text: string): ReadonlyArray<string> => text.match(/\s*\S{1,6}|\s+$/gu) ?? []

const logprobOf = (token: string, top: number): unknown => {
  const bytes = [...Buffer.from(token)]
  const likely = { token, logprob: -0.01, bytes }
  return { ...likely, top_logprobs: top > 0 ? [likely] : [] }
}
