import { speakingMessages } from "./Vendor.ts"

export const anthropic = speakingMessages({
  id: "anthropic",
  displayName: "Anthropic",
  baseUrl: "https://api.anthropic.com/v1",
  credentialEnv: ["ANTHROPIC_API_KEY"]
})
