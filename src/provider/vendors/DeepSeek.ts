import { compatible, reasoningOffByType } from "../protocols/openai-chat/Quirks.ts"
import { all, jsonObjectsOnly } from "../protocols/shared/SupportTables.ts"
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
    support: { ...compatible.support, ...jsonObjectsOnly, ...all("dropped", "seed", "user", "parallel_tool_calls") }
  }
})
