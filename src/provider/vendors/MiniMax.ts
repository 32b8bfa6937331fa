import { compatible, reasoningByEnabled } from "../protocols/openai-chat/Quirks.ts"
import { openAiCompatible } from "./Vendor.ts"

/** Writes its reasoning into the text unless `reasoning_split` is set. */
export const minimax = openAiCompatible({
  id: "minimax",
  displayName: "MiniMax",
  baseUrl: "https://api.minimax.io/v1",
  credentialEnv: ["MINIMAX_API_KEY"],
  quirks: {
    ...compatible,
    reasoningHistory: "reasoning_details",
    repeatsReasoning: true,
    reasoningFields: { ...reasoningByEnabled, styles: ["fixed"] },
    always: { reasoning_split: true },
    support: { ...compatible.support, logprobs: "refused", top_logprobs: "refused", user: "dropped" }
  }
})
