import type * as Settings from "../config/Settings.ts"
import type { ProviderOptions } from "../provider/ProviderLayer.ts"
import { amazonBedrockId } from "../provider/vendors/AmazonBedrock.ts"
import { vendorOf } from "../provider/vendors/Vendors.ts"

/** The settings as the providers take them. */
export const providerOptions = (settings: ProviderSettings): ProviderOptions => ({
  credentials: settings.vendorKeys,
  bedrock: settings.bedrock,
  callerCredentials: true,
  own: settings.providers.map(({ apiKey, connection, id, models }) => ({
    id,
    apiKey,
    models,
    protocol: connection._tag === "Protocol" ? connection.protocol : undefined,
    vendor: connection._tag === "Vendor" ? connection.vendor : undefined,
    baseUrl: connection.baseUrl ?? undefined,
    outputCapField: connection.outputCapField ?? undefined,
    billsAbortedCalls: connection.billsAbortedCalls ?? undefined
  })),
  credentialNames: (vendorId) => vendorOf(vendorId)?.credentialEnv ?? [],
  simulated: settings.simulated,
  patches: settings.models,
  connectMillis: settings.timeouts.connectMillis,
  proxy: settings.proxy
})

/** What the settings say about providers. */
export type ProviderSettings = Pick<
  Settings.Settings,
  "bedrock" | "models" | "providers" | "proxy" | "simulated" | "timeouts" | "vendorKeys" | "vendorVariables"
>

/** The environment variables that hold the service's credentials, by provider id; providers without a credential are absent. */
export const credentialVariables = ({
  bedrock,
  providers,
  vendorVariables
}: Pick<ProviderSettings, "bedrock" | "providers" | "vendorVariables">): ReadonlyMap<string, string> =>
  new Map([
    ...vendorVariables,
    ...(bedrock === null
      ? []
      : [
          [amazonBedrockId, bedrock.auth._tag === "Bearer" ? "AWS_BEARER_TOKEN_BEDROCK" : "AWS_ACCESS_KEY_ID"] as const
        ]),
    ...providers.flatMap(({ apiKeyVariable, id }) => (apiKeyVariable === null ? [] : [[id, apiKeyVariable] as const]))
  ])
