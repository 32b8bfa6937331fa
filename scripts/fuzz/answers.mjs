// @ts-check
// Answers of upstreams in the four protocols: valid ones, then changed at random places.
import { crc32 } from "node:zlib"
import { mutated, renamed } from "./mutate.mjs"

/** @import { Random } from "./random.mjs" */
/** @typedef {{ id: string, name: string, argument: string }} SaidCall */
/** @typedef {{ texts: Array<string>, reasoning: Array<string>, calls: Array<SaidCall> }} Said */
/** As JSON, or in Bedrock's frames a pair of its type and its payload. @typedef {unknown} Event */

/**
 * How a protocol says an answer, streamed and plain. `heard` leaves those events that a reader has to take in, `ignored` tells
 * parts of which it has not to.
 *
 * @typedef {{
 *   stream: (random: Random, said: Said, finish: unknown) => Array<Event>
 *   plain: (random: Random, said: Said, finish: unknown) => unknown
 *   finishes: [string, ...Array<string>]
 *   heard: (events: Array<Event>) => Array<Event>
 *   ignored: (path: ReadonlyArray<string>, parent: object) => boolean
 * }} Protocol
 */

/** What an answer says: pieces of text, reasoning and tool calls, each with words that occur nowhere else. @param {Random} random @returns {Said} */
const saidOf = (random) => {
  let words = 0
  const word = () => `word${words++}x`
  return {
    texts: random.times(1, 5, word),
    reasoning: random.times(0, 2, word),
    calls: random.times(0, 3, (at) => ({
      id: random.chance(0.2) ? "call_same" : `call_${at}`,
      name: random.chance(0.3) ? "same" : `tool_${at}`,
      argument: word()
    }))
  }
}

const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 }

/** @type {Protocol} */
const openAi = {
  stream: (random, { calls, texts, reasoning }, finish) => {
    const chunk = (/** @type {object} */ delta, /** @type {unknown} */ finish_reason = null) => ({
      id: "u",
      choices: [{ index: 0, delta, finish_reason }]
    })
    return [
      chunk({ role: "assistant", content: "" }),
      ...reasoning.map((text) => chunk({ reasoning_content: text })),
      ...texts.map((text) => chunk({ content: text })),
      ...calls.flatMap(({ argument, id, name }, index) => [
        chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: '{"a":' } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: `"${argument}"}` } }] })
      ]),
      chunk({}, finish),
      ...(random.chance(0.5) ? [{ id: "u", choices: [], usage }] : [])
    ]
  },
  plain: (_, { calls, texts, reasoning }, finish) => ({
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: texts.join(" "),
          reasoning_content: reasoning.join(" "),
          tool_calls: calls.map(({ argument, id, name }) => ({
            id,
            type: "function",
            function: { name, arguments: JSON.stringify({ a: argument }) }
          }))
        },
        finish_reason: finish
      }
    ],
    usage
  }),
  finishes: ["stop", "length", "tool_calls", "content_filter"],
  heard: (events) => events,
  ignored: (path, parent) => isOtherAlternative(path, parent)
}

/** @param {Said} said @returns {Array<{ type: "thinking", thinking: string, signature: string } | { type: "text", text: string } | { type: "tool_use", id: string, name: string, input: object }>} */
const anthropicBlocks = ({ calls, texts, reasoning }) => [
  ...reasoning.map((thinking) => ({ type: /** @type {const} */ ("thinking"), thinking, signature: "s" })),
  ...texts.map((text) => ({ type: /** @type {const} */ ("text"), text })),
  ...calls.map(({ argument, id, name }) => ({
    type: /** @type {const} */ ("tool_use"),
    id,
    name,
    input: { a: argument }
  }))
]

/** @type {Protocol} */
const anthropic = {
  stream: (random, said, finish) => [
    { type: "message_start", message: { model: "m", content: [], usage: { input_tokens: 5, output_tokens: 1 } } },
    ...anthropicBlocks(said).flatMap((block, index) => {
      const [empty, delta] =
        block.type === "text"
          ? [
              { type: "text", text: "" },
              { type: "text_delta", text: block.text }
            ]
          : block.type === "thinking"
            ? [
                { type: "thinking", thinking: "" },
                { type: "thinking_delta", thinking: block.thinking }
              ]
            : [
                { ...block, input: {} },
                { type: "input_json_delta", partial_json: JSON.stringify(block.input) }
              ]
      return [
        { type: "content_block_start", index, content_block: empty },
        { type: "content_block_delta", index, delta },
        { type: "content_block_stop", index }
      ]
    }),
    { type: "message_delta", delta: { stop_reason: finish }, usage: { output_tokens: 7 } },
    ...(random.chance(0.8) ? [{ type: "message_stop" }] : [])
  ],
  plain: (_, said, finish) => ({
    type: "message",
    model: "m",
    content: anthropicBlocks(said),
    stop_reason: finish,
    usage: { input_tokens: 5, output_tokens: 7 }
  }),
  finishes: ["end_turn", "max_tokens", "tool_use", "refusal"],
  /** By Anthropic's own rules, events of unknown types are to be ignored; nothing belongs to the answer after its last. */
  heard: (events) =>
    upTo(events, (event) => typeOf(event) === "message_stop").filter((event) => {
      const type = typeOf(event)
      return typeof type !== "string" || anthropicTypes.has(type)
    }),
  ignored: () => false
}

