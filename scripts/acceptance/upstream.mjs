// @ts-check
// An OpenAI-compatible upstream that says what the name of its model tells it to, and breaks where it tells it to.
import { once } from "node:events"
import { createServer } from "node:http"
import { setTimeout as delay } from "node:timers/promises"
import { listen } from "../lib/listen.mjs"

/** @import { ServerResponse } from "node:http" */

/** @param {object} fields */
const delta = (fields) => ({ choices: [{ index: 0, delta: fields, finish_reason: null }] })
/** @param {string} reason */
const finish = (reason) => ({ choices: [{ index: 0, delta: {}, finish_reason: reason }] })
const role = delta({ role: "assistant", content: "" })
/** @param {number} index */
const toolCall = (index) =>
  [
    { id: `call_${index}`, type: "function", function: { name: "weather", arguments: "" } },
    { function: { arguments: '{"ci' } },
    { function: { arguments: 'ty":"Ro' } },
    { function: { arguments: 'me"}' } }
  ].map((fields) => delta({ tool_calls: [{ index, ...fields }] }))

/** Complete responses, chunk by chunk; each ends with its finish. @type {Readonly<Record<string, ReadonlyArray<object>>>} */
export const answers = {
  text: [role, delta({ content: "One" }), delta({ content: " two" }), delta({ content: " three" }), finish("stop")],
  tool: [role, ...toolCall(0), finish("tool_calls")],
  reasoning: [
    role,
    delta({ reasoning_content: "Let me" }),
    delta({ reasoning_content: " see." }),
    delta({ content: "One" }),
    delta({ content: " two" }),
    finish("stop")
  ],
  mixed: [
    role,
    delta({ content: "I will" }),
    delta({ content: " look." }),
    ...toolCall(0),
    ...toolCall(1),
    finish("tool_calls")
  ],
  refusal: [role, delta({ refusal: "I will" }), delta({ refusal: " not." }), finish("stop")]
}

/** An error frame, a broken connection, an end without a finish, an event that is none. @type {Readonly<Record<string, (response: ServerResponse) => void>>} */
const endings = {
  error: (response) =>
    response.end(`data: ${JSON.stringify({ error: { message: "broken", type: "server_error" } })}\n\n`),
  cut: (response) => setTimeout(() => response.destroy(), 5),
  short: (response) => response.end(),
  malformed: (response) => response.end("data: {broken\n\n")
}

/** Every way a stream of each answer can break before it is whole: after so many chunks, in that way. */
export const breaks = Object.entries(answers).flatMap(([answer, chunks]) =>
  chunks.flatMap((_, after) =>
    Object.keys(endings).map((ending) => ({ answer, after, ending, model: `${answer}-${after}-${ending}` }))
  )
)

/** The same, but slower than a head is held: what comes to light is told in-band. */
export const lateBreaks = Object.keys(endings).map((ending) => ({
  answer: "text",
  after: 1,
  ending,
  model: `text-1-${ending}-late`
}))

const whole = Object.keys(answers)

/** @typedef {Awaited<ReturnType<typeof startUpstream>>} Upstream */

/** @param {{ lateMillis: number }} options */
export const startUpstream = async ({ lateMillis }) => {
  /** @type {Map<string, number>} */
  const requests = new Map()
  const server = createServer(async (request, response) => {
    const parts = []
    for await (const part of request) parts.push(part)
    // the gateway asks for the list of models when it starts
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ object: "list", data: [] }))
      return
    }
    /** @type {{ model: string, stream?: boolean }} */
    const { model, stream } = JSON.parse(Buffer.concat(parts).toString())
    requests.set(model, (requests.get(model) ?? 0) + 1)
    const [answer = "", after, ending, late] = model.split("-")
    const chunks = answers[answer]
    if (chunks === undefined || stream !== true) {
      response.writeHead(500, { "content-type": "application/json" })
      response.end(JSON.stringify({ error: { message: "down", type: "server_error", code: null } }))
      return
    }
    response.writeHead(200, { "content-type": "text/event-stream" })
    for (const chunk of chunks.slice(0, after === undefined ? chunks.length : Number(after))) {
      response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    }
    if (ending === undefined) {
      const usage = { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 }
      response.write(`data: ${JSON.stringify({ choices: [], usage })}\n\n`)
      response.end("data: [DONE]\n\n")
      return
    }
    if (late !== undefined) await delay(lateMillis)
    endings[ending]?.(response)
  })
  const port = await listen(server)
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests: (/** @type {string} */ model) => requests.get(model) ?? 0,
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}

/**
 * The upstream's models as the operator of a gateway would write them down, one broken one for each of `clients`.
 *
 * @param {string} baseUrl
 * @param {ReadonlyArray<unknown>} clients
 */
export const configured = (baseUrl, clients) => {
  const names = [...whole, ...breaks.map(({ model }) => model), ...lateBreaks.map(({ model }) => model)]
  const model = (/** @type {string} */ name, more = {}) => ({
    id: `scripted/${name}`,
    upstreamModel: name,
    inputPriceMicroUsdPerMillion: 1,
    outputPriceMicroUsdPerMillion: 1,
    contextTokens: 100_000,
    outputTokens: 4_096,
    ...more
  })
  return {
    providers: [
      {
        id: "scripted",
        protocol: "openai-chat",
        baseUrl,
        models: [...names.map((name) => model(name)), ...clients.map((_, at) => model(`down${at}`, { quality: 1 }))]
      }
    ],
    routingConfigurations: clients.map((_, at) => ({
      slug: `fallback${at}`,
      models: [`scripted/down${at}`, "sim/fast"],
      alpha: 1
    }))
  }
}
