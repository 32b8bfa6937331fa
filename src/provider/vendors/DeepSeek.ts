import { compatible, reasoningOffByType } from "../protocols/openai-chat/Quirks.ts"
import { openAiCompatible } from "./Vendor.ts"

export const deepseek = openAiCompatible({
  id: "deepseek",
  displayName: "DeepSeek",
  baseUrl: "https://api.deepseek.com/v1",
  credentialEnv: ["DEEPSEEK_API_KEY"],
  quirks: {
    ...compatible,
    reasoningHistory: "reasoning_content",
    requiresReasoning: true,
    forcedToolsForbidReasoning: true,
    reasoningFields: reasoningOffByType,
    support: { ...compatible.support, seed: "dropped", user: "dropped", parallel_tool_calls: "dropped" }
  }
})
