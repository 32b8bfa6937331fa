import { compatible, reasoningByObject } from "../protocols/openai-chat/Quirks.ts"
import { openAiCompatible } from "./Vendor.ts"

export const openrouter = openAiCompatible({
  id: "openrouter",
  displayName: "OpenRouter",
  baseUrl: "https://openrouter.ai/api/v1",
  credentialEnv: ["OPENROUTER_API_KEY"],
  quirks: {
    ...compatible,
    reasoningHistory: "reasoning_details",
    reasoningFields: reasoningByObject,
    support: { ...compatible.support, verbosity: "native" }
  }
})
