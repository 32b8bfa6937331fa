// @ts-check
// The gateway's own adapters over its own transport, and its simulators, built from the sources.
import { importSources } from "../../lib/sources.mjs"

/** @typedef {typeof import("./sources.ts")} Library */
/** @typedef {Library["vendors"][number]} Vendor */
/** @typedef {Parameters<ReturnType<Library["HttpProvider"]["make"]>["open"]>[0]} ProviderCall */
/** @typedef {NonNullable<InstanceType<Library["Accumulator"]>["answer"]>} Answer */

/**
 * One call over an adapter.
 *
 * @typedef {{
 *   baseUrl: string
 *   effort: ProviderCall["effort"]
 *   maxOutputTokens: number
 *   model: string
 *   request: object
 *   stream: boolean
 *   vendorId: string
 * }} Asked
 */

/** `ask` makes one call over an adapter and reads its answer to the end. */
export const startGateway = async () => {
  /** @type {Library} */
  const library = await importSources(new URL("./sources.ts", import.meta.url))
  const { Accumulator, Effect, Endpoint, Exit, HttpProvider, Layer, Redacted, Scope, Timers, Transport, vendors } =
    library
  const scope = await Effect.runPromise(Scope.make())
  const live = Layer.merge(Transport.layer({ connectMillis: 1_000 }), Timers.layer)
  const context = await Effect.runPromise(Layer.buildWithScope(live, scope))
  const [transport, timers] = await Effect.runPromise(Effect.provide(Effect.all([Transport, Timers]), context))
  const models = library.buildModels({
    data: library.builtInCatalog,
    vendors: vendors.map(library.describe),
    configured: [],
    patches: {}
  })
  const authOf = (/** @type {Vendor} */ vendor) => {
    if (vendor.id !== "amazon-bedrock") return vendor.auth(Redacted.make("a-secret"))
    const { accessKeyId, region, secretAccessKey } = library.BedrockSimulator.defaultIdentity
    const keys = { accessKeyId: Redacted.make(accessKeyId), secretAccessKey: Redacted.make(secretAccessKey) }
    return library.awsSignature({ ...keys, sessionToken: null }, { region, service: "bedrock" })
  }
  return {
    simulators: library,
    /** @param {Asked} asked @returns {Promise<Answer>} */
    ask: async ({ baseUrl, effort, maxOutputTokens, model: name, request, stream, vendorId }) => {
      const vendor = vendors.find(({ id }) => id === vendorId)
      const model = models.find(({ providerId, upstreamModel }) => providerId === vendorId && upstreamModel === name)
      if (vendor === undefined || model === undefined) throw new Error(`the catalog does not have ${name}`)
      const provider = HttpProvider.make({
        id: vendorId,
        protocol: vendor.protocol,
        endpoint: Endpoint.of(baseUrl),
        auth: authOf(vendor),
        transport,
        timers,
        reportDefect: () => {}
      })
      const asked = await Effect.runPromise(library.decode({ ...request, model: model.id, stream }))
      const answer = new Accumulator()
      const requestId = /** @type {ProviderCall["requestId"]} */ ("0193b5a0-7d00-7abc-8def-0123456789ab")
      await new Promise((resolve, reject) => {
        provider.open(
          { requestId, model, request: asked, effort, maxOutputTokens, dropped: [] },
          {
            activity: () => {},
            event: (event) => answer.add(event),
            end: () => resolve(undefined),
            fail: (error) => reject(new Error(JSON.stringify(error.reason)))
          }
        )
      })
      if (answer.answer === undefined) throw new Error("the answer has no end")
      return answer.answer
    },
    /** As a client of ours sends an answer back. @param {Answer} answer @param {string} model */
    remembered: ({ reasoning, text, toolCalls }, model) => ({
      role: "assistant",
      content: text === "" ? null : text,
      tool_calls: toolCalls.map((call) => ({
        id: call.id,
        type: "function",
        function: { name: call.name, arguments: call.arguments },
        ...(call.extraContent !== null && { extra_content: call.extraContent })
      })),
      reasoning_details: reasoning.map((block, index) => library.reasoningDetail({ ...block, index, model }))
    }),
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
