import { compatible, thinkingByEnabled } from "../protocols/openai-chat/Quirks.ts"
import { openAiCompatible } from "./Vendor.ts"

/** Unless asked to split, it writes its thoughts into the text. */
export const minimax = openAiCompatible({
  id: "minimax",
  displayName: "MiniMax",
  baseUrl: "https://api.minimax.io/v1",
  credentialEnv: ["MINIMAX_API_KEY"],
  quirks: {
    ...compatible,
    reasoningBack: "reasoning_details",
    repeatsReasoning: true,
    thinking: { ...thinkingByEnabled, styles: ["fixed"] },
    always: { reasoning_split: true },
    support: { ...compatible.support, logprobs: "refused", top_logprobs: "refused", user: "dropped" }
  }
})
