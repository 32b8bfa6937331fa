// The gateway's own adapters over its own transport, and its simulators, built from the sources.
import { rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..")

const load = async () => {
  // inside the project, so that the packages it imports are found
  const outfile = join(root, "node_modules", `.oracles-${process.pid}.mjs`)
  await build({
    stdin: {
      contents: `
        export * as Effect from "effect/Effect"
        export * as Layer from "effect/Layer"
        export * as Redacted from "effect/Redacted"
        export * as Scope from "effect/Scope"
        export { buildModels } from "./src/catalog/Build.ts"
        export { builtInCatalog } from "./src/catalog/CatalogFile.ts"
        export { Accumulator } from "./src/domain/Completion.ts"
        export { Timers } from "./src/domain/Timers.ts"
        export { awsSignature } from "./src/provider/AwsSignature.ts"
        export * as Endpoint from "./src/provider/Endpoint.ts"
        export * as HttpProvider from "./src/provider/HttpProvider.ts"
        export { Transport } from "./src/provider/Transport.ts"
        export { describe } from "./src/provider/vendors/Vendor.ts"
        export { vendors } from "./src/provider/vendors/Vendors.ts"
        export * as AnthropicSimulator from "./src/testing/simulators/AnthropicSimulator.ts"
        export * as BedrockSimulator from "./src/testing/simulators/BedrockSimulator.ts"
        export * as GeminiSimulator from "./src/testing/simulators/GeminiSimulator.ts"
        export { reasoningDetail } from "./src/wire/ChatAnswer.ts"
        export { decode } from "./src/wire/ChatRequest.ts"`,
      resolveDir: root
    },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "warning"
  })
  try {
    return await import(outfile)
  } finally {
    rmSync(outfile, { force: true })
  }
}

/** `ask` makes one call over an adapter and reads its answer to the end. */
export const startGateway = async () => {
  const library = await load()
  const { Accumulator, Effect, Endpoint, HttpProvider, Layer, Redacted, Scope, Timers, Transport, vendors } = library
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
  const authOf = (vendor) => {
    if (vendor.id !== "amazon-bedrock") return vendor.auth(Redacted.make("a-secret"))
    const { accessKeyId, region, secretAccessKey } = library.BedrockSimulator.usualIdentity
    const keys = { accessKeyId: Redacted.make(accessKeyId), secretAccessKey: Redacted.make(secretAccessKey) }
    return library.awsSignature({ ...keys, sessionToken: null }, { region, service: "bedrock" })
  }
  return {
    simulators: library,
    ask: async ({ baseUrl, effort, maxOutputTokens, model: name, request, stream, vendorId }) => {
      const vendor = vendors.find(({ id }) => id === vendorId)
      const model = models.find(({ providerId, upstreamModel }) => providerId === vendorId && upstreamModel === name)
      if (model === undefined) throw new Error(`the catalog does not have ${name}`)
      const provider = HttpProvider.make({
        id: vendorId,
        protocol: vendor.protocol,
        endpoint: Endpoint.of(baseUrl),
        auth: authOf(vendor),
        transport,
        timers
      })
      const asked = await Effect.runPromise(library.decode({ ...request, model: model.id, stream }))
      const answer = new Accumulator()
      await new Promise((resolve, reject) => {
        const call = {
          requestId: "0193b5a0-7d00-7abc-8def-0123456789ab",
          model,
          request: asked,
          effort,
          maxOutputTokens
        }
        provider.open(
          { ...call, dropped: [] },
          {
            activity: () => {},
            event: (event) => answer.add(event),
            end: resolve,
            fail: (error) => reject(new Error(JSON.stringify(error.reason)))
          }
        )
      })
      return answer.answer
    },
    /** As a client of ours sends an answer back. */
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
    stop: () => Effect.runPromise(Scope.close(scope, { _tag: "Success", value: undefined }))
  }
}
