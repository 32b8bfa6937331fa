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

const textPart = shape({ type: fc.constant("text"), text }, { prompt_cache_breakpoint: orNull(freeForm) })
const imagePart = fc
  .tuple(
    fc.constantFrom("https://a.example/b.png", "http://a.example", "data:image/png;base64,AA", "HTTPS://x"),
    orNull(text)
  )
  .map(([url, detail]) => ({ type: "image_url", image_url: { url, detail } }))
const audioPart = fc.record({
  type: fc.constant("input_audio"),
  input_audio: fc.record({ data: text, format: fc.constantFrom("wav", "mp3") })
})
const filePart = fc.record({
  type: fc.constant("file"),
  file: shape({}, { filename: orNull(text), file_data: orNull(text), file_id: orNull(text) })
})
const refusalPart = fc.record({ type: fc.constant("refusal"), refusal: text })
const textContent = fc.oneof(text, fc.array(textPart, { maxLength: 3 }))

export const toolCall = fc.oneof(
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

export const message = fc.oneof(
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
    enable_fallback: orNull(fc.boolean())
  }
).map((value): unknown => JSON.parse(JSON.stringify(value)))

const junk: ReadonlyArray<unknown> = [
  null,
  "",
  "x",
  "function",
  "low",
  "y".repeat(121),
  "\u{1f600}".repeat(121),
  0,
  1,
  -1,
  1.5,
  101,
  2 ** 53,
  Number.POSITIVE_INFINITY,
  true,
  [],
  {},
  [1],
  ["a"],
  { type: "text" },
  { role: "user" },
  { allow: ["a"] },
  Array.from({ length: 65 }, () => "s")
]
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

/** A body of which one place has been removed, replaced, repeated, or given another key. */
export const mutated: fc.Arbitrary<unknown> = fc
  .record({
    body,
    at: fc.double({ min: 0, max: 0.999_999, noNaN: true }),
    how: fc.constantFrom("replace", "add", "remove", "repeat"),
    value: fc.constantFrom(...junk),
    key: fc.constantFrom(...keys)
  })
  .map(({ at, body, how, key, value }) => {
    const paths = pathsOf(body, [])
    const path = paths[Math.floor(at * paths.length)] ?? []
    if (how === "replace") return changed(body, path, () => value)
    return changed(body, path, (before) => {
      if (Array.isArray(before)) return how === "remove" ? before.slice(1) : [...before, ...before]
      if (typeof before !== "object" || before === null) return value
      const entries = Object.entries(before)
      return Object.fromEntries(how === "remove" ? entries.slice(1) : [...entries, [key, value]])
    })
  })
