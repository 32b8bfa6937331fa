// What one routing decision costs: narrow and rank over pools of several sizes. Run: node scripts/bench/routing.mjs
import { performance } from "node:perf_hooks"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

const source = (path) => fileURLToPath(new URL(`../../src/${path}`, import.meta.url))

const entry = `
  export { makeSnapshot } from ${JSON.stringify(source("catalog/Catalog.ts"))}
  export { narrow } from ${JSON.stringify(source("policy/Narrow.ts"))}
  export { rank } from ${JSON.stringify(source("routing/Router.ts"))}
  export { make as makeHealth } from ${JSON.stringify(source("routing/Health.ts"))}
  export { shapingParameters, tuningParameters } from ${JSON.stringify(source("domain/Support.ts"))}
  export { capabilities } from ${JSON.stringify(source("domain/Model.ts"))}
`
const bundled = await build({
  stdin: { contents: entry, resolveDir: fileURLToPath(new URL("../..", import.meta.url)), loader: "ts" },
  bundle: true,
  format: "esm",
  platform: "node",
  write: false
})
const library = await import(
  `data:text/javascript;base64,${Buffer.from(bundled.outputFiles[0].contents).toString("base64")}`
)

const support = Object.fromEntries(
  [...library.shapingParameters, ...library.tuningParameters].map((name) => [name, "native"])
)
const capabilities = Object.fromEntries(library.capabilities.map((name) => [name, true]))

const model = (index) => ({
  id: `provider${index % 16}/model-${index}`,
  providerId: `provider${index % 16}`,
  upstreamModel: `model-${index}`,
  alias: `model-${index}`,
  displayName: `Model ${index}`,
  createdSeconds: 0,
  protocol: "openai-chat",
  prices: {
    input: 100_000 + ((index * 7_919) % 97) * 50_000,
    output: 400_000 + ((index * 104_729) % 97) * 200_000,
    cacheRead: null,
    cacheWrite: null,
    tiers: []
  },
  contextTokens: 200_000,
  inputTokens: null,
  outputTokens: 32_000,
  imageTokens: 1_000,
  quality: 0.4 + ((index * 31) % 50) / 100,
  capabilities,
  reasoning: null,
  reasonsByDefault: false,
  toolsForbidEffort: false,
  profile: { effort: null, maxOutputTokens: null, apiVersion: null },
  support,
  billsAbortedCalls: false,
  listed: true,
  knowledgeCutoff: null
})

const everything = { allow: null, deny: [] }
const routing = {
  models: everything,
  providers: everything,
  routingConfig: undefined,
  alpha: undefined,
  maxInputPriceMicroUsdPerMillion: undefined,
  maxOutputPriceMicroUsdPerMillion: undefined,
  enableFallback: undefined
}
const request = {
  model: "auto",
  messages: [{ role: "user", content: "Hello" }],
  tools: [],
  stop: [],
  temperature: 0.7,
  reasoning: { maxTokens: undefined, summary: undefined, exclude: false },
  routing
}
const project = {
  version: 1,
  models: { allow: ["*"], deny: ["provider3/*", "model-7"] },
  providers: { allow: null, deny: ["provider5"] },
  maxInputPriceMicroUsdPerMillion: 50_000_000,
  maxOutputPriceMicroUsdPerMillion: null,
  defaultAlpha: null,
  enableFallback: true
}

/** Microseconds a call, as percentiles of many short batches. */
const measure = (run) => {
  const batch = 20
  for (let n = 0; n < 20_000; n++) run()
  const times = []
  for (let n = 0; n < 2_000; n++) {
    const start = performance.now()
    for (let m = 0; m < batch; m++) run()
    times.push(((performance.now() - start) * 1_000) / batch)
  }
  times.sort((a, b) => a - b)
  const at = (share) => times[Math.floor(times.length * share)].toFixed(1)
  return `p50 ${at(0.5)} µs  p99 ${at(0.99)} µs`
}

for (const size of [1, 10, 100, 300]) {
  const models = Array.from({ length: size }, (_, index) => model(index))
  const snapshot = library.makeSnapshot(models)
  const health = library.makeHealth({ now: () => performance.now(), after: () => () => {} }, () => 0.5)
  for (const one of models) health.succeeded(one, 300)
  const decide = (asked) =>
    library.rank({
      snapshot,
      allowed: library.narrow(project, null, routing),
      request: asked,
      promptTokens: 1_000,
      health: health.of,
      nowMillis: performance.now(),
      billingMode: "managed"
    })
  const count = decide(request).right.candidates.length
  console.log(`auto, ${size} models (${count} candidates): ${measure(() => decide(request))}`)
  if (size === 100) {
    const pinned = { ...request, model: models[0].id }
    console.log(`a concrete id among ${size}: ${measure(() => decide(pinned))}`)
  }
}
