import type { Reasoning } from "../../domain/Model.ts"
import type { ProtocolId, SupportTable } from "../../domain/Support.ts"
import * as Auth from "../Auth.ts"
import * as Endpoint from "../Endpoint.ts"
import type { Protocol } from "../Protocol.ts"
import { anthropicMessages } from "../protocols/AnthropicMessages.ts"
import { bedrockConverse } from "../protocols/BedrockConverse.ts"
import * as Gemini from "../protocols/Gemini.ts"
import type { SchemaDialect } from "../protocols/gemini/Schema.ts"
import * as OpenAiChat from "../protocols/OpenAiChat.ts"
import { openAi, type Quirks } from "../protocols/openai-chat/Quirks.ts"

/** A provider that is built in: everything but the credential. */
export interface Vendor {
  readonly id: string
  readonly displayName: string
  readonly protocol: Protocol
  readonly endpoint: Endpoint.Endpoint
  /** Environment variables that may hold its credential; the first that is set counts. */
  readonly credentialEnv: ReadonlyArray<string>
  readonly auth: Auth.AuthScheme
  /** Each of its customers has a base URL of its own; the endpoint is an example. */
  readonly needsBaseUrl?: boolean
  /** Charges for the prompt of a call that was aborted before it answered. */
  readonly billsAbortedCalls: boolean
  readonly reasoningStyles: ReadonlyArray<Reasoning["style"]>
  /** The same provider with another output-cap field, where its protocol has a choice of them. */
  readonly withOutputCap: (field: Quirks["outputCapField"]) => Vendor
}

/** What the catalog must know of a vendor. */
export const describe = (
  vendor: Vendor
): {
  readonly id: string
  readonly protocol: ProtocolId
  readonly support: SupportTable
  readonly billsAbortedCalls: boolean
  readonly reasoningStyles: ReadonlyArray<Reasoning["style"]>
} => ({
  id: vendor.id,
  protocol: vendor.protocol.id,
  support: vendor.protocol.support,
  billsAbortedCalls: vendor.billsAbortedCalls,
  reasoningStyles: vendor.reasoningStyles
})

/** One that speaks chat completions; what is not said is as OpenAI does it. */
export const openAiCompatible = (options: {
  readonly id: string
  readonly displayName: string
  readonly baseUrl: string
  readonly credentialEnv: ReadonlyArray<string>
  readonly quirks?: Quirks
  readonly auth?: Auth.AuthScheme
  readonly needsBaseUrl?: boolean
}): Vendor => {
  const quirks = options.quirks ?? openAi
  return {
    id: options.id,
    displayName: options.displayName,
    protocol: OpenAiChat.make(quirks),
    endpoint: Endpoint.of(options.baseUrl),
    credentialEnv: options.credentialEnv,
    auth: options.auth ?? Auth.bearer,
    needsBaseUrl: options.needsBaseUrl ?? false,
    billsAbortedCalls: false,
    reasoningStyles: quirks.thinking.styles,
    withOutputCap: (outputCapField) => openAiCompatible({ ...options, quirks: { ...quirks, outputCapField } })
  }
}

/** One that speaks Anthropic's Messages; its output-cap field has one name only. */
export const speakingMessages = (options: {
  readonly id: string
  readonly displayName: string
  readonly baseUrl: string
  readonly credentialEnv: ReadonlyArray<string>
}): Vendor => {
  const vendor: Vendor = {
    id: options.id,
    displayName: options.displayName,
    protocol: anthropicMessages,
    endpoint: Endpoint.of(options.baseUrl),
    credentialEnv: options.credentialEnv,
    auth: Auth.header("x-api-key"),
    billsAbortedCalls: false,
    reasoningStyles: ["effort", "budget", "toggle", "fixed"],
    withOutputCap: () => vendor
  }
  return vendor
}

/** One that speaks generateContent; its output-cap field has one name only. */
export const speakingGemini = (options: {
  readonly id: string
  readonly displayName: string
  readonly baseUrl: string
  readonly credentialEnv: ReadonlyArray<string>
  readonly auth?: Auth.AuthScheme
  readonly schemas: SchemaDialect
}): Vendor => {
  const vendor: Vendor = {
    id: options.id,
    displayName: options.displayName,
    protocol: Gemini.make(options.schemas),
    endpoint: Endpoint.of(options.baseUrl),
    credentialEnv: options.credentialEnv,
    auth: options.auth ?? Auth.header("x-goog-api-key"),
    billsAbortedCalls: false,
    reasoningStyles: ["effort", "budget", "toggle", "fixed"],
    withOutputCap: () => vendor
  }
  return vendor
}

/** One that speaks Bedrock's Converse; its output-cap field has one name only. */
export const speakingConverse = (options: {
  readonly id: string
  readonly displayName: string
  readonly baseUrl: string
}): Vendor => {
  const vendor: Vendor = {
    id: options.id,
    displayName: options.displayName,
    protocol: bedrockConverse,
    endpoint: Endpoint.of(options.baseUrl),
    credentialEnv: [],
    auth: Auth.bearer,
    billsAbortedCalls: false,
    reasoningStyles: ["effort", "budget", "fixed"],
    withOutputCap: () => vendor
  }
  return vendor
}
