// @ts-check
// What it is worth that a conversation stays with its model: agents that call tools, over the models of three providers, which
// cache the beginnings of prompts as they document it. Run: node scripts/bench/routing/agents.mjs [SESSIONS]
import { importSources } from "../../lib/sources.mjs"
import { catalogOf, prompts } from "./catalog.mjs"

/** @typedef {import("./catalog.mjs").Library} Library */
/** @typedef {ReturnType<Library["makeSnapshot"]>["models"][number]} Model */

/** @type {Library} */
const library = await importSources(new URL("./sources.ts", import.meta.url))
const providers = new Set(["openai", "anthropic", "google"])
const snapshot = library.makeSnapshot(catalogOf(library).models.filter(({ providerId }) => providers.has(providerId)))
const sessions = Number(process.argv[2] ?? 200)

const tool = { type: "function", function: { name: "run", parameters: { type: "object" } } }
const systemTokens = 6_000
const stepMillis = 8_000

/** One session: what is asked in it, how many tools each turn calls, what these return, and how long the user then thinks. */
const sessionOf = (/** @type {number} */ seed) => {
  const random = new library.PCGRandom(seed)
  const between = (/** @type {number} */ low, /** @type {number} */ high) =>
    low + Math.floor(random.number() * (high - low))
  return Array.from({ length: between(2, 7) }, () => ({
    text: prompts[between(0, prompts.length)] ?? "",
    steps: Array.from({ length: between(0, 7) }, () => between(200, 3_000)),
    answerTokens: between(80, 700),
    pauseMillis: between(15_000, 420_000)
  }))
}

/** What a provider has of the beginnings of prompts, by model. */
const makeCache = () => {
  /** @type {Map<string, { tokens: number, atMillis: number }>} */
  const kept = new Map()
  return (
    /** @type {Model} */ model,
    /** @type {string} */ session,
    /** @type {number} */ tokens,
    /** @type {number} */ now
  ) => {
    const { cache } = model
    if (cache === null || cache === undefined || cache.mode === "none") return { read: 0, written: 0 }
    const key = `${model.id} ${session}`
    const before = kept.get(key)
    const valid = before !== undefined && now - before.atMillis <= cache.ttlSeconds * 1_000
    const read = valid && before.tokens >= cache.minTokens ? before.tokens - (before.tokens % cache.stepTokens) : 0
    kept.set(key, { tokens, atMillis: now })
    return { read, written: cache.mode === "explicit" && tokens >= cache.minTokens ? tokens - read : 0 }
  }
}

/** @param {number} alpha @param {"never" | "in tool calls" | "always"} stays */
const simulate = (alpha, stays) => {
  let now = 0
  const conversations = library.makeConversations({ now: () => now, after: () => () => {} })
  const cacheOf = makeCache()
  const total = { cost: 0, prompt: 0, read: 0, calls: 0, changes: 0, quality: 0 }
  for (let at = 0; at < sessions; at++) {
    /** @type {Array<Record<string, unknown>>} */
    const messages = [{ role: "system", content: `You are an agent that works on the repository ${at}.` }]
    let tokens = systemTokens
    let last = ""
    const call = (/** @type {number} */ outputTokens) => {
      const asked = library.runSync(
        library.decode({ model: "auto", messages, tools: [tool], prompt_cache_key: `session ${at}` })
      )
      const place = conversations.placeOf(/** @type {never} */ ("project"), asked)
      const classes = library.classify(asked, tokens)
      const output = library.expectedOutputTokens(classes)
      const ranked = library.rank({
        snapshot,
        policy: library.intersectPolicies({ ...library.openPolicy, defaultAlpha: alpha }, null, asked.routing),
        request: asked,
        features: library.featuresOf(asked, false, tokens, classes),
        quality: library.qualityFor(classes),
        outputTokens: library.sameFigure(output),
        health: () => ({ failure: 0.05, openUntilMillis: 0, latencyMillis: null }),
        nowMillis: now,
        billingMode: "managed",
        affinity:
          stays === "always" || (stays === "in tool calls" && place.affinity?.inToolLoop) ? place.affinity : undefined
      })
      if (ranked._tag === "Left") throw new Error("no model is eligible")
      const { model, quality } = ranked.right.candidates.first
      if (model.prices === null) throw new Error("a model without prices was chosen")
      const { read, written } = cacheOf(model, String(at), tokens, now)
      total.cost += library.costOf(
        model.prices,
        library.usage({
          inputTokens: tokens - read - written,
          cacheReadTokens: read,
          cacheWriteTokens: written,
          outputTokens
        })
      )
      total.calls++
      total.prompt += tokens
      total.read += read
      total.quality += quality
      if (last !== "" && last !== model.id) total.changes++
      last = model.id
      conversations.answered(place, model.id, tokens)
      tokens += outputTokens
      now += stepMillis
    }
    for (const { answerTokens, pauseMillis, steps, text } of sessionOf(at)) {
      messages.push({ role: "user", content: text })
      tokens += Math.ceil(text.length / 4)
      steps.forEach((resultTokens, step) => {
        call(60)
        const id = `call_${messages.length}_${step}`
        messages.push({
          role: "assistant",
          tool_calls: [{ id, type: "function", function: { name: "run", arguments: "{}" } }]
        })
        messages.push({ role: "tool", tool_call_id: id, content: `result ${messages.length}` })
        tokens += resultTokens
      })
      call(answerTokens)
      messages.push({ role: "assistant", content: `answer ${messages.length}` })
      now += pauseMillis
    }
  }
  return total
}

for (const alpha of [0.3, 0.4, 0.5, 0.55, 0.6]) {
  console.log(`alpha ${alpha}, ${sessions} sessions`)
  for (const stays of /** @type {const} */ (["never", "in tool calls", "always"])) {
    const { calls, changes, cost, prompt, quality, read } = simulate(alpha, stays)
    console.log(
      `  stays ${stays}: $${(cost / 1e6).toFixed(2)} for ${calls} calls, ` +
        `${Math.round((read / prompt) * 100)} % of the prompts from the cache, ` +
        `${(changes / sessions).toFixed(1)} changes a session, predicted quality ${(quality / calls).toFixed(3)}`
    )
  }
}
