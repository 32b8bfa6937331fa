import type { Reasoning } from "../../domain/Model.ts"
import type { ParameterRules } from "../../domain/ParameterRules.ts"
import type { ProtocolId, SupportTable } from "../../domain/Support.ts"
import type { ProbeRequest } from "../probe/Probe.ts"
import { anthropicMessages } from "../protocols/anthropic-messages/AnthropicMessages.ts"
import { versionHeader } from "../protocols/anthropic-messages/Version.ts"
import { bedrockConverse } from "../protocols/bedrock-converse/BedrockConverse.ts"
import * as Gemini from "../protocols/gemini/Gemini.ts"
import type { SchemaDialect } from "../protocols/gemini/Schema.ts"
import * as OpenAiChat from "../protocols/openai-chat/OpenAiChat.ts"
import { openAi, type Quirks } from "../protocols/openai-chat/Quirks.ts"
import type { Protocol } from "../protocols/shared/Protocol.ts"
import * as Auth from "../transport/Auth.ts"
import * as Endpoint from "../transport/Endpoint.ts"

/** A built-in provider: everything but the credential. */
export interface Vendor {
  readonly id: string
  readonly displayName: string
  readonly protocol: Protocol
  readonly endpoint: Endpoint.Endpoint
  /** Environment variables of the credential; the first one that is set is used. */
  readonly credentialEnv: ReadonlyArray<string>
  readonly auth: Auth.AuthScheme
  /** Each customer has an individual base URL; the endpoint is an example. */
  readonly needsBaseUrl?: boolean
  /** False: documented not to charge for the prompt of a call that was aborted before it answered. */
  readonly billsAbortedCalls: boolean
  /** How a credential is checked without a paid call; `null`: it cannot be. */
  readonly probe: ProbeRequest | null
  readonly reasoningStyles: ReadonlyArray<Reasoning["style"]>
  /** Absent: none are known. */
  readonly rules?: ParameterRules | undefined
  /** The same provider with another output-cap field, if the protocol supports several. */
  readonly withOutputCap: (field: Quirks["outputCapField"]) => Vendor
}

/** The vendor's properties for the catalog. */
export const describe = (
  vendor: Vendor
): {
  readonly id: string
  readonly protocol: ProtocolId
  readonly support: SupportTable
  readonly billsAbortedCalls: boolean
  readonly reasoningStyles: ReadonlyArray<Reasoning["style"]>
  readonly rules: ParameterRules | undefined
} => ({
  id: vendor.id,
  protocol: vendor.protocol.id,
  support: vendor.protocol.support,
  billsAbortedCalls: vendor.billsAbortedCalls,
  reasoningStyles: vendor.reasoningStyles,
  rules: vendor.rules
})

/** A vendor with the chat completions protocol. Unset fields default to OpenAI's behaviour. */
export const openAiCompatible = (options: {
  readonly id: string
  readonly displayName: string
  readonly baseUrl: string
  readonly credentialEnv: ReadonlyArray<string>
  readonly quirks?: Quirks
  readonly auth?: Auth.AuthScheme
  readonly needsBaseUrl?: boolean
  readonly billsAbortedCalls?: boolean
  /** Default: the list of models. */
  readonly probe?: ProbeRequest
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
    billsAbortedCalls: options.billsAbortedCalls ?? true,
    probe: options.probe ?? { path: "/models", headers: {} },
    reasoningStyles: quirks.reasoningFields.styles,
    rules: quirks.rules,
    withOutputCap: (outputCapField) => openAiCompatible({ ...options, quirks: { ...quirks, outputCapField } })
  }
}

/** A vendor with Anthropic's Messages protocol; its output-cap field has one name only. */
export const anthropicCompatible = (options: {
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
    billsAbortedCalls: true,
    probe: { path: "/models?limit=1", headers: versionHeader },
    reasoningStyles: ["effort", "budget", "toggle", "fixed"],
    withOutputCap: () => vendor
  }
  return vendor
}

/** A vendor with Gemini's generateContent protocol; its output-cap field has one name only. */
export const geminiCompatible = (options: {
  readonly id: string
  readonly displayName: string
  readonly baseUrl: string
  readonly credentialEnv: ReadonlyArray<string>
  readonly auth?: Auth.AuthScheme
  readonly schemas: SchemaDialect
  /** Default: the list of models. */
  readonly probe?: ProbeRequest | null
}): Vendor => {
  const vendor: Vendor = {
    id: options.id,
    displayName: options.displayName,
    protocol: Gemini.make(options.schemas),
    endpoint: Endpoint.of(options.baseUrl),
    credentialEnv: options.credentialEnv,
    auth: options.auth ?? Auth.header("x-goog-api-key"),
    billsAbortedCalls: true,
    probe: options.probe === undefined ? { path: "/models?pageSize=1", headers: {} } : options.probe,
    reasoningStyles: ["effort", "budget", "toggle", "fixed"],
    withOutputCap: () => vendor
  }
  return vendor
}

/** A vendor with Bedrock's Converse protocol; its output-cap field has one name only. */
export const converseCompatible = (options: {
  readonly id: string
  readonly displayName: string
  readonly baseUrl: string
  /** Default: none, the endpoint of the models has no free request. */
  readonly probe?: ProbeRequest
}): Vendor => {
  const vendor: Vendor = {
    id: options.id,
    displayName: options.displayName,
    protocol: bedrockConverse,
    endpoint: Endpoint.of(options.baseUrl),
    credentialEnv: [],
    auth: Auth.bearer,
    billsAbortedCalls: true,
    probe: options.probe ?? null,
    reasoningStyles: ["effort", "budget", "fixed"],
    withOutputCap: () => vendor
  }
  return vendor
}
