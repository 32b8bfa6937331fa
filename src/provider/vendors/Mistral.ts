import { compatible } from "../protocols/openai-chat/Quirks.ts"
import { all, noLogprobs } from "../protocols/shared/SupportTables.ts"
import { openAiCompatible } from "./Vendor.ts"

/** Rejects every unknown field, `stream_options` among them; usage is always sent. */
export const mistral = openAiCompatible({
  id: "mistral",
  displayName: "Mistral AI",
  baseUrl: "https://api.mistral.ai/v1",
  credentialEnv: ["MISTRAL_API_KEY"],
  quirks: {
    ...compatible,
    streamOptions: false,
    strictOrder: true,
    toolCallIdLength: 9,
    seedField: "random_seed",
    support: { ...compatible.support, ...noLogprobs, ...all("dropped", "user", "messages.name") }
  }
})
