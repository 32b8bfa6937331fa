import { compatible } from "../protocols/openai-chat/Quirks.ts"
import { all, noLogprobs } from "../protocols/shared/SupportTables.ts"
import { openAiCompatible } from "./Vendor.ts"

export const groq = openAiCompatible({
  id: "groq",
  displayName: "Groq",
  baseUrl: "https://api.groq.com/openai/v1",
  credentialEnv: ["GROQ_API_KEY"],
  quirks: {
    ...compatible,
    outputCapField: "max_completion_tokens",
    support: {
      ...compatible.support,
      ...noLogprobs,
      // https://console.groq.com/docs/structured-outputs
      ...all("refused", "response_format.json_schema.stream", "response_format.tools"),
      "messages.name": "dropped"
    }
  }
})
