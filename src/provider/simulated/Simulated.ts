import type { ChatEvent, FinishReason } from "../../domain/ChatEvent.ts"
import type { TimersShape } from "../../domain/Timers.ts"
import { usage } from "../../domain/Usage.ts"
import type { Provider, ProviderCall } from "../Provider.ts"
import { mintId } from "../protocols/openai-chat/ToolCalls.ts"
import { answerTo, thoughtsFor } from "./Answers.ts"
import { type SimulatedModel, simulatedModels } from "./Models.ts"
import { promptOf, promptTokens } from "./Prompt.ts"
import * as Script from "./Script.ts"

/** The simulated providers: in this process, without sockets, the same answer to the same request each time. */
export const make = (timers: TimersShape): ReadonlyArray<Provider> =>
  ["sim", "sim2"].map((id) => ({
    id,
    open: (call, receiver) => {
      const simulated = byId.get(call.model.id)
      if (simulated === undefined) throw new Error(`not a simulated model: ${call.model.id}`)
      return new Script.Playing(id, timers, scriptFor(simulated, call), receiver)
    }
  }))

const byId: ReadonlyMap<string, SimulatedModel> = new Map(
  simulatedModels.map((simulated) => [simulated.model.id, simulated])
)

/** What it sends and when. A plain answer comes all at once, as late as its stream would have begun. */
export const scriptFor = ({ fault, model, pace }: SimulatedModel, call: ProviderCall): Script.Script => {
  const { outcome, tokens } = tokensFor(call)
  const said = fault === undefined ? tokens : tokens.slice(0, call.request.stream ? fault.afterTokens : 0)
  const start = [Script.wait(pace.firstMillis), Script.event({ _tag: "Served", model: model.upstreamModel })]
  const speech = said.flatMap((event) =>
    call.request.stream ? [Script.event(event), Script.wait(pace.tokenMillis)] : [Script.event(event)]
  )
  if (fault === undefined) return [...start, ...speech, ...outcome.map(Script.event), Script.end]
  if (fault.failure === null) return [...start, ...speech, Script.hang]
  return [...(said.length === 0 ? start.slice(0, 1) : start), ...speech, Script.fail(fault.failure)]
}

interface Speech {
  /** One event for each token. */
  readonly tokens: ReadonlyArray<ChatEvent>
  /** Finish and usage. */
  readonly outcome: ReadonlyArray<ChatEvent>
}

const tokensFor = ({ effort, maxOutputTokens, model, request, requestId }: ProviderCall): Speech => {
  const prompt = promptOf(request)
  const answer = answerTo(request, prompt, model.id)
  const thoughts =
    model.reasoning === null ? "" : thoughtsFor(effort ?? model.reasoning.defaultEffort ?? undefined, prompt)
  const thinking = pieces(thoughts).map((text): ChatEvent => ({ _tag: "Reasoning", index: 0, kind: "text", text }))
  const speaking = pieces(answer.text).map(
    (text): ChatEvent => ({
      _tag: "Text",
      text,
      ...(request.logprobs === true && { logprobs: [logprobOf(text, request.topLogprobs ?? 0)] })
    })
  )
  const calling = answer.toolCalls.flatMap((toolCall, index) => {
    const [first = "", ...rest] = pieces(toolCall.arguments)
    const { kind, name } = toolCall
    return [
      { _tag: "ToolCall", index, kind, id: mintId(requestId, index), name, arguments: first } satisfies ChatEvent,
      ...rest.map((piece): ChatEvent => ({ _tag: "ToolCall", index, kind, arguments: piece }))
    ]
  })
  const all = [...thinking, ...speaking, ...calling]
  const tokens = all.slice(0, maxOutputTokens)
  const reasoningTokens = Math.min(thinking.length, tokens.length)
  const reason: FinishReason = tokens.length < all.length ? "length" : calling.length > 0 ? "tool_calls" : "stop"
  return {
    tokens,
    outcome: [
      { _tag: "Finish", reason, native: reason },
      {
        _tag: "Usage",
        usage: usage({
          inputTokens: promptTokens(request, model.imageTokens),
          outputTokens: tokens.length - reasoningTokens,
          reasoningTokens
        })
      }
    ]
  }
}

/** Its tokens: up to six characters with the blanks before them. */
const pieces = (text: string): ReadonlyArray<string> => text.match(/\s*\S{1,6}|\s+$/gu) ?? []

const logprobOf = (token: string, top: number): unknown => {
  const bytes = [...Buffer.from(token)]
  const likely = { token, logprob: -0.01, bytes }
  return { ...likely, top_logprobs: top > 0 ? [likely] : [] }
}
