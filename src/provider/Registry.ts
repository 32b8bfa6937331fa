import type * as Redacted from "effect/Redacted"
import type { TimersShape } from "../domain/Timers.ts"
import type { Provider } from "./Provider.ts"
import * as Simulated from "./simulated/Simulated.ts"
import * as Auth from "./transport/Auth.ts"
import * as HttpProvider from "./transport/HttpProvider.ts"
import type { TransportShape } from "./transport/Transport.ts"
import { amazonBedrock, type BedrockAccess, bedrockAuth } from "./vendors/AmazonBedrock.ts"
import { type ConfiguredProvider, configured } from "./vendors/Configured.ts"
import type { Vendor } from "./vendors/Vendor.ts"
import { vendorOf, vendorsWithKeyAlone } from "./vendors/Vendors.ts"

/** A configured provider and its credential; `null` sends none. */
export interface CredentialedProvider extends ConfiguredProvider {
  /** `null` sends no credential. */
  readonly apiKey: Redacted.Redacted | null
}

export interface RegistryOptions {
  readonly transport: TransportShape
  readonly timers: TimersShape
  readonly reportDefect: HttpProvider.ReportDefect
  /** Credentials of built-in vendors; a vendor without a credential is not available. */
  readonly credentials: ReadonlyMap<string, Redacted.Redacted>
  /** Amazon Bedrock, which needs more than a key; `null`: not available. */
  readonly bedrock: BedrockAccess | null
  /** Makes providers also of the vendors without a credential, for calls that bring one. */
  readonly callerCredentials?: boolean
  readonly own: ReadonlyArray<CredentialedProvider>
  readonly simulated: boolean
}

export interface Registry {
  readonly providers: ReadonlyArray<Provider>
  /** The built-in vendors that can be called. */
  readonly vendors: ReadonlyArray<Vendor>
  /** Those that only calls with a credential of their own can be sent to. */
  readonly callerVendors: ReadonlyArray<Vendor>
  /** The configured providers, in the order of the configuration. */
  readonly own: ReadonlyArray<Vendor>
}

/** All providers that this process can call. The options have passed `ProviderIssues.ts`. */
export const make = (options: RegistryOptions): Registry => {
  const http = (vendor: Vendor, auth: Auth.Auth): Provider =>
    HttpProvider.make({
      id: vendor.id,
      protocol: vendor.protocol,
      endpoint: vendor.endpoint,
      auth,
      scheme: vendor.auth,
      transport: options.transport,
      timers: options.timers,
      reportDefect: options.reportDefect,
      probe: vendor.probe
    })
  const vendors: Array<Vendor> = []
  const own: Array<Vendor> = []
  const providers: Array<Provider> = options.simulated ? [...Simulated.make(options.timers)] : []
  for (const [id, credential] of options.credentials) {
    const vendor = vendorOf(id)
    if (vendor === undefined) throw new Error(`the credential of ${id} was validated, but there is no such vendor`)
    vendors.push(vendor)
    providers.push(http(vendor, vendor.auth(credential)))
  }
  if (options.bedrock !== null) {
    const vendor = amazonBedrock(options.bedrock.region)
    vendors.push(vendor)
    providers.push(http(vendor, bedrockAuth(options.bedrock)))
  }
  for (const one of options.own) {
    const vendor = configured(one)
    if (vendor === undefined) throw new Error(`the configured provider ${one.id} was validated but cannot be created`)
    own.push(vendor)
    providers.push(http(vendor, one.apiKey === null ? Auth.none : vendor.auth(one.apiKey)))
  }
  const callerVendors =
    options.callerCredentials === true ? vendorsWithKeyAlone.filter((vendor) => !vendors.includes(vendor)) : []
  for (const vendor of callerVendors) providers.push(http(vendor, Auth.none))
  return { providers, vendors, callerVendors, own }
}
