import { anthropicCompatible } from "./Vendor.ts"

export const anthropic = anthropicCompatible({
  id: "anthropic",
  displayName: "Anthropic",
  baseUrl: "https://api.anthropic.com/v1",
  credentialEnv: ["ANTHROPIC_API_KEY"]
})
