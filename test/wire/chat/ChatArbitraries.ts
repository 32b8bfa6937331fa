import * as fc from "fast-check"

/** JSON bodies that are requests, and what becomes of them when something is changed at random. */

const text = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom("", "hi", "\u2028", "\ud800", "constructor"))
const freeForm = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })
const orNull = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { freq: 6 })

const shape = <A extends Record<string, unknown>, O extends Record<string, unknown>>(
  needed: { [K in keyof A]: fc.Arbitrary<A[K]> },
  others: { [K in keyof O]: fc.Arbitrary<O[K]> }
): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .tuple(fc.record(needed), fc.record(others, { requiredKeys: [] }))
    .map(([first, second]) => ({ ...first, ...second }))

const breakpoint = { prompt_cache_breakpoint: orNull(freeForm) }
const textPart = shape({ type: fc.constant("text"), text }, breakpoint)
const imageUrl = fc.record({
  url: fc.constantFrom("https://a.example/b.png", "http://a.example", "data:image/png;base64,AA", "HTTPS://x"),
  detail: orNull(text)
})
const imagePart = shape({ type: fc.constant("image_url"), image_url: imageUrl }, breakpoint)
const audio = fc.record({ data: text, format: fc.constantFrom("wav", "mp3") })
const audioPart = shape({ type: fc.constant("input_audio"), input_audio: audio }, breakpoint)
const file = shape(
  {},
  {
    filename: orNull(text),
    file_data: orNull(fc.oneof(text, fc.constantFrom("data:text/plain,x", "https://a.example/f"))),
    file_id: orNull(text)
  }
)
const filePart = shape({ type: fc.constant("file"), file }, breakpoint)
const refusalPart = fc.record({ type: fc.constant("refusal"), refusal: text })
const textContent = fc.oneof(text, fc.array(textPart, { maxLength: 3 }))

const toolCall = fc.oneof(
  shape(
    { id: text, type: fc.constant("function"), function: fc.record({ name: text, arguments: text }) },
    { extra_content: orNull(freeForm) }
  ),
  shape(
    { id: text, type: fc.constant("custom"), custom: fc.record({ name: text, input: text }) },
    { extra_content: orNull(freeForm) }
  )
)

const reasoningDetail = shape(
  { type: fc.constantFrom("reasoning.text", "reasoning.summary", "reasoning.encrypted") },
  {
    text: orNull(text),
    data: orNull(text),
    signature: orNull(text),
    format: orNull(text),
    id: orNull(text),
    index: orNull(fc.nat(9))
  }
)

const message = fc.oneof(
  shape({ role: fc.constantFrom("developer", "system"), content: textContent }, { name: orNull(text) }),
  shape(
    {
      role: fc.constant("user"),
      content: fc.oneof(text, fc.array(fc.oneof(textPart, imagePart, audioPart, filePart), { maxLength: 3 }))
    },
    { name: orNull(text) }
  ),
  shape(
    {
      role: fc.constant("assistant"),
      content: orNull(fc.oneof(text, fc.array(fc.oneof(textPart, refusalPart), { maxLength: 2 })))
    },
    {
      refusal: orNull(text),
      name: orNull(text),
      tool_calls: orNull(fc.array(toolCall, { maxLength: 2 })),
      audio: orNull(fc.record({ id: text })),
      reasoning: orNull(text),
      reasoning_content: orNull(text),
      reasoning_details: orNull(fc.array(reasoningDetail, { maxLength: 2 }))
    }
  ),
  shape({ role: fc.constant("tool"), content: textContent, tool_call_id: text }, {})
)

const name = fc.string({ minLength: 1, maxLength: 8 })
const tool = fc.oneof(
  fc.record({
    type: fc.constant("function"),
    function: shape({ name }, { description: orNull(text), parameters: orNull(freeForm), strict: orNull(fc.boolean()) })
  }),
  fc.record({
    type: fc.constant("custom"),
    custom: shape({ name }, { description: orNull(text), format: orNull(freeForm) })
  })
)

const effort = fc.oneof(fc.constantFrom("none", "low", "high", "max"), fc.integer({ min: 1, max: 100 }))
const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer())
const entries = fc.array(text, { maxLength: 3 })
const lists = { allow: orNull(entries), deny: orNull(entries) }

