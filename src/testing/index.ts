/**
 * Deterministic doubles for the gateway's Layers, the same that its own tests use: scripted providers, a virtual clock and a
 * ledger in memory; and simulators of the providers' APIs on loopback, with the validation of the real APIs.
 */

export * as FixedKeys from "./doubles/FixedKeys.ts"
export * as FixedPolicy from "./doubles/FixedPolicy.ts"
export * as MemoryIdempotency from "./doubles/MemoryIdempotency.ts"
export { type LedgerCall, MemoryLedger, type MemoryLedgerShape } from "./doubles/MemoryLedger.ts"
export * as ScriptedProvider from "./doubles/ScriptedProvider.ts"
export * as TestGateway from "./doubles/TestGateway.ts"
export { testModel } from "./doubles/TestModel.ts"
export * as VirtualTimers from "./doubles/VirtualTimers.ts"
export * as Faults from "./faults/Faults.ts"
export * as AnthropicSimulator from "./simulators/anthropic/AnthropicSimulator.ts"
export type { AwsIdentity } from "./simulators/bedrock/AwsSignatureRules.ts"
export * as BedrockSimulator from "./simulators/bedrock/BedrockSimulator.ts"
export type { InjectedFault as Fault, SimulatedRequest, Simulator } from "./simulators/core/Simulator.ts"
export * as GeminiSimulator from "./simulators/gemini/GeminiSimulator.ts"
export * as OpenAiSimulator from "./simulators/openai/OpenAiSimulator.ts"
