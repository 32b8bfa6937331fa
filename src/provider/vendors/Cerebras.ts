import { compatible } from "../protocols/openai-chat/Quirks.ts"
import { openAiCompatible } from "./Vendor.ts"

export const cerebras = openAiCompatible({
  id: "cerebras",
  displayName: "Cerebras",
  baseUrl: "https://api.cerebras.ai/v1",
  credentialEnv: ["CEREBRAS_API_KEY"],
  quirks: {
    ...compatible,
    outputCapField: "max_completion_tokens",
    rules: { ...compatible.rules, isStrictUniform: true },
    support: {
      ...compatible.support,
      "response_format.tools": "refused",
      frequency_penalty: "dropped",
      presence_penalty: "dropped"
    }
  }
})
