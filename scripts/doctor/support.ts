import { diagnose } from "../../src/analysis/Diagnose.ts"
import { Preparation } from "../../src/analysis/Prepare.ts"
import { countsOf } from "../../src/analysis/Tokens.ts"
import data from "../../src/catalog/data/models.data.json" with { type: "json" }
import type { CapturedCall } from "../../src/domain/CapturedCall.ts"
import type { PromptCache } from "../../src/domain/Model.ts"

/** What the engine says of one cause: what the application would have cost less without it. */
export interface Found {
  readonly cause: number
  readonly tier: string
  readonly aloneMicroUsd: number
  readonly shareMicroUsd: number
}

const caches = new Map(data.models.map(({ cache, id }) => [id, cache as PromptCache | null]))

/** The engine as an analysis runs it, on the calls of one application. */
export const findingsOf = (
  calls: ReadonlyArray<CapturedCall>
): {
  readonly found: ReadonlyArray<Found>
  readonly avoidableMicroUsd: number
  readonly modelErrors: ReadonlyArray<number>
} => {
  const preparation = new Preparation(countsOf, (model) => caches.get(model) ?? null)
  const conversations = new Map<string, Array<CapturedCall>>()
  for (const call of calls) {
    const before = conversations.get(call.conversation)
    if (before === undefined) conversations.set(call.conversation, [call])
    else before.push(call)
  }
  for (const [conversation, own] of conversations) preparation.add({ conversation, inclusion: 1 }, own)
  const { avoidableMicroUsd, findings, modelErrors } = diagnose(preparation.workload(), 1)
  return {
    avoidableMicroUsd,
    modelErrors: modelErrors.map(({ share }) => share),
    found: findings.map(({ aloneMicroUsd, cause, shareMicroUsd, tier }) => ({
      cause: cause.number,
      tier,
      aloneMicroUsd,
      shareMicroUsd
    }))
  }
}