/** @param {Event} event @returns {unknown} */
const typeOf = (event) => (typeof event === "object" && event !== null && "type" in event ? event.type : undefined)

const anthropicTypes = new Set([
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop"
])

/** The events before the first that ends the stream. @param {Array<Event>} events @param {(event: Event) => boolean} isLast */
const upTo = (events, isLast) => {
  const last = events.findIndex(isLast)
  return last < 0 ? events : events.slice(0, last)
}

/** @type {Protocol} */
const bedrock = {
  stream: (_, { calls, texts, reasoning }, finish) => [
    ["messageStart", { role: "assistant" }],
    ...[
      ...reasoning.map((text) => ({ reasoningContent: { text } })),
      ...texts.map((text) => ({ text })),
      ...calls.map((call) => call)
    ].flatMap((one, contentBlockIndex) =>
      "argument" in one
        ? [
            ["contentBlockStart", { contentBlockIndex, start: { toolUse: { toolUseId: one.id, name: one.name } } }],
            ["contentBlockDelta", { contentBlockIndex, delta: { toolUse: { input: `{"a":"${one.argument}"}` } } }],
            ["contentBlockStop", { contentBlockIndex }]
          ]
        : [
            ["contentBlockDelta", { contentBlockIndex, delta: one }],
            ["contentBlockStop", { contentBlockIndex }]
          ]
    ),
    ["messageStop", { stopReason: finish }],
    ["metadata", { usage: { inputTokens: 5, outputTokens: 7, totalTokens: 12 } }]
  ],
  plain: (_, { calls, texts, reasoning }, finish) => ({
    output: {
      message: {
        role: "assistant",
        content: [
          ...reasoning.map((text) => ({ reasoningContent: { reasoningText: { text, signature: "s" } } })),
          ...texts.map((text) => ({ text })),
          ...calls.map(({ argument, id, name }) => ({ toolUse: { toolUseId: id, name, input: { a: argument } } }))
        ]
      }
    },
    stopReason: finish,
    usage: { inputTokens: 5, outputTokens: 7, totalTokens: 12 }
  }),
  finishes: ["end_turn", "max_tokens", "tool_use", "content_filtered"],
  heard: (events) => {
    let hasStopped = false
    return upTo(events, (event) => {
      const [type] = frameOf(event)
      hasStopped ||= type === "messageStop"
      return hasStopped && type === "metadata"
    })
  },
  ignored: () => false
}

/** @param {Event} event */
const frameOf = (event) => /** @type {[type: string, payload: unknown]} */ (event)

/** @param {Said} said @returns {Array<object>} */
const geminiParts = ({ calls, texts, reasoning }) => [
  ...reasoning.map((text) => ({ text, thought: true })),
  ...texts.map((text) => ({ text })),
  ...calls.map(({ argument, id, name }) => ({ functionCall: { id, name, args: { a: argument } } }))
]

/** @type {Protocol} */
const gemini = {
  stream: (_, said, finish) => {
    const chunk = (/** @type {Array<object>} */ parts, /** @type {unknown} */ finishReason) => ({
      candidates: [{ index: 0, content: { role: "model", parts }, ...(finishReason ? { finishReason } : {}) }],
      modelVersion: "m"
    })
    return [
      ...geminiParts(said).map((part) => chunk([part], undefined)),
      { ...chunk([{ text: "" }], finish), usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 7 } }
    ]
  },
  plain: (_, said, finish) => ({
    candidates: [{ index: 0, content: { role: "model", parts: geminiParts(said) }, finishReason: finish }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 7 }
  }),
  finishes: ["STOP", "MAX_TOKENS", "SAFETY"],
  heard: (events) => events,
  ignored: (path, parent) => isOtherAlternative(path, parent)
}

/** Only the alternative with index 0 was asked for. @type {Protocol["ignored"]} */
const isOtherAlternative = (path, parent) =>
  ["choices", "candidates"].includes(path.at(-2) ?? "") &&
  "index" in parent &&
  typeof parent.index === "number" &&
  parent.index !== 0

