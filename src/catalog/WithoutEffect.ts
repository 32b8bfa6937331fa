import type { Capability } from "../domain/Model.ts"
import type { ProtocolId } from "../domain/Support.ts"

/** Settings of a provider and its models that do nothing, because its protocol has no field for what they are about. */
export interface WithoutEffect {
  readonly fields: ReadonlyArray<
    | "outputCapField"
    | "profile.apiVersion"
    | "reasoningDepth"
    | "serviceTierPrices"
    | "webSearchPriceMicroUsd"
    | "audioInputPriceMicroUsdPerMillion"
    | "audioOutputPriceMicroUsdPerMillion"
  >
  readonly capabilities: ReadonlyArray<Capability>
}

export const withoutEffect: Readonly<Record<ProtocolId, WithoutEffect>> = {
  "openai-chat": { fields: ["profile.apiVersion"], capabilities: [] },
  "anthropic-messages": {
    fields: [
      "outputCapField",
      "reasoningDepth",
      "webSearchPriceMicroUsd",
      "audioInputPriceMicroUsdPerMillion",
      "audioOutputPriceMicroUsdPerMillion"
    ],
    capabilities: ["audio-input", "logprobs"]
  },
  gemini: {
    fields: [
      "outputCapField",
      "profile.apiVersion",
      "serviceTierPrices",
      "webSearchPriceMicroUsd",
      "audioOutputPriceMicroUsdPerMillion"
    ],
    capabilities: []
  },
  "bedrock-converse": {
    fields: [
      "outputCapField",
      "profile.apiVersion",
      "reasoningDepth",
      "serviceTierPrices",
      "webSearchPriceMicroUsd",
      "audioInputPriceMicroUsdPerMillion",
      "audioOutputPriceMicroUsdPerMillion"
    ],
    capabilities: ["audio-input", "logprobs"]
  },
  simulated: { fields: [], capabilities: [] }
}