/** Mostly valid; the rules between fields are left to chance. */
export const body: fc.Arbitrary<unknown> = shape(
  { model: text, messages: fc.array(message, { minLength: 1, maxLength: 4 }) },
  {
    tools: orNull(fc.array(tool, { maxLength: 3 })),
    tool_choice: orNull(fc.oneof(fc.constantFrom("auto", "none", "required"), freeForm)),
    stream: fc.boolean(),
    token_doctor: fc.boolean(),
    stream_options: orNull(
      shape({}, { include_usage: orNull(fc.boolean()), include_obfuscation: orNull(fc.boolean()) })
    ),
    temperature: orNull(number),
    top_p: orNull(number),
    max_tokens: orNull(fc.integer({ min: 1 })),
    max_completion_tokens: orNull(fc.integer({ min: 1 })),
    stop: orNull(fc.oneof(text, entries)),
    frequency_penalty: orNull(fc.double({ min: -2, max: 2, noNaN: true })),
    presence_penalty: orNull(fc.double({ min: -2, max: 2, noNaN: true })),
    n: orNull(fc.constant(1)),
    seed: orNull(fc.integer()),
    logprobs: orNull(fc.boolean()),
    top_logprobs: orNull(fc.integer({ min: 0, max: 20 })),
    parallel_tool_calls: orNull(fc.boolean()),
    response_format: orNull(freeForm),
    reasoning_effort: orNull(effort),
    reasoning: orNull(
      shape(
        {},
        {
          effort: orNull(effort),
          max_tokens: orNull(fc.integer({ min: 1 })),
          summary: orNull(text),
          exclude: orNull(fc.boolean())
        }
      )
    ),
    verbosity: orNull(fc.constantFrom("low", "medium", "high")),
    service_tier: orNull(text),
    metadata: orNull(fc.dictionary(text, text, { maxKeys: 3 })),
    store: orNull(fc.boolean()),
    safety_identifier: orNull(text),
    prompt_cache_key: orNull(text),
    prompt_cache_options: orNull(freeForm),
    prompt_cache_retention: orNull(text),
    prediction: orNull(freeForm),
    modalities: orNull(entries),
    audio: orNull(freeForm),
    moderation: orNull(freeForm),
    web_search_options: orNull(freeForm),
    user: orNull(text),
    models: orNull(shape({}, lists)),
    provider: orNull(shape({}, { ...lists, only: orNull(entries), ignore: orNull(entries) })),
    routing_config: orNull(fc.oneof(name, fc.constantFrom("x".repeat(120), "\u{1f600}".repeat(120)))),
    alpha: orNull(fc.double({ min: 0, max: 1, noNaN: true })),
    max_input_price_microusd_per_million: orNull(fc.nat()),
    max_output_price_microusd_per_million: orNull(fc.nat()),
    max_cost_microusd: orNull(fc.nat()),
    enable_fallback: orNull(fc.boolean())
  }
).map((value): unknown => JSON.parse(JSON.stringify(value)))

/** Values of every kind, on and just past every bound that a field has. */
const junk: ReadonlyArray<unknown> = [
  ...[null, true, [], {}, [1], ["a"], { type: "text" }, { role: "user" }, { allow: ["a"] }, { effort: "none" }],
  ...["", "x", "function", "user", "low", "text", "y".repeat(120), "y".repeat(121), "y".repeat(256), "y".repeat(257)],
  ...["\u{1f600}".repeat(120), "\u{1f600}".repeat(121), "\u{1f600}".repeat(257), "data:,", "ftp://x"],
  ...[-2.5, -2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 20, 21, 100, 101, 2 ** 53 - 1, 2 ** 53, Number.POSITIVE_INFINITY],
  ...[64, 65, 1_024, 1_025].flatMap((length) => [Array.from({ length }, () => "s"), Array.from({ length }, customTool)])
]
function customTool() {
  return { type: "custom", custom: { name: "f" } }
}
const keys = ["unknown", "__proto__", "constructor", "type", "role", "content", "name", "only", "effort", "stream", "n"]

type Key = string | number
const pathsOf = (value: unknown, path: ReadonlyArray<Key>): ReadonlyArray<ReadonlyArray<Key>> => {
  if (typeof value !== "object" || value === null) return [path]
  const children: ReadonlyArray<readonly [Key, unknown]> = Array.isArray(value)
    ? value.map((item, i) => [i, item] as const)
    : Object.entries(value)
  return [path, ...children.flatMap(([key, item]) => pathsOf(item, [...path, key]))]
}

const changed = (value: unknown, [key, ...rest]: ReadonlyArray<Key>, change: (value: unknown) => unknown): unknown => {
  if (key === undefined) return change(value)
  if (Array.isArray(value)) return value.map((item, i) => (i === key ? changed(item, rest, change) : item))
  return Object.fromEntries(
    Object.entries(value ?? {}).map(([name, item]) => [name, name === key ? changed(item, rest, change) : item])
  )
}

const ways = ["replace", "add", "remove", "repeat"] as const