/** @satisfies {Record<string, Protocol>} */
const protocols = {
  "openai-chat": openAi,
  "anthropic-messages": anthropic,
  "bedrock-converse": bedrock,
  gemini
}
/** @typedef {keyof typeof protocols} ProtocolId */
/** @type {ReadonlyArray<ProtocolId>} */
export const protocolIds = ["openai-chat", "anthropic-messages", "bedrock-converse", "gemini"]

/**
 * Words that stand where a part of the answer is expected, whatever else is wrong with it.
 *
 * @param {unknown} value
 * @param {Protocol["ignored"]} ignored
 * @param {ReadonlyArray<string>} [path]
 * @returns {Array<string>}
 */
const wordsIn = (value, ignored, path = []) => {
  if (typeof value === "string") return value.match(/word\d+x/g) ?? []
  if (typeof value !== "object" || value === null) return []
  if (ignored(path, value)) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key.endsWith(renamed) ? [] : wordsIn(inner, ignored, [...path, key])
  )
}

/** @type {[unknown, ...Array<unknown>]} */
const strangeFinishes = ["abort", "cancelled", "timeout", "incomplete", "OTHER", "", 7, ["stop"], null]

/**
 * An answer with none to three things wrong. `words` are those that an answer which passes as whole must have; `plain` is
 * the body of an answer that is not streamed, `events` those of a streamed one.
 *
 * @param {Random} random
 * @param {ProtocolId} protocolId
 * @param {boolean} streamed
 */
export const answerOf = (random, protocolId, streamed) => {
  /** @type {Protocol} */
  const protocol = protocols[protocolId]
  const finish = random.chance(0.1) ? random.pick(strangeFinishes) : random.pick(protocol.finishes)
  const said = saidOf(random)
  const faults = random.below(4)
  if (!streamed) {
    let plain = protocol.plain(random, said, finish)
    for (let fault = 0; fault < faults; fault++) plain = mutated(random, plain)
    return { plain, events: [], words: wordsIn(plain, protocol.ignored) }
  }
  let events = protocol.stream(random, said, finish)
  for (let fault = 0; fault < faults && events.length > 0; fault++) {
    const at = random.below(events.length)
    const kind = random.below(10)
    if (kind === 0) events = [...events.slice(0, at), events[at], ...events.slice(at)]
    else if (kind === 1) events = [...events.slice(at), ...events.slice(0, at)]
    else if (kind === 2) events = events.slice(0, at)
    else if (protocolId === "bedrock-converse") {
      const [type, payload] = frameOf(events[at])
      events = changed(events, at, [type, mutated(random, payload)])
    } else events = changed(events, at, mutated(random, events[at]))
  }
  return { plain: undefined, events, words: wordsIn(protocol.heard(events), protocol.ignored) }
}

/** @param {Array<Event>} events @param {number} index @param {Event} event */
const changed = (events, index, event) => events.map((old, at) => (at === index ? event : old))

/** @param {string} name @param {string} value */
const header = (name, value) =>
  Buffer.concat([
    Buffer.of(name.length),
    Buffer.from(name),
    Buffer.of(7, value.length >> 8, value.length & 255),
    Buffer.from(value)
  ])

/** @param {string} type @param {unknown} payload */
const awsMessage = (type, payload) => {
  const headers = Buffer.concat([header(":message-type", "event"), header(":event-type", type)])
  const body = Buffer.from(JSON.stringify(payload) ?? "null")
  const whole = Buffer.alloc(16 + headers.length + body.length)
  whole.writeUInt32BE(whole.length, 0)
  whole.writeUInt32BE(headers.length, 4)
  whole.writeUInt32BE(crc32(whole.subarray(0, 8)), 8)
  headers.copy(whole, 12)
  body.copy(whole, 12 + headers.length)
  whole.writeUInt32BE(crc32(whole.subarray(0, whole.length - 4)), whole.length - 4)
  return whole
}

/** The bytes of an answer and what they say they are. @param {ProtocolId} protocolId @param {{ events: Array<Event>, plain: unknown }} answer */
export const encoded = (protocolId, { events, plain }) => {
  if (plain !== undefined) return { mediaType: "application/json", bytes: Buffer.from(JSON.stringify(plain)) }
  if (protocolId === "bedrock-converse") {
    const bytes = Buffer.concat(events.map((event) => awsMessage(...frameOf(event))))
    return { mediaType: "application/vnd.amazon.eventstream", bytes }
  }
  const done = protocolId === "openai-chat" ? "data: [DONE]\n\n" : ""
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("") + done
  return { mediaType: "text/event-stream", bytes: Buffer.from(text) }
}
