import { compatible } from "../protocols/openai-chat/Quirks.ts"
import { formatsAlone, noLogprobs } from "../protocols/shared/SupportTables.ts"
import { openAiCompatible } from "./Vendor.ts"

export const groq = openAiCompatible({
  id: "groq",
  displayName: "Groq",
  baseUrl: "https://api.groq.com/openai/v1",
  credentialEnv: ["GROQ_API_KEY"],
  quirks: {
    ...compatible,
    outputCapField: "max_completion_tokens",
    support: { ...compatible.support, ...noLogprobs, ...formatsAlone, "messages.name": "dropped" }
  }
})
