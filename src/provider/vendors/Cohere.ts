import { compatible } from "../protocols/openai-chat/Quirks.ts"
import * as Endpoint from "../transport/Endpoint.ts"
import { openAiCompatible } from "./Vendor.ts"

export const cohere = openAiCompatible({
  id: "cohere",
  displayName: "Cohere",
  baseUrl: "https://api.cohere.ai/compatibility/v1",
  // the compatible endpoint has no list of models
  probe: { endpoint: Endpoint.of("https://api.cohere.ai/v1"), path: "/models?page_size=1", headers: {} },
  credentialEnv: ["COHERE_API_KEY", "CO_API_KEY"],
  quirks: {
    ...compatible,
    support: { ...compatible.support, top_logprobs: "refused", user: "dropped", parallel_tool_calls: "dropped" }
  }
})
