import { all, compatible, thinkingByType } from "../protocols/openai-chat/Quirks.ts"
import { openAiCompatible } from "./Vendor.ts"

export const zai = openAiCompatible({
  id: "zai",
  displayName: "Z.AI",
  baseUrl: "https://api.z.ai/api/paas/v4",
  credentialEnv: ["ZAI_API_KEY", "ZHIPU_API_KEY"],
  quirks: {
    ...compatible,
    reasoningBack: "reasoning_content",
    thinking: thinkingByType,
    support: {
      ...compatible.support,
      ...all("refused", "logprobs", "top_logprobs"),
      ...all("dropped", "frequency_penalty", "presence_penalty", "seed", "user", "parallel_tool_calls")
    }
  }
})
