import { type BoundedPrompt, highestCost, payableOutputTokens } from "../domain/HighestCost.ts"
import type { Model } from "../domain/Model.ts"
import type { MicroUsd } from "../domain/Money.ts"
import type { PriceTerms } from "../domain/Prices.ts"

/** What the call may cost, with the upper bounds of its prompt's length. */
export interface CostBound {
  readonly maxMicroUsd: number
  /** Without images, files and audio, whose length depends on the model. */
  readonly textTokens: number
  /** Each page of a PDF counts. */
  readonly imagesAndFiles: number
  readonly audioTokens: number
}

/** The smallest output caps worth a call. */
const minOutputTokens = 256
const minReasoningTokens = 4_096

interface CostInput {
  /** The client's cap on completion tokens. */
  readonly maxOutputTokens: number | undefined
  readonly termsOf: (model: Model) => PriceTerms
  readonly reasons: (model: Model) => boolean
}

export interface WithinCost {
  readonly models: ReadonlyArray<Model>
  /** What the call would have to be allowed to cost, where it is not enough for the prompt at any model with a price. */
  readonly minMicroUsd: MicroUsd | null
}

/**
 * The models at which the bound pays for the prompt and an answer of a useful length, or for what the client asks for; where there
 * are none, those at which it pays for the prompt and one token. A model without a price cannot be bounded.
 */
export const withinCost = (
  models: ReadonlyArray<Model>,
  bound: CostBound,
  { maxOutputTokens, reasons, termsOf }: CostInput
): WithinCost => {
  const useful: Array<Model> = []
  const any: Array<Model> = []
  let least: MicroUsd | null = null
  for (const model of models) {
    if (model.prices === null) continue
    const [prompt, terms] = [promptAt(model, bound), termsOf(model)]
    const payable = payableOutputTokens(bound.maxMicroUsd, model.prices, terms, prompt)
    const wanted = Math.min(
      maxOutputTokens ?? Number.POSITIVE_INFINITY,
      reasons(model) ? minReasoningTokens : minOutputTokens
    )
    if (payable >= wanted) useful.push(model)
    if (payable >= 1) any.push(model)
    const needed = highestCost(model.prices, terms, prompt, 1)
    if (least === null || needed < least) least = needed
  }
  return { models: useful.length > 0 ? useful : any, minMicroUsd: least }
}

const promptAt = ({ imageTokens }: Model, { audioTokens, imagesAndFiles, textTokens }: CostBound): BoundedPrompt => ({
  promptTokens: textTokens + imagesAndFiles * imageTokens + audioTokens,
  audioTokens
})
