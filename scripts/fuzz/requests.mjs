// @ts-check
// Requests of the three endpoints: valid ones with schemas, tool calls, parts and nesting, then changed at random places.
import { mutated } from "./mutate.mjs"

/** @import { Random } from "./random.mjs" */

/** @type {[string | number, ...Array<string | number>]} */
const types = ["object", "array", "string", "integer", "number", "boolean", "null", "banana", 7]

/** A JSON schema with unions, references, literals and nesting. @param {Random} random @param {number} [depth] @returns {object} */
const schemaOf = (random, depth = 0) => {
  const kind = depth > 5 ? 9 : random.below(10)
  const inner = () => schemaOf(random, depth + 1)
  const named = () =>
    Object.fromEntries(random.times(0, 4, (at) => [random.pick(["type", `p${at}`, "items"]), inner()]))
  switch (kind) {
    case 0:
      return { type: random.times(1, 4, () => random.pick(types)), items: inner(), properties: named() }
    case 1:
      return { anyOf: random.times(1, 4, inner), description: "one of these" }
    case 2:
      return { allOf: random.times(1, 4, inner) }
    case 3:
      return { $ref: random.pick(["#", "#/$defs/a", "#/$defs/b", "#/nowhere"]) }
    case 4:
      return { enum: random.times(0, 40, (at) => (random.chance(0.8) ? `value${at}` : at)) }
    case 5:
      return { type: "array", items: inner(), minItems: random.below(3) }
    case 6:
    case 7:
      return { type: "object", properties: named(), required: ["p0", "p1"], additionalProperties: inner() }
    default:
      return {
        type: random.pick(types),
        format: "date-time",
        pattern: "^a+$",
        minimum: 1,
        const: random.pick(["x", null])
      }
  }
}

/** @param {Random} random */
const rooted = (random) => ({
  type: "object",
  $defs: { a: schemaOf(random), b: schemaOf(random) },
  properties: { a: schemaOf(random), b: schemaOf(random) }
})

/** @param {Random} random */
const words = (random) =>
  random.times(1, 30, () => random.pick(["Read", "the", "file", "weather", "日本", "😀", "=", " "])).join(" ")
/** @type {[string, ...Array<string>]} */
const ids = ["call_a", "call_a", "call_b", "call_c", "an id that no provider takes", ""]

/** @type {[string, ...Array<string>]} */
const dataUrls = [
  "data:image/png;base64,iVBORw0KGgo=",
  `data:image/png;base64,${"=".repeat(3_000)}x`,
  `data:${"a".repeat(3_000)}`,
  "data:,plain%20text",
  "https://example.com/a.png",
  "file:///etc/passwd"
]

/** @param {Random} random @param {number} at */
const toolOf = (random, at) => ({
  type: "function",
  function: {
    name: random.pick([`tool_${at}`, "same", "ein Werkzeug", "x".repeat(64)]),
    description: words(random),
    parameters: rooted(random),
    strict: random.pick([true, false, null])
  }
})

/** @typedef {{ type: string, text?: string, [name: string]: unknown }} Part */

/** @param {Random} random @returns {Part} */
const userPart = (random) =>
  random.pick(
    /** @type {[Part, ...Array<Part>]} */ ([
      { type: "text", text: words(random) },
      { type: "image_url", image_url: { url: random.pick(dataUrls) } },
      { type: "file", file: { filename: "a.pdf", file_data: random.pick(dataUrls) } },
      { type: "input_audio", input_audio: { data: "QQ==", format: "wav" } }
    ])
  )

/** @param {Random} random */
const argumentsOf = (random) =>
  random.pick(['{"a":1}', "", "{}", "not JSON", "[]", "null", `{"a":${"[".repeat(300)}${"]".repeat(300)}}`])

/** @typedef {{ id: string, type: string, function: { name: string, arguments: string } }} ToolCall */
/** @typedef {{ role: string, content: string | null | Array<Part>, tool_calls?: Array<ToolCall>, tool_call_id?: string }} Message */

