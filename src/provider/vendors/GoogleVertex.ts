import * as Auth from "../Auth.ts"
import { speakingGemini } from "./Vendor.ts"

/**
 * Gemini on Vertex AI. Project and region stand in the base URL, so no environment variable can switch it on: it is there for
 * configured providers to take after, with an access token for their key.
 */
export const googleVertex = speakingGemini({
  id: "google-vertex",
  displayName: "Google Vertex AI",
  baseUrl: "https://aiplatform.googleapis.com/v1/publishers/google",
  credentialEnv: [],
  auth: Auth.bearer,
  schemas: "json"
})
