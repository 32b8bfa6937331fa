import { compatible, reasoningByFlag } from "../protocols/openai-chat/Quirks.ts"
import { openAiCompatible } from "./Vendor.ts"

export const alibaba = openAiCompatible({
  id: "alibaba",
  displayName: "Alibaba Cloud",
  baseUrl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
  credentialEnv: ["DASHSCOPE_API_KEY"],
  quirks: {
    ...compatible,
    reasoningFields: reasoningByFlag,
    forcedToolsForbidReasoning: true,
    support: { ...compatible.support, frequency_penalty: "dropped", user: "dropped" }
  }
})
