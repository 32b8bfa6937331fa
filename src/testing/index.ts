/**
 * Deterministic doubles for the gateway's Layers, the same that its own tests use: providers that do as a script says, a
 * clock that stands still, books in memory.
 */

export * as FixedKeys from "./FixedKeys.ts"
export * as FixedPolicy from "./FixedPolicy.ts"
export * as Faults from "./faults/Faults.ts"
export * as MemoryIdempotency from "./MemoryIdempotency.ts"
export { type BookedCall, MemoryLedger } from "./MemoryLedger.ts"
export * as ScriptedProvider from "./ScriptedProvider.ts"
export * as TestGateway from "./TestGateway.ts"
export { testModel } from "./TestModel.ts"
export * as VirtualTimers from "./VirtualTimers.ts"
