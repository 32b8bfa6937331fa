import type { AnalysedCall, CapturedParams } from "../../domain/CapturedCall.ts"
import { type ChatRequest, efforts, type ReasoningOptions, type ToolChoice } from "../../domain/Chat.ts"
import type { AskedRequest } from "./ModelCalls.ts"
import type { PlannedQuestion } from "./Plan.ts"
import type { ReplaySample } from "./Replay.ts"
import { replayableOf } from "./Segments.ts"

/** Of all prompts of a question, in memory while it is asked. */
const maxBytes = 24 * 1024 * 1024

/** Collects what questions are asked on: one call of each conversation, in the order in which conversations come. */
export class SampleList {
  private readonly samples: ReadonlyArray<{ readonly question: PlannedQuestion; readonly list: Array<ReplaySample> }>
  private readonly bytes = new Map<PlannedQuestion, number>()

  constructor(questions: ReadonlyArray<PlannedQuestion>) {
    this.samples = questions.map((question) => ({ question, list: [] }))
  }

  /** The calls of one conversation. */
  add(calls: ReadonlyArray<AnalysedCall>): void {
    for (const { list, question } of this.samples) {
      if (list.length >= question.pairs) continue
      const call = replayableOf(calls, question.promptClass, question.incumbent)
      const sample = call === undefined ? undefined : sampleOf(call)
      if (call === undefined || sample === undefined) continue
      const bytes = (this.bytes.get(question) ?? 0) + call.request.blocks.reduce((sum, block) => sum + block.bytes, 0)
      if (bytes > maxBytes) continue
      this.bytes.set(question, bytes)
      list.push(sample)
    }
  }

  of(question: PlannedQuestion): ReadonlyArray<ReplaySample> {
    return this.samples.find((each) => each.question === question)?.list ?? []
  }
}

const sampleOf = ({ request, requestId, response }: AnalysedCall): ReplaySample | undefined => {
  const { messages, params, tools } = request
  const answer = response?.message ?? null
  return messages === null || tools === null || answer === null
    ? undefined
    : {
        id: requestId,
        request: { messages, tools, ...sentParams(params) },
        answer
      }
}

/** What decides the answer: not how it is sent, cached, paid for or kept. */
const sentParams = (params: CapturedParams): Omit<AskedRequest, "messages" | "tools"> => ({
  toolChoice: isToolChoice(params.toolChoice) ? params.toolChoice : undefined,
  parallelToolCalls: params.parallelToolCalls,
  responseFormat: params.responseFormat,
  maxOutputTokens: params.maxOutputTokens,
  temperature: params.temperature,
  topP: params.topP,
  topK: params.topK,
  stop: params.stop ?? [],
  seed: params.seed === undefined ? undefined : seedOf(params.seed),
  frequencyPenalty: params.frequencyPenalty,
  presencePenalty: params.presencePenalty,
  effort: effortOf(params.effort),
  ...(params.reasoning !== undefined && { reasoning: reasoningOf(params.reasoning) }),
  verbosity: verbosities.find((one) => one === params.verbosity)
})

const seedOf = (digits: string): number | bigint => {
  const seed = Number(digits)
  return Number.isSafeInteger(seed) ? seed : BigInt(digits)
}

const effortOf = (effort: CapturedParams["effort"]): ChatRequest["effort"] =>
  typeof effort === "number" ? effort : efforts.find((one) => one === effort)

const verbosities = ["low", "medium", "high"] as const
const modes = ["enabled", "adaptive", "disabled"] as const

const reasoningOf = ({ maxTokens, mode }: NonNullable<CapturedParams["reasoning"]>): ReasoningOptions => ({
  mode: modes.find((one) => one === mode),
  maxTokens: typeof maxTokens === "number" ? maxTokens : undefined,
  summary: undefined,
  exclude: true
})

/** As it was sent and judged then. */
const isToolChoice = (value: unknown): value is ToolChoice =>
  value === "auto" || value === "none" || value === "required" || (typeof value === "object" && value !== null)
