import type { ProtocolId } from "../../domain/Support.ts"
import { compatible, type Quirks } from "../protocols/openai-chat/Quirks.ts"
import * as Endpoint from "../transport/Endpoint.ts"
import { anthropicCompatible, converseCompatible, geminiCompatible, openAiCompatible, type Vendor } from "./Vendor.ts"
import { vendorOf } from "./Vendors.ts"

/** Another server, of the configuration file or the application: with a protocol and a base URL, or like a built-in vendor. */
export interface ConfiguredProvider {
  /** What the ids of its models begin with. */
  readonly id: string
  /** The format that it speaks; it counts only without `vendor`. */
  readonly protocol?: ProtocolId | undefined
  /** The built-in vendor whose settings apply. */
  readonly vendor?: string | undefined
  /** As in `https://host/v1`; it may be left out where the vendor has one. */
  readonly baseUrl?: string | undefined
  /** The name of its output cap. */
  readonly outputCapField?: Quirks["outputCapField"] | undefined
  /** False: it does not charge for a call that was aborted before it answered. */
  readonly billsAbortedCalls?: boolean | undefined
}

/** `undefined` when the protocol or the vendor is unknown, or no base URL is usable. */
export const configured = (provider: ConfiguredProvider): Vendor | undefined => {
  const base =
    provider.vendor !== undefined
      ? vendorOf(provider.vendor)
      : provider.baseUrl !== undefined && provider.protocol !== undefined
        ? bare.get(provider.protocol)
        : undefined
  const defaultEndpoint = base?.needsBaseUrl === true ? undefined : base?.endpoint
  const endpoint = provider.baseUrl === undefined ? defaultEndpoint : Endpoint.parse(provider.baseUrl)
  if (base === undefined || endpoint === undefined) return undefined
  const vendor = provider.outputCapField === undefined ? base : base.withOutputCap(provider.outputCapField)
  return {
    ...vendor,
    id: provider.id,
    displayName: provider.id,
    endpoint,
    credentialEnv: [],
    billsAbortedCalls: provider.billsAbortedCalls ?? vendor.billsAbortedCalls,
    // a credential for another host than the vendor's is never sent to the vendor
    probe: provider.baseUrl !== undefined && vendor.probe?.endpoint !== undefined ? null : vendor.probe
  }
}

/** Placeholder for the configured base URL. */
const nowhere = "http://127.0.0.1:1"

/** Defaults for a server of which only the protocol is known. */
const bare: ReadonlyMap<ProtocolId, Vendor> = new Map<ProtocolId, Vendor>([
  [
    "openai-chat",
    openAiCompatible({
      id: "openai-chat",
      displayName: "OpenAI-compatible",
      baseUrl: nowhere,
      credentialEnv: [],
      quirks: { ...compatible, extraContent: true }
    })
  ],
  [
    "anthropic-messages",
    anthropicCompatible({
      id: "anthropic-messages",
      displayName: "Anthropic-compatible",
      baseUrl: nowhere,
      credentialEnv: []
    })
  ],
  [
    "gemini",
    geminiCompatible({
      id: "gemini",
      displayName: "Gemini-compatible",
      baseUrl: nowhere,
      credentialEnv: [],
      schemas: "openapi"
    })
  ],
  ["bedrock-converse", converseCompatible({ id: "bedrock-converse", displayName: "Bedrock", baseUrl: nowhere })]
])

/** What `protocol` can be. */
export const configurableProtocols: ReadonlyArray<ProtocolId> = [...bare.keys()]
