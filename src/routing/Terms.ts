import type { CallerShape } from "../domain/Caller.ts"
import type { ChatRequest } from "../domain/Chat.ts"
import type { Model } from "../domain/Model.ts"
import { isStandardTier, listOfTier, type PriceTerms, plainTerms } from "../domain/Prices.ts"
import type { TuningParameter } from "../domain/Support.ts"

/** What the request asks for besides tokens of text. */
export const termsOf = ({ audio, modalities, serviceTier, webSearchOptions }: ChatRequest): PriceTerms => {
  const requestedTier = serviceTier === undefined || isStandardTier(serviceTier) ? null : serviceTier
  const audioOutput = audio !== undefined || modalities?.includes("audio") === true
  return requestedTier === null && webSearchOptions === undefined && !audioOutput
    ? plainTerms
    : { serviceTier: requestedTier, webSearch: webSearchOptions !== undefined, audioOutput }
}

/** What of them is sent to this model, and hence charged. */
export const termsAt = (model: Model, terms: PriceTerms, billingMode: CallerShape["billingMode"]): PriceTerms =>
  terms === plainTerms
    ? terms
    : {
        serviceTier: isSent(model, "service_tier", terms, billingMode) ? terms.serviceTier : null,
        webSearch: terms.webSearch && isSent(model, "web_search_options", terms, billingMode),
        audioOutput: terms.audioOutput
      }

const isSent = (
  model: Model,
  name: TuningParameter,
  terms: PriceTerms,
  billingMode: CallerShape["billingMode"]
): boolean => model.support[name] !== "dropped" && !isUnpriced(model, name, terms, billingMode)

/** Whether the customer would be charged for the parameter, at a price that is not known. */
export const isUnpriced = (
  { prices }: Model,
  name: TuningParameter,
  { serviceTier }: PriceTerms,
  billingMode: CallerShape["billingMode"]
): boolean => {
  if (billingMode !== "managed" || prices === null) return false
  if (name === "service_tier") return serviceTier !== null && listOfTier(prices, serviceTier) === undefined
  return name === "web_search_options" && (prices.webSearchMicroUsd ?? null) === null
}
