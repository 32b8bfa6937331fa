import { compatible, reasoningByType } from "../protocols/openai-chat/Quirks.ts"
import { all } from "../protocols/shared/SupportTables.ts"
import { openAiCompatible } from "./Vendor.ts"

export const zai = openAiCompatible({
  id: "zai",
  displayName: "Z.AI",
  baseUrl: "https://api.z.ai/api/paas/v4",
  credentialEnv: ["ZAI_API_KEY", "ZHIPU_API_KEY"],
  quirks: {
    ...compatible,
    reasoningHistory: "reasoning_content",
    reasoningFields: reasoningByType,
    support: {
      ...compatible.support,
      ...all("refused", "tool_choice.required", "response_format.json_schema", "logprobs", "top_logprobs", "stop[1]"),
      ...all("dropped", "frequency_penalty", "presence_penalty", "seed", "user", "parallel_tool_calls")
    }
  }
})
