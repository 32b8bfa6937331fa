// @ts-check
// What one routing decision costs over pools of several sizes, what of it is the ranking, and what the class of a prompt of 1,000
// characters costs. Run: node scripts/bench/routing/run.mjs
import { performance } from "node:perf_hooks"
import { importSources } from "../../lib/sources.mjs"

/** @type {typeof import("./sources.ts")} */
const library = await importSources(new URL("./sources.ts", import.meta.url))

/** @typedef {ReturnType<typeof library.makeSnapshot>["models"][number]} Model */
/** @typedef {typeof request} Request */

const support = /** @type {Model["support"]} */ (
  Object.fromEntries([...library.shapingParameters, ...library.tuningParameters].map((name) => [name, "native"]))
)
const capabilities = /** @type {Model["capabilities"]} */ (
  Object.fromEntries(library.capabilities.map((name) => [name, true]))
)

/** @param {number} index @returns {Model} */
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

const request = library.runSync(
  library.decode({ model: "auto", messages: [{ role: "user", content: "Hello" }], temperature: 0.7 })
)
const project = {
  version: 1,
  models: { allow: ["*"], deny: ["provider3/*", "model-7"] },
  providers: { allow: null, deny: ["provider5"] },
  maxInputPriceMicroUsdPerMillion: 50_000_000,
  maxOutputPriceMicroUsdPerMillion: null,
  defaultAlpha: null,
  enableFallback: true
}

/** Microseconds a call, as percentiles of many short batches. @param {() => void} run */
const measure = (run) => {
  const batch = 20
  for (let n = 0; n < 20_000; n++) run()
  /** @type {Array<number>} */
  const times = []
  for (let n = 0; n < 2_000; n++) {
    const start = performance.now()
    for (let m = 0; m < batch; m++) run()
    times.push(((performance.now() - start) * 1_000) / batch)
  }
  times.sort((a, b) => a - b)
  const at = (/** @type {number} */ share) => times[Math.floor(times.length * share)]?.toFixed(1)
  return `fastest ${at(0)} µs  p50 ${at(0.5)} µs  p99 ${at(0.99)} µs`
}

for (const size of [1, 10, 100, 300]) {
  const models = Array.from({ length: size }, (_, index) => model(index))
  const snapshot = library.makeSnapshot(models)
  const health = library.makeHealth({ now: () => performance.now(), after: () => () => {} }, () => 0.5)
  for (const one of models) health.succeeded(one, 300)
  const decide = (/** @type {Request} */ asked) => {
    const pinned = library.isPinned(asked.model)
    const classes = pinned ? [] : library.classify(asked, 1_000)
    const outputTokens = library.expectedOutputTokens(classes)
    const now = performance.now()
    return library.rank({
      snapshot,
      policy: library.intersectPolicies(project, null, asked.routing),
      request: asked,
      features: library.featuresOf(asked, pinned, 1_000, classes),
      quality: pinned ? library.figuresBy(({ quality }) => quality) : library.qualityFor(classes),
      outputTokens: library.sameFigure(outputTokens),
      health: (one) => health.of(one, null, now),
      nowMillis: now,
      billingMode: "managed"
    })
  }
  const classes = library.classify(request, 1_000)
  const outputTokens = library.expectedOutputTokens(classes)
  const now = performance.now()
  const ready = {
    snapshot,
    policy: library.intersectPolicies(project, null, request.routing),
    request,
    features: library.featuresOf(request, false, 1_000, classes),
    quality: library.qualityFor(classes),
    outputTokens: library.sameFigure(outputTokens),
    health: (/** @type {Model} */ one) => health.of(one, null, now),
    nowMillis: now,
    billingMode: /** @type {const} */ ("managed")
  }
  const decided = decide(request)
  if (decided._tag === "Left") throw new Error("no model is eligible")
  const count = decided.right.candidates.size
  console.log(`auto, ${size} models (${count} candidates): ${measure(() => decide(request))}`)
  console.log(`  the ranking alone: ${measure(() => library.rank(ready))}`)
  if (size === 100) {
    const pinned = { ...request, model: model(0).id }
    console.log(`a concrete id among ${size}: ${measure(() => decide(pinned))}`)
  }
}

const warmUps = 5_000
const measured = 20_000

/** Microseconds, each call by itself, as percentiles. @param {(at: number) => void} run */
const measureEach = (run) => {
  for (let n = 0; n < warmUps; n++) run(n)
  const times = Float64Array.from({ length: measured }, (_, n) => {
    const start = performance.now()
    run(warmUps + n)
    return (performance.now() - start) * 1_000
  }).sort()
  const at = (/** @type {number} */ share) => times[Math.floor(times.length * share)]?.toFixed(1)
  return `p50 ${at(0.5)} µs  p99 ${at(0.99)} µs`
}

const words = "the a function of returns list why number table river {x: 1} error and build test".split(" ")
const asked = Array.from({ length: warmUps + measured }, (_, at) => {
  let text = `${at} `
  for (let n = at; text.length < 1_000; n += 1 + (n % 3)) text += `${words[n % words.length]} `
  return { ...request, messages: [{ role: /** @type {const} */ ("user"), content: text.slice(0, 1_000) }] }
})
const classOf = (/** @type {number} */ at) => void library.classify(asked[at] ?? request, 250)
console.log(`the class of a prompt of 1,000 characters: ${measureEach(classOf)}`)
console.log(`of one that was asked about before, as at each step of an agent: ${measureEach((at) => classOf(at % 50))}`)

const conversations = library.makeConversations({ now: () => performance.now(), after: () => () => {} })
const keptConversations = 50_000
const answer = (/** @type {number} */ own) =>
  conversations.answered({ own, affinity: undefined }, "provider0/model-0", 1_000)
for (let own = 0; own < 3 * keptConversations; own++) answer(own)
const remember = (/** @type {number} */ at) => answer(3 * keptConversations + at)
console.log(`the memory of an answer, of as many conversations as are kept: ${measureEach(remember)}`)
