import { all, compatible, thinkingByType } from "../protocols/openai-chat/Quirks.ts"
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
      ...all("refused", "logprobs", "top_logprobs"),
      ...all("dropped", "seed", "user", "parallel_tool_calls")
    }
  }
})
