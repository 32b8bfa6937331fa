// @ts-check
// What 10,000 samples of coding agents take in the store: conversations whose every call repeats the calls before it, with tools and
// instructions, files that tools return and edits. Run: npm run bench:capture:storage

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { blocksOf, nothingFound } from "../../../src/capture/worker/blocks.js"
import { encode, expand, openSample, openShared } from "../../../src/capture/worker/sample.js"
import { keysOf } from "../../../src/capture/worker/seal.js"
import { root } from "../../lib/root.mjs"

const samples = 10_000
const callsOfConversation = 40
/** Of a row and its entries in three indexes, besides the sealed value. */
const rowBytes = 24 + 4 + 16 * 6 + 4 + 8 * 4 + 40 + 3 * 48
const packRowBytes = 24 + 4 + 16 + 4 + 20 + 48

const sources = readdirSync(join(root, "src"), { recursive: true })
  .map(String)
  .filter((file) => file.endsWith(".ts"))
  .map((file) => ({ file, text: readFileSync(join(root, "src", file), "utf8") }))

let seed = 20260101
const random = () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}
/** @template A @param {ReadonlyArray<A>} all @returns {A} */
const oneOf = (all) => /** @type {A} */ (all[Math.floor(random() * all.length)])

/** Texts that no two conversations have in common compress as little as code does. @param {number} words */
const prose = (words) =>
  Array.from({ length: words }, () => oneOf(oneOf(sources).text.slice(0, 4_000).split(/\W+/)) || "it").join(" ")

const tools = Array.from({ length: 12 }, (_, at) => ({
  type: /** @type {const} */ ("function"),
  function: {
    name: `tool_${at}`,
    description: prose(120),
    parameters: { type: "object", properties: { path: { type: "string", description: prose(20) } } }
  }
}))
const instructions = { role: /** @type {const} */ ("system"), content: prose(1_500) }

const dayKey = Buffer.alloc(32, 5)
const keys = keysOf(dayKey)
const [project, day] = ["00000000-0000-7000-8000-000000000001", "2026-01-01"]
/** @type {Map<string, Buffer>} */
const packs = new Map()
let [raw, stored, calls, different] = [0, 0, 0, 0]
const started = performance.now()

for (let conversation = 0; calls < samples; conversation++) {
  /** @type {Array<import("../../../src/domain/Chat.ts").Message>} */
  const messages = [instructions, { role: "user", content: prose(60) }]
  /** @type {import("../../../src/capture/worker/sample.js").Base | null} */
  let base = null
  /** @type {import("../../../src/capture/worker/sample.js").Expanded | undefined} */
  let before
  for (let call = 0; call < callsOfConversation && calls < samples; call++) {
    const id = `${conversation}-${call}`
    const tool = oneOf(tools).function.name
    const source = oneOf(sources)
    const toolCall = {
      kind: /** @type {const} */ ("function"),
      id: `call_${id}`,
      name: tool,
      arguments: JSON.stringify({ path: source.file }),
      extraContent: null
    }
    raw += Buffer.byteLength(JSON.stringify({ messages, tools }))
    const encoded = encode(
      {
        id,
        project,
        day,
        dayKey,
        content: "full",
        facts: facts(call),
        body: undefined,
        prompt: { messages, tools },
        answer: { text: "", refusal: "", reasoning: [], toolCalls: [toolCall] }
      },
      base
    )
    stored += encoded.sealed.length + rowBytes
    for (const pack of encoded.shared) {
      if (!packs.has(pack.id)) stored += pack.sealed.length + packRowBytes
      packs.set(pack.id, pack.sealed)
    }
    const opened = openSample(keys.seal, project, id, encoded.sealed)
    const found =
      opened &&
      expand(opened, before, (pack) => openShared(keys.seal, project, day, pack, packs.get(pack) ?? Buffer.alloc(0)))
    const sent = blocksOf(messages, tools, nothingFound(keys.id)).map(({ text }) => text)
    if (
      found === undefined ||
      found.blocks.some(({ text }, at) => text !== sent[at]) ||
      found.blocks.length !== sent.length
    )
      different += 1
    before = found
    base = { id, keys: encoded.keys }
    calls += 1
    const from = Math.floor(random() * Math.max(1, source.text.length - 1_500))
    messages.push(
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: toolCall.id, type: "function", function: { name: tool, arguments: toolCall.arguments } }]
      },
      {
        role: "tool",
        tool_call_id: toolCall.id,
        content: source.text.slice(from, from + 200 + Math.floor(random() * 1_300))
      }
    )
  }
}

/** As they are of a call of one attempt. @param {number} call */
function facts(call) {
  const usage = {
    inputTokens: 900 + call,
    cacheReadTokens: 12_345 + 97 * call,
    cacheWriteTokens: 0,
    outputTokens: 120 + call,
    reasoningTokens: 0,
    details: { inputAudioTokens: 0, outputAudioTokens: 0, acceptedPredictionTokens: 0, rejectedPredictionTokens: 0 }
  }
  const cost = { amount_microusd: Math.floor(random() * 90_000), currency: "USD", basis: "charged" }
  const model = "anthropic/claude-sonnet-4-5"
  return {
    class: null,
    endpoint: "chat",
    status: "success",
    error: null,
    params: { stream: true, maxOutputTokens: 8_192 },
    toolsOffered: tools.map((tool) => tool.function.name),
    candidatePool: { models: [model] },
    decision: { requestedModel: model, reason: "pinned_model", alpha: null, routingConfig: null, policyVersion: 1 },
    attempts: [
      {
        provider: "anthropic",
        model,
        status: "success",
        error: null,
        cost,
        usage,
        startedAt: 1_767_225_600_000 + Math.floor(random() * 1e9),
        latencyMillis: Math.round(random() * 90_000) / 10
      }
    ],
    usage,
    cost,
    prices: { input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 3_750_000 },
    latencyMillis: Math.round(random() * 90_000) / 10,
    firstContentMillis: Math.round(random() * 9_000) / 10,
    finish: "tool_calls"
  }
}

const megabytes = (/** @type {number} */ bytes) => `${(bytes / 1e6).toFixed(1)} MB`
console.log(`${calls} samples, ${megabytes(raw)} as they were sent (${(raw / calls / 1_000).toFixed(0)} KB a call)`)
console.log(
  `${megabytes(stored)} stored with rows and index entries: ${(raw / stored).toFixed(0)} times less; bar 15 MB`
)
console.log(`${different} samples expand to something else than what was sent`)
console.log(`${((performance.now() - started) / calls).toFixed(2)} ms a sample, sealed and expanded again`)
if (stored > 15e6 || different > 0) process.exitCode = 1
