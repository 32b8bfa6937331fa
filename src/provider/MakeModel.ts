import { capabilitiesOf } from "../catalog/Patch.ts"
import { type Capability, type Model, providerOf } from "../domain/Model.ts"
import type { Prices } from "../domain/Prices.ts"
import { everyParameter } from "./protocols/shared/SupportTables.ts"

/** What only the application knows of a model; everything else of `Model` has a default. */
export interface ModelOptions extends Partial<Omit<Model, "capabilities" | "prices" | "providerId">> {
  /** `<provider>/<model>`: what comes before the first slash is the provider's id. */
  readonly id: string
  /** In micro-USD per million tokens; 0 is free of charge. Cache rates and tiers may be added. */
  readonly prices: Pick<Prices, "input" | "output"> & Partial<Prices>
  /** Prompt and completion together. */
  readonly contextTokens: number
  /** Of one completion, reasoning included. */
  readonly outputTokens: number
  /** What the model can do; default tools, vision (images by URL too), structured-output and sampling. */
  readonly capabilities?: ReadonlyArray<Capability>
}

const defaultCapabilities: ReadonlyArray<Capability> = ["tools", "vision", "structured-output", "sampling"]
/** As for a configured model of which nothing is known. */
const defaultQuality = 0.5
const defaultImageTokens = 3_000

/**
 * A model of a provider of the application, for the catalog: takes every request parameter, does not reason and is listed,
 * unless the options say otherwise. Throws on an id without a provider and on prices or limits that are not whole numbers, and on limits of zero.
 *
 * @example
 * const model = makeModel({ id: "mine/small", prices: { input: 0, output: 0 }, contextTokens: 8_192, outputTokens: 1_024 })
 */
export const makeModel = (options: ModelOptions): Model => {
  const { capabilities = defaultCapabilities, contextTokens, id, outputTokens, prices, ...others } = options
  const providerId = providerOf(id)
  const name = id.slice(providerId.length + 1)
  if (providerId === "" || name === "") throw new Error(`the model id ${id} is not <provider>/<model>`)
  requireWhole(id, { input: prices.input, output: prices.output }, 0)
  requireWhole(id, { contextTokens, outputTokens }, 1)
  return {
    upstreamModel: name,
    alias: name,
    displayName: name,
    createdSeconds: 0,
    protocol: "openai-chat",
    inputTokens: null,
    imageTokens: defaultImageTokens,
    quality: defaultQuality,
    reasoning: null,
    reasonsByDefault: false,
    toolsForbidEffort: false,
    profile: { effort: null, maxOutputTokens: null, apiVersion: null },
    billsAbortedCalls: true,
    support: everyParameter,
    listed: true,
    knowledgeCutoff: null,
    ...others,
    id,
    providerId,
    contextTokens,
    outputTokens,
    prices: { cacheRead: null, cacheWrite: null, tiers: [], ...prices },
    capabilities: capabilitiesOf(others.protocol ?? "openai-chat", capabilities)
  }
}

const requireWhole = (id: string, values: Readonly<Record<string, number>>, min: number): void => {
  for (const [name, value] of Object.entries(values)) {
    if (!Number.isSafeInteger(value) || value < min) {
      throw new Error(`${name} of the model ${id} is not a whole number of at least ${min}`)
    }
  }
}
