import { compatible, reasoningByType } from "../protocols/openai-chat/Quirks.ts"
import { openAiCompatible } from "./Vendor.ts"

export const fireworksAi = openAiCompatible({
  id: "fireworks-ai",
  displayName: "Fireworks AI",
  baseUrl: "https://api.fireworks.ai/inference/v1",
  credentialEnv: ["FIREWORKS_API_KEY"],
  quirks: { ...compatible, reasoningHistory: "reasoning_content", reasoningFields: reasoningByType }
})
