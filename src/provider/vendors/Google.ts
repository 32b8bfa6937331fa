import { geminiCompatible } from "./Vendor.ts"

export const google = geminiCompatible({
  id: "google",
  displayName: "Google",
  baseUrl: "https://generativelanguage.googleapis.com/v1beta",
  credentialEnv: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  schemas: "json"
})
