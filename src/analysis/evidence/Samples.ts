import type { AnalysedCall } from "../../domain/CapturedCall.ts"
import type { ToolChoice } from "../../domain/Chat.ts"
import type { PlannedQuestion } from "./Plan.ts"
import type { ReplaySample } from "./Replay.ts"
import { replayableOf } from "./Segments.ts"

/** Of all prompts of a question, in memory while it is asked. */
const maxBytes = 24 * 1024 * 1024
/** A longer answer than before is let through. */
const minOutputTokens = 1_024

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

const sampleOf = ({ request, requestId, response, usage }: AnalysedCall): ReplaySample | undefined => {
  const { messages, params, tools } = request
  const answer = response?.message ?? null
  return messages === null || tools === null || answer === null
    ? undefined
    : {
        id: requestId,
        request: {
          messages,
          tools,
          toolChoice: isToolChoice(params.toolChoice) ? params.toolChoice : undefined,
          responseFormat: params.responseFormat,
          temperature: params.temperature
        },
        answer,
        maxOutputTokens: params.maxOutputTokens ?? Math.max(minOutputTokens, 2 * (usage?.outputTokens ?? 0))
      }
}

/** As it was sent and judged then. */
const isToolChoice = (value: unknown): value is ToolChoice =>
  value === "auto" || value === "none" || value === "required" || (typeof value === "object" && value !== null)