/** @param {Random} random */
const messagesOf = (random) => {
  /** @type {Array<Message>} */
  const messages = [{ role: "system", content: words(random) }]
  for (const _ of random.times(1, 6, () => 0)) {
    messages.push({
      role: "user",
      content: random.chance(0.5) ? words(random) : random.times(1, 4, () => userPart(random))
    })
    const calls = random.times(0, 3, () => ({
      id: random.pick(ids),
      type: "function",
      function: { name: random.pick(["tool_0", "same"]), arguments: argumentsOf(random) }
    }))
    if (calls.length > 0) {
      messages.push({
        role: "assistant",
        content: random.pick(/** @type {[string | null, string, string]} */ ([null, "", words(random)])),
        tool_calls: calls
      })
      for (const { id } of calls) {
        if (random.chance(0.8)) messages.push({ role: "tool", tool_call_id: id, content: words(random) })
      }
    } else messages.push({ role: "assistant", content: words(random) })
  }
  return [...messages, { role: "user", content: words(random) }]
}

/** @param {Random} random */
const formatOf = (random) =>
  random.pick(
    /** @type {[object, ...Array<object>]} */ ([
      { type: "json_object" },
      { type: "text" },
      { type: "json_schema", json_schema: { name: "n", schema: rooted(random), strict: true } }
    ])
  )

/** @param {Random} random @param {string} model */
const chatOf = (random, model) => ({
  model,
  messages: messagesOf(random),
  stream: random.chance(0.5),
  ...(random.chance(0.7) && { tools: random.times(1, 6, (at) => toolOf(random, at)) }),
  ...(random.chance(0.3) && { response_format: formatOf(random) }),
  ...(random.chance(0.3) && { stop: random.times(1, 6, () => random.pick(["END", "\n", " "])) }),
  ...(random.chance(0.3) && { max_tokens: 1 + random.below(500), temperature: random.below(3) })
})

/** @param {Random} random */
const itemsOf = (random) =>
  messagesOf(random).flatMap(
    /** @returns {Array<object>} */ (message) => {
      if (message.role === "tool") {
        return [{ type: "function_call_output", call_id: message.tool_call_id, output: message.content }]
      }
      const content = Array.isArray(message.content)
        ? message.content.map((part) =>
            part.type === "text"
              ? { type: "input_text", text: part.text }
              : { type: "input_image", image_url: dataUrls[0] }
          )
        : (message.content ?? "")
      const calls = (message.tool_calls ?? []).map(({ function: { arguments: text, name }, id }) => ({
        type: "function_call",
        call_id: id,
        name,
        arguments: text
      }))
      return [...(content === "" ? [] : [{ type: "message", role: message.role, content }]), ...calls]
    }
  )

/** @param {Random} random @param {string} model */
const responsesOf = (random, model) => ({
  model,
  input: random.chance(0.2) ? words(random) : itemsOf(random),
  stream: random.chance(0.5),
  ...(random.chance(0.7) && {
    tools: random.times(1, 6, (at) => ({ type: "function", ...toolOf(random, at).function }))
  }),
  ...(random.chance(0.3) && { text: { format: { type: "json_schema", name: "n", schema: rooted(random) } } })
})

/** @param {Random} random */
const mark = (random) =>
  random.chance(0.2) && {
    cache_control: random.pick(
      /** @type {[object, ...Array<object>]} */ ([{ type: "ephemeral" }, { type: "ephemeral", ttl: "1h" }])
    )
  }

