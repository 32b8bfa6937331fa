import type { CallerShape } from "../domain/Caller.ts"
import type { ChatRequest } from "../domain/Chat.ts"
import type { Model } from "../domain/Model.ts"
import { type Allowed, excludedBy, isProjectExclusion } from "../policy/Narrow.ts"
import { meets, type Need } from "./Needs.ts"

interface Question {
  readonly allowed: Allowed
  readonly request: ChatRequest
  readonly needs: ReadonlyArray<Need>
  /** An estimate of the prompt's length. */
  readonly promptTokens: number
  readonly billingMode: CallerShape["billingMode"]
}

/** Every model of a pool is either eligible or counted once under the one reason why it is not. */
export interface Sifted {
  readonly eligible: ReadonlyArray<Model>
  readonly excluded: Readonly<Record<string, number>>
  /** How many of the pool the project itself has excluded. */
  readonly byProject: number
  /** How many were left after project, routing configuration, request and prices. */
  readonly permitted: number
  /** How many of those do all that the request needs. */
  readonly capable: number
  /** The need that excluded most, the earlier of two alike. */
  readonly worst: Need | null
}

/** In stages: where the call may go, what the model can do, whether the prompt fits. */
export const sift = (pool: ReadonlyArray<Model>, question: Question): Sifted => {
  const counts = new Map<string, number>()
  const byNeed = new Map<Need, number>()
  const count = (reason: string): void => void counts.set(reason, (counts.get(reason) ?? 0) + 1)
  const certain: Array<Model> = []
  const doubtful: Array<Doubtful> = []
  let byProject = 0
  let permitted = 0
  let capable = 0
  for (const model of pool) {
    const exclusion = excludedBy(question.allowed, model, question.promptTokens)
    if (exclusion !== null) {
      if (isProjectExclusion(exclusion)) byProject++
      count(exclusion)
      continue
    }
    if (model.prices === null && question.billingMode === "managed") {
      count("unpriced")
      continue
    }
    permitted++
    const { unmet, unknown } = fitOf(model, question.needs)
    if (unmet !== null) {
      byNeed.set(unmet, (byNeed.get(unmet) ?? 0) + 1)
      count(unmet.reason)
      continue
    }
    capable++
    if (isTooLong(model, question.request, question.promptTokens)) count("context_length")
    else if (unknown === null) certain.push(model)
    else doubtful.push({ model, unknown })
  }
  if (certain.length > 0) for (const { unknown } of doubtful) count(unknown.reason)
  return {
    eligible: certain.length > 0 ? certain : doubtful.map(({ model }) => model),
    excluded: Object.fromEntries(counts),
    byProject,
    permitted,
    capable,
    worst: mostFrequent(byNeed, question.needs)
  }
}

/** Whether prompt and wanted output are more than the model takes; a limit that is not documented is none. */
const isTooLong = (model: Model, request: ChatRequest, promptTokens: number): boolean => {
  if (model.inputTokens !== null && promptTokens > model.inputTokens) return true
  return model.contextTokens !== null && promptTokens + leastOutput(model, request) > model.contextTokens
}

/** A model that may or may not do what is needed: taken only where no other is certain to. */
interface Doubtful {
  readonly model: Model
  readonly unknown: Need
}

interface Fit {
  readonly unmet: Need | null
  readonly unknown: Need | null
}

const fits: Fit = { unmet: null, unknown: null }

const fitOf = (model: Model, needs: ReadonlyArray<Need>): Fit => {
  let unknown: Need | null = null
  for (const need of needs) {
    const met = meets(model, need)
    if (met === false) return { unmet: need, unknown: null }
    if (met === null) unknown ??= need
  }
  return unknown === null ? fits : { unmet: null, unknown }
}

/** What the client wants at most, as far as the model goes; without a cap, one token has to fit. */
const leastOutput = (model: Model, request: ChatRequest): number =>
  Math.min(request.maxOutputTokens ?? 1, model.outputTokens ?? Number.POSITIVE_INFINITY)

const mostFrequent = (byNeed: ReadonlyMap<Need, number>, needs: ReadonlyArray<Need>): Need | null => {
  let worst: Need | null = null
  let most = 0
  for (const need of needs) {
    const times = byNeed.get(need) ?? 0
    if (times > most) {
      worst = need
      most = times
    }
  }
  return worst
}
