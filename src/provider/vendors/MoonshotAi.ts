import { compatible, thinkingByType } from "../protocols/openai-chat/Quirks.ts"
import { openAiCompatible } from "./Vendor.ts"

/** Refuses a tool turn whose thoughts do not come back. */
export const moonshotai = openAiCompatible({
  id: "moonshotai",
  displayName: "Moonshot AI",
  baseUrl: "https://api.moonshot.ai/v1",
  credentialEnv: ["MOONSHOT_API_KEY"],
  quirks: {
    ...compatible,
    reasoningBack: "reasoning_content",
    thinking: thinkingByType,
    support: {
      ...compatible.support,
      logprobs: "refused",
      top_logprobs: "refused",
      seed: "dropped",
      user: "dropped",
      parallel_tool_calls: "dropped"
    }
  }
})
