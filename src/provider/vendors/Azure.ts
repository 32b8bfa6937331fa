import * as Auth from "../transport/Auth.ts"
import { openAiCompatible } from "./Vendor.ts"

/**
 * Azure OpenAI by its v1 API, whose model names are deployment names. The base URL contains the resource, so no environment
 * variable can enable this vendor: it is a template for configured providers.
 */
export const azure = openAiCompatible({
  id: "azure",
  displayName: "Azure OpenAI",
  baseUrl: "https://resource.openai.azure.com/openai/v1",
  needsBaseUrl: true,
  credentialEnv: [],
  auth: Auth.header("api-key")
})