const changedBy = (json: unknown, path: ReadonlyArray<Key>, how: (typeof ways)[number], key: string, value: unknown) =>
  changed(json, path, (before) => {
    if (how === "replace") return value
    if (Array.isArray(before)) return how === "remove" ? before.slice(1) : [...before, ...before]
    if (typeof before !== "object" || before === null) return value
    const entries = Object.entries(before)
    return Object.fromEntries(how === "remove" ? entries.slice(1) : [...entries, [key, value]])
  })

/** A body of which one place has been removed, replaced, repeated, or given another key. */
export const mutated: fc.Arbitrary<unknown> = fc
  .record({
    body,
    at: fc.double({ min: 0, max: 0.999_999, noNaN: true }),
    how: fc.constantFrom(...ways),
    value: fc.constantFrom(...junk),
    key: fc.constantFrom(...keys)
  })
  .map(({ at, body, how, key, value }) => {
    const paths = pathsOf(body, [])
    return changedBy(body, paths[Math.floor(at * paths.length)] ?? [], how, key, value)
  })

/** Every place of a body with every one of the values instead, and with each of its keys gone. */
export function* everyChange(json: unknown): Generator<unknown> {
  for (const path of pathsOf(json, [])) {
    for (const value of junk) yield changedBy(json, path, "replace", "", value)
    const parent = path.slice(0, -1)
    yield changed(json, parent, (before) =>
      typeof before === "object" && before !== null && !Array.isArray(before)
        ? Object.fromEntries(Object.entries(before).filter(([name]) => name !== path.at(-1)))
        : before
    )
    for (const key of keys) yield changedBy(json, path, "add", key, 1)
  }
}

/** A request that uses every field there is. */
export const full = {
  model: "auto",
  messages: [
    { role: "developer", content: "d", name: "n" },
    { role: "system", content: [{ type: "text", text: "t", prompt_cache_breakpoint: { a: 1 } }] },
    {
      role: "user",
      name: "n",
      content: [
        { type: "text", text: "t" },
        { type: "image_url", image_url: { url: "https://a.example", detail: "low" } },
        { type: "input_audio", input_audio: { data: "AA", format: "wav" } },
        { type: "file", file: { filename: "f", file_data: "data:text/plain,d", file_id: "i" } }
      ]
    },
    {
      role: "assistant",
      content: [
        { type: "text", text: "t" },
        { type: "refusal", refusal: "r" }
      ],
      refusal: "r",
      name: "n",
      audio: { id: "a" },
      tool_calls: [
        { id: "c", type: "function", function: { name: "f", arguments: "{}" }, extra_content: { google: {} } },
        { id: "d", type: "custom", custom: { name: "f", input: "i" }, extra_content: null }
      ],
      reasoning: "r",
      reasoning_content: "r",
      reasoning_details: [
        { type: "reasoning.text", text: "t", summary: "s", data: "d", signature: "s", format: "f", id: "i", index: 0 }
      ]
    },
    { role: "assistant", content: null, tool_calls: [{ id: "e", type: "custom", custom: { name: "f", input: "" } }] },
    { role: "tool", content: "r", tool_call_id: "c" }
  ],
  tools: [
    { type: "function", function: { name: "f", description: "d", parameters: { type: "object" }, strict: true } },
    { type: "custom", custom: { name: "g", description: "d", format: { type: "text" } } }
  ],
  tool_choice: "auto",
  stream: true,
  token_doctor: false,
  stream_options: { include_usage: true, include_obfuscation: false },
  temperature: 1,
  top_p: 1,
  max_tokens: 1,
  max_completion_tokens: 1,
  stop: ["s"],
  frequency_penalty: 0,
  presence_penalty: 0,
  n: 1,
  seed: 1,
  logprobs: true,
  top_logprobs: 1,
  parallel_tool_calls: true,
  response_format: { type: "text" },
  reasoning_effort: "low",
  reasoning: { effort: "low", max_tokens: 1, summary: "auto", exclude: true },
  verbosity: "low",
  service_tier: "auto",
  metadata: { a: "b" },
  store: true,
  safety_identifier: "s",
  prompt_cache_key: "k",
  prompt_cache_options: {},
  prompt_cache_retention: "24h",
  prediction: {},
  modalities: ["text"],
  audio: {},
  moderation: {},
  web_search_options: {},
  user: "u",
  models: { allow: ["a"], deny: ["b"] },
  provider: { allow: ["a"], deny: ["b"], ignore: ["c"] },
  routing_config: "r",
  alpha: 0.5,
  max_input_price_microusd_per_million: 1,
  max_output_price_microusd_per_million: 1,
  max_cost_microusd: 1,
  enable_fallback: true
}
