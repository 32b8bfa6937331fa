import { buildModels } from "../../src/catalog/Build.ts"
import { builtInCatalog } from "../../src/catalog/CatalogFile.ts"
import type { Model } from "../../src/domain/Model.ts"
import { describe } from "../../src/provider/vendors/Vendor.ts"
import { vendors } from "../../src/provider/vendors/Vendors.ts"
import * as AnthropicSimulator from "../../src/testing/simulators/anthropic/AnthropicSimulator.ts"
import * as BedrockSimulator from "../../src/testing/simulators/bedrock/BedrockSimulator.ts"
import type { Simulator } from "../../src/testing/simulators/core/Simulator.ts"
import * as GeminiSimulator from "../../src/testing/simulators/gemini/GeminiSimulator.ts"
import * as OpenAiSimulator from "../../src/testing/simulators/openai/OpenAiSimulator.ts"
import { type InProcess, startInProcess } from "./InProcess.ts"
import * as Native from "./Native.ts"

/** One model for each protocol; `auto` is held to one of them a turn. */
export const routes = [
  { vendor: "openai", model: "openai/gpt-5", start: OpenAiSimulator.start, native: Native.openAi },
  {
    vendor: "anthropic",
    model: "anthropic/claude-sonnet-5",
    start: AnthropicSimulator.start,
    native: Native.anthropic
  },
  { vendor: "google", model: "google/gemini-3-flash-preview", start: GeminiSimulator.start, native: Native.gemini },
  {
    vendor: "amazon-bedrock",
    model: "amazon-bedrock/us.anthropic.claude-haiku-4-5-20251001-v1:0",
    start: () => BedrockSimulator.start(),
    native: Native.bedrock
  }
] as const
export type Route = (typeof routes)[number]

export interface FourProviders {
  readonly gateway: InProcess
  readonly simulatorOf: (route: Route) => Simulator
  readonly stop: () => Promise<void>
}

/** The gateway over a simulator for each protocol, with the models of the catalog as `adapt` leaves them. */
export const startFourProviders = async (adapt: (model: Model) => Model = (model) => model): Promise<FourProviders> => {
  const simulators = new Map<string, Simulator>()
  for (const { start, vendor } of routes) simulators.set(vendor, await start())
  const models = buildModels({ data: builtInCatalog, vendors: vendors.map(describe), configured: [], patches: {} })
  const gateway = await startInProcess({
    models: models.filter(({ id }) => routes.some(({ model }) => model === id)).map(adapt),
    origins: Object.fromEntries([...simulators].map(([vendor, { baseUrl }]) => [vendor, baseUrl])),
    vendors: Object.fromEntries(routes.map(({ vendor }) => [vendor, vendor]))
  })
  return {
    gateway,
    simulatorOf: ({ vendor }) => {
      const simulator = simulators.get(vendor)
      if (simulator === undefined) throw new Error("no simulator")
      return simulator
    },
    stop: async () => {
      await gateway.stop()
      for (const simulator of simulators.values()) await simulator.stop()
    }
  }
}
