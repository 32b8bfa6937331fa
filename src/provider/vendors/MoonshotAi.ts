import { compatible, reasoningByType } from "../protocols/openai-chat/Quirks.ts"
import { all, noLogprobs } from "../protocols/shared/SupportTables.ts"
import { openAiCompatible } from "./Vendor.ts"

export const moonshotai = openAiCompatible({
  id: "moonshotai",
  displayName: "Moonshot AI",
  baseUrl: "https://api.moonshot.ai/v1",
  credentialEnv: ["MOONSHOT_API_KEY"],
  quirks: {
    ...compatible,
    reasoningHistory: "reasoning_content",
    requiresReasoning: true,
    forcedToolsForbidReasoning: true,
    reasoningFields: reasoningByType,
    support: { ...compatible.support, ...noLogprobs, ...all("dropped", "seed", "user", "parallel_tool_calls") }
  }
})
