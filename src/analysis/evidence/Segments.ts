import type { AnalysedCall } from "../../domain/CapturedCall.ts"
import type { PromptClass } from "../../domain/PromptClass.ts"
import type { AnalysisSegment } from "../../wire/account/AnalysisEvidence.ts"

/** A captured call that may be sent to other models, whole: the last one of its conversation is asked about. */
const isReplayable = (call: AnalysedCall): boolean =>
  call.flowAuthorized &&
  call.status === "success" &&
  call.class !== null &&
  call.request.messages !== null &&
  call.request.tools !== null &&
  call.request.media.length === 0 &&
  call.response !== null &&
  call.response.message !== null &&
  call.response.finish !== "length"

/** Id of the model that has answered. */
const servedBy = ({ attempts, decision }: AnalysedCall): string => attempts.at(-1)?.model ?? decision.requestedModel

/** The call that stands for the conversation in questions about this class and model. */
export const replayableOf = (
  calls: ReadonlyArray<AnalysedCall>,
  promptClass: PromptClass,
  model: string
): AnalysedCall | undefined =>
  calls.findLast((call) => call.class === promptClass && servedBy(call) === model && isReplayable(call))

interface Served {
  readonly costs: Array<number>
  readonly firstContents: Array<number>
  replayable: number
  input: number
  cacheRead: number
  cacheWrite: number
  output: number
}

/** Counts which models have answered which kinds of prompts: conversation by conversation, without keeping any text. */
export class SegmentTally {
  private readonly segments = new Map<PromptClass, Map<string, Served>>()

  /** The calls of one conversation. */
  add(calls: ReadonlyArray<AnalysedCall>): void {
    const asked = new Set<Served>()
    for (const call of calls) {
      if (call.class === null || call.usage === null) continue
      const served = this.servedOf(call.class, servedBy(call))
      served.costs.push(call.cost.amount_microusd)
      if (call.firstContentMillis !== null) served.firstContents.push(call.firstContentMillis)
      served.input += call.usage.inputTokens
      served.cacheRead += call.usage.cacheReadTokens
      served.cacheWrite += call.usage.cacheWriteTokens
      served.output += call.usage.outputTokens + call.usage.reasoningTokens
      if (isReplayable(call)) asked.add(served)
    }
    for (const served of asked) served.replayable += 1
  }

  /** The dearest first. */
  totals(): ReadonlyArray<AnalysisSegment> {
    return [...this.segments]
      .map(([promptClass, models]) => {
        const served = [...models].map(([model, each]) => servedOut(model, each)).sort(bySpent)
        return {
          class: promptClass,
          calls: sum(served.map(({ calls }) => calls)),
          spent_microusd: sum(served.map(({ spent_microusd }) => spent_microusd)),
          served,
          questions: []
        }
      })
      .sort(bySpent)
  }

  private servedOf(promptClass: PromptClass, model: string): Served {
    const models = this.segments.get(promptClass) ?? new Map<string, Served>()
    this.segments.set(promptClass, models)
    const served = models.get(model) ?? {
      costs: [],
      firstContents: [],
      replayable: 0,
      input: 0,
      cacheRead: 0,
      cacheWrite: 0,
      output: 0
    }
    models.set(model, served)
    return served
  }
}

const servedOut = (model: string, served: Served): AnalysisSegment["served"][number] => ({
  model,
  calls: served.costs.length,
  spent_microusd: sum(served.costs),
  conversations: served.replayable,
  input_tokens: served.input,
  cache_read_tokens: served.cacheRead,
  cache_write_tokens: served.cacheWrite,
  output_tokens: served.output,
  cost_p50_microusd: medianOf(served.costs) ?? 0,
  first_content_p50_ms: medianOf(served.firstContents) ?? null
})

const sum = (amounts: ReadonlyArray<number>): number => amounts.reduce((total, each) => total + each, 0)

const bySpent = (a: { readonly spent_microusd: number }, b: { readonly spent_microusd: number }): number =>
  b.spent_microusd - a.spent_microusd

/** The lower one of two in the middle. */
const medianOf = (values: ReadonlyArray<number>): number | undefined =>
  [...values].sort((a, b) => a - b)[(values.length - 1) >> 1]
