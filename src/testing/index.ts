/**
 * Deterministic doubles for the gateway's Layers, the same that its own tests use: providers that do as a script says, a
 * clock that stands still, books in memory; and the interfaces of the providers themselves on loopback, as strict as they are.
 */

export * as FixedKeys from "./FixedKeys.ts"
export * as FixedPolicy from "./FixedPolicy.ts"
export * as Faults from "./faults/Faults.ts"
export * as MemoryIdempotency from "./MemoryIdempotency.ts"
export { type BookedCall, MemoryLedger } from "./MemoryLedger.ts"
export * as ScriptedProvider from "./ScriptedProvider.ts"
export * as AnthropicSimulator from "./simulators/AnthropicSimulator.ts"
export * as BedrockSimulator from "./simulators/BedrockSimulator.ts"
export * as GeminiSimulator from "./simulators/GeminiSimulator.ts"
export * as OpenAiSimulator from "./simulators/OpenAiSimulator.ts"
export type { Fault, SimulatedRequest, Simulator } from "./simulators/Simulator.ts"
export * as TestGateway from "./TestGateway.ts"
export { testModel } from "./TestModel.ts"
export * as VirtualTimers from "./VirtualTimers.ts"
