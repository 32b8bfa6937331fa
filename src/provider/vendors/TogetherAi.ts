import { compatible, reasoningByEnabled } from "../protocols/openai-chat/Quirks.ts"
import { openAiCompatible } from "./Vendor.ts"

/** `logprobs` is a number with another meaning. */
export const togetherai = openAiCompatible({
  id: "togetherai",
  displayName: "Together AI",
  baseUrl: "https://api.together.xyz/v1",
  credentialEnv: ["TOGETHER_API_KEY"],
  quirks: {
    ...compatible,
    reasoningFields: reasoningByEnabled,
    support: { ...compatible.support, logprobs: "refused", top_logprobs: "refused", user: "dropped" }
  }
})
