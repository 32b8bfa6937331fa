import { openAiCompatible } from "./Vendor.ts"

export const openai = openAiCompatible({
  id: "openai",
  displayName: "OpenAI",
  baseUrl: "https://api.openai.com/v1",
  credentialEnv: ["OPENAI_API_KEY"]
})
