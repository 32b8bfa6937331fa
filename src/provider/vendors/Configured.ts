import type { ProtocolId } from "../../domain/Support.ts"
import * as Endpoint from "../Endpoint.ts"
import { compatible, type Quirks } from "../protocols/openai-chat/Quirks.ts"
import { openAiCompatible, speakingConverse, speakingGemini, speakingMessages, type Vendor } from "./Vendor.ts"
import { vendorOf } from "./Vendors.ts"

/** A provider of the operator's own, as the configuration file describes it. */
export interface ConfiguredProvider {
  readonly id: string
  readonly protocol?: ProtocolId | undefined
  /** A built-in vendor that it is like. */
  readonly vendor?: string | undefined
  readonly baseUrl?: string | undefined
  readonly outputCapField?: Quirks["outputCapField"] | undefined
  readonly billsAbortedCalls?: boolean | undefined
}

/** `undefined` when the protocol or the vendor is not known, or there is no base URL that can be used. */
export const configured = (provider: ConfiguredProvider): Vendor | undefined => {
  const base =
    provider.vendor !== undefined
      ? vendorOf(provider.vendor)
      : provider.baseUrl !== undefined && provider.protocol !== undefined
        ? bare.get(provider.protocol)
        : undefined
  const usual = base?.needsBaseUrl === true ? undefined : base?.endpoint
  const endpoint = provider.baseUrl === undefined ? usual : Endpoint.parse(provider.baseUrl)
  if (base === undefined || endpoint === undefined) return undefined
  const vendor = provider.outputCapField === undefined ? base : base.withOutputCap(provider.outputCapField)
  return {
    ...vendor,
    id: provider.id,
    displayName: provider.id,
    endpoint,
    credentialEnv: [],
    billsAbortedCalls: provider.billsAbortedCalls ?? vendor.billsAbortedCalls
  }
}

/** Stands in until the operator's base URL takes its place. */
const nowhere = "http://127.0.0.1:1"

/** What can be assumed of a server of which only the protocol is known. */
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
    speakingMessages({
      id: "anthropic-messages",
      displayName: "Anthropic-compatible",
      baseUrl: nowhere,
      credentialEnv: []
    })
  ],
  [
    "gemini",
    speakingGemini({
      id: "gemini",
      displayName: "Gemini-compatible",
      baseUrl: nowhere,
      credentialEnv: [],
      schemas: "openapi"
    })
  ],
  ["bedrock-converse", speakingConverse({ id: "bedrock-converse", displayName: "Bedrock", baseUrl: nowhere })]
])
