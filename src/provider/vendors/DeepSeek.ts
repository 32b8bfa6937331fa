import { compatible, thinkingByType } from "../protocols/openai-chat/Quirks.ts"
import { openAiCompatible } from "./Vendor.ts"

/** Refuses a tool turn whose thoughts do not come back. */
export const deepseek = openAiCompatible({
  id: "deepseek",
  displayName: "DeepSeek",
  baseUrl: "https://api.deepseek.com/v1",
  credentialEnv: ["DEEPSEEK_API_KEY"],
  quirks: {
    ...compatible,
    reasoningBack: "reasoning_content",
    thinking: thinkingByType,
    support: { ...compatible.support, seed: "dropped", user: "dropped", parallel_tool_calls: "dropped" }
  }
})
