import * as Auth from "../Auth.ts"
import { openAiCompatible } from "./Vendor.ts"

/**
 * Azure OpenAI by its v1 interface, whose models are the names of deployments. The resource stands in the base URL, so no
 * environment variable can switch it on: it is there for configured providers to take after.
 */
export const azure = openAiCompatible({
  id: "azure",
  displayName: "Azure OpenAI",
  baseUrl: "https://resource.openai.azure.com/openai/v1",
  needsBaseUrl: true,
  credentialEnv: [],
  auth: Auth.header("api-key")
})
