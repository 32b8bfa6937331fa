import type { Capability } from "../domain/Model.ts"
import type { ProtocolId } from "../domain/Support.ts"

/** Settings of a model that do nothing, because its protocol has no field for what they are about. */
export interface WithoutEffect {
  readonly fields: ReadonlyArray<
    | "serviceTierPrices"
    | "webSearchPriceMicroUsd"
    | "audioInputPriceMicroUsdPerMillion"
    | "audioOutputPriceMicroUsdPerMillion"
  >
  readonly capabilities: ReadonlyArray<Capability>
}

export const withoutEffect: Readonly<Record<ProtocolId, WithoutEffect>> = {
  "openai-chat": { fields: [], capabilities: [] },
  "anthropic-messages": {
    fields: ["webSearchPriceMicroUsd", "audioInputPriceMicroUsdPerMillion", "audioOutputPriceMicroUsdPerMillion"],
    capabilities: ["audio-input", "logprobs"]
  },
  gemini: {
    fields: ["serviceTierPrices", "webSearchPriceMicroUsd", "audioOutputPriceMicroUsdPerMillion"],
    capabilities: []
  },
  "bedrock-converse": {
    fields: [
      "serviceTierPrices",
      "webSearchPriceMicroUsd",
      "audioInputPriceMicroUsdPerMillion",
      "audioOutputPriceMicroUsdPerMillion"
    ],
    capabilities: ["audio-input", "logprobs"]
  },
  simulated: { fields: [], capabilities: [] }
}
