import { compatible, reasoningByObject } from "../protocols/openai-chat/Quirks.ts"
import { openAiCompatible } from "./Vendor.ts"

/**
 * A response without output tokens and without a finish reason is not charged, even where the provider behind charges for
 * the prompt: https://openrouter.ai/docs/guides/features/zero-completion-insurance
 */
const billsAbortedCalls = false

export const openrouter = openAiCompatible({
  id: "openrouter",
  displayName: "OpenRouter",
  baseUrl: "https://openrouter.ai/api/v1",
  credentialEnv: ["OPENROUTER_API_KEY"],
  billsAbortedCalls,
  quirks: {
    ...compatible,
    reasoningHistory: "reasoning_details",
    reasoningFields: reasoningByObject,
    support: { ...compatible.support, verbosity: "native" }
  }
})
