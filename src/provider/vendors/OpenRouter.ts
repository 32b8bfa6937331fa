import { compatible, openAi, reasoningByObject } from "../protocols/openai-chat/Quirks.ts"
import { openAiCompatible } from "./Vendor.ts"

export const openrouter = openAiCompatible({
  id: "openrouter",
  displayName: "OpenRouter",
  baseUrl: "https://openrouter.ai/api/v1",
  credentialEnv: ["OPENROUTER_API_KEY"],
  // without output there is no charge: https://openrouter.ai/docs/guides/features/zero-completion-insurance
  billsAbortedCalls: false,
  probe: { path: "/key", headers: {} }, // the list of models is public
  quirks: {
    ...compatible,
    reasoningHistory: "reasoning_details",
    rules: { ...compatible.rules, maxIdCharacters: 128 },
    maxToolCallIdLength: openAi.maxToolCallIdLength, // of OpenAI's models
    reasoningFields: reasoningByObject,
    support: { ...compatible.support, verbosity: "native", top_k: "native", cache_control: "native" }
  }
})
