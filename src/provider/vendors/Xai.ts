import { compatible } from "../protocols/openai-chat/Quirks.ts"
import { openAiCompatible } from "./Vendor.ts"

/** Its models reason and reject stop strings and penalties. */
export const xai = openAiCompatible({
  id: "xai",
  displayName: "xAI",
  baseUrl: "https://api.x.ai/v1",
  credentialEnv: ["XAI_API_KEY"],
  quirks: {
    ...compatible,
    outputCapField: "max_completion_tokens",
    support: { ...compatible.support, stop: "dropped", frequency_penalty: "dropped", presence_penalty: "dropped" }
  }
})
