import { type Capability, capabilities, type Model, providerOf } from "../../domain/Model.ts"
import { everyParameter } from "../../provider/protocols/shared/SupportTables.ts"

/** A model with every capability and low prices, with these changes. */
export const testModel = (id: string, changes: Partial<Model> = {}): Model => ({
  id,
  providerId: providerOf(id),
  upstreamModel: id.slice(id.indexOf("/") + 1),
  alias: id.slice(id.indexOf("/") + 1),
  displayName: id,
  createdSeconds: 0,
  protocol: "openai-chat",
  prices: { input: 1_000_000, output: 4_000_000, cacheRead: null, cacheWrite: null, tiers: [] },
  contextTokens: 128_000,
  inputTokens: null,
  outputTokens: 4_096,
  imageTokens: 1_000,
  quality: 0.7,
  capabilities: everyCapability,
  reasoning: null,
  reasonsByDefault: false,
  toolsForbidEffort: false,
  profile: { effort: null, maxOutputTokens: null, apiVersion: null },
  billsAbortedCalls: true,
  support: everyParameter,
  listed: true,
  knowledgeCutoff: null,
  ...changes
})

const record = <Key extends string, Value>(keys: ReadonlyArray<Key>, value: Value) =>
  Object.fromEntries(keys.map((key) => [key, value])) as { readonly [K in Key]: Value }

const everyCapability: Model["capabilities"] = record<Capability, boolean>(capabilities, true)
