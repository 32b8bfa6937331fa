import * as Auth from "../transport/Auth.ts"
import { geminiCompatible } from "./Vendor.ts"

/**
 * Gemini on Vertex AI. The base URL contains project and region, so no environment variable can enable this vendor: it is a
 * template for configured providers, with an access token as the key.
 */
export const googleVertex = geminiCompatible({
  id: "google-vertex",
  displayName: "Google Vertex AI",
  baseUrl: "https://aiplatform.googleapis.com/v1/publishers/google",
  credentialEnv: [],
  auth: Auth.bearer,
  schemas: "json",
  probe: null
})