/** An image or a document of the Messages format, by its content, address or blocks. @param {Random} random @returns {object} */
const sourceOf = (random) =>
  random.pick(
    /** @type {[object, ...Array<object>]} */ ([
      { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
      {
        type: "image",
        source: { type: "url", url: random.chance(0.05) ? random.pick(dataUrls) : "https://example.com/a.png" }
      },
      { type: "document", source: { type: "base64", media_type: "application/pdf", data: "=".repeat(300) } },
      { type: "document", title: "a.txt", source: { type: "text", media_type: "text/plain", data: words(random) } },
      { type: "document", source: { type: "content", content: [{ type: "text", text: words(random) }] } },
      { type: "search_result", title: "a", source: "https://a", content: [{ type: "text", text: words(random) }] }
    ])
  )

/** What stands before the text and the calls of a turn, as it came from this gateway, from another, or from nobody. @param {Random} random */
const reasoningOf = (random) =>
  random.pick(
    /** @type {[object, ...Array<object>]} */ ([
      { type: "thinking", thinking: words(random), signature: random.pick(signatures) },
      { type: "thinking", thinking: "", signature: random.pick(signatures) },
      { type: "redacted_thinking", data: random.pick(signatures) }
    ])
  )

/** @type {[string, ...Array<string>]} */
const signatures = [
  "",
  "sig",
  `mrg1.${Buffer.from(JSON.stringify({ origin: "acme/large", kind: "text", sealed: "s" })).toString("base64url")}`,
  "mrg1.no JSON"
]

/** @param {Random} random */
const turnsOf = (random) =>
  random
    .times(1, 5, () => {
      const calls = random.times(0, 3, () => ({
        type: "tool_use",
        id: random.pick(["call_a", "call_a", "call_b", "an id that no provider takes"]),
        name: random.pick(["tool_0", "same"]),
        input: random.pick(/** @type {[object, ...Array<object>]} */ ([{}, { a: 1 }, { a: [{ b: [] }] }])),
        ...mark(random)
      }))
      const results = calls
        .filter(() => random.chance(0.9))
        .map(({ id }) => ({
          type: "tool_result",
          tool_use_id: id,
          is_error: random.chance(0.2),
          content: random.chance(0.5) ? words(random) : [{ type: "text", text: words(random) }, sourceOf(random)]
        }))
      return [
        {
          role: "user",
          content: random.chance(0.5)
            ? words(random)
            : [{ type: "text", text: words(random), ...mark(random) }, sourceOf(random)]
        },
        {
          role: "assistant",
          content: [
            ...random.times(0, 2, () => reasoningOf(random)),
            { type: "text", text: words(random), ...mark(random) },
            ...calls
          ]
        },
        ...(results.length > 0 ? [{ role: "user", content: results }] : [])
      ]
    })
    .flat()

/** @param {Random} random @param {string} model */
const messageOf = (random, model) => ({
  model,
  max_tokens: 1 + random.below(4_000),
  stream: random.chance(0.5),
  messages: [...turnsOf(random), { role: "user", content: words(random) }],
  ...(random.chance(0.5) && { system: [{ type: "text", text: words(random), ...mark(random) }] }),
  ...(random.chance(0.7) && {
    tools: random.times(1, 6, (at) => {
      const { description, name, parameters } = toolOf(random, at).function
      return random.chance(0.1)
        ? { type: "web_search_20250305", name: "web_search" }
        : { name, description, input_schema: parameters, ...mark(random) }
    })
  }),
  ...(random.chance(0.2) && { tool_choice: { type: random.pick(["auto", "none"]) } }),
  ...(random.chance(0.3) && {
    thinking: random.pick(
      /** @type {[object, ...Array<object>]} */ ([
        { type: "enabled", budget_tokens: 1_024 },
        { type: "adaptive", display: "omitted" },
        { type: "disabled" }
      ])
    )
  }),
  ...(random.chance(0.2) && { output_config: { format: { type: "json_schema", schema: rooted(random) } } }),
  ...(random.chance(0.3) && { stop_sequences: random.times(1, 6, () => random.pick(["END", "\n", " "])) }),
  ...(random.chance(0.3) && { temperature: random.below(3), top_k: random.below(50) })
})

/** @type {Readonly<Record<EndpointName, (random: Random, model: string) => { model: string }>>} */
const requests = { chat: chatOf, responses: responsesOf, messages: messageOf }

/** The endpoints that requests are made for. @typedef {"chat" | "responses" | "messages"} EndpointName */
/** @type {[EndpointName, ...Array<EndpointName>]} */
export const endpointNames = ["chat", "responses", "messages"]

/**
 * The JSON text of a request with up to two things wrong; sometimes with a name that stands there twice.
 *
 * @param {Random} random
 * @param {EndpointName} endpoint
 * @param {string} model
 */
export const requestOf = (random, endpoint, model) => {
  let body = requests[endpoint](random, model)
  const faults = random.below(3)
  for (let fault = 0; fault < faults; fault++) body = mutated(random, body)
  if (random.chance(0.9)) body.model = model
  const text = JSON.stringify(body)
  return random.chance(0.1) ? text.replace('"role":', '"role":"user","role":') : text
}
