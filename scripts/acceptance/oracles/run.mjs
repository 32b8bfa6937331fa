// @ts-check
// Holds what the adapters send against what the providers' own clients send for the same call, and lets those clients read what
// the simulators answer: `node scripts/acceptance/oracles/run.mjs`.
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import { print } from "../report.mjs"
import { startGateway } from "./gateway.mjs"
import { loop, maxOutputTokens, rows, results as toolResults } from "./matrix.mjs"

const here = dirname(fileURLToPath(import.meta.url))
if (!existsSync(join(here, "node_modules/.package-lock.json"))) {
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], { stdio: "inherit", cwd: here })
  if (status !== 0) process.exit(status ?? 1)
}

/** @import { Answer, Asked, Library } from "./gateway.mjs" */
/** @import { Row } from "./matrix.mjs" */
/** @import { Result } from "../report.mjs" */
/** @typedef {Awaited<ReturnType<Library["AnthropicSimulator"]["start"]>>} Simulator */
/** The parameters of one client's call; `model` or `modelId` is a model of its vendor. @typedef {{ model?: string, modelId?: string }} Params */
/** What a client has read; `raw` is the answer as it keeps it. @typedef {{ raw?: unknown, text: string, reasoning: string, calls: ReadonlyArray<ReadonlyArray<unknown>>, output: number }} Read */

/**
 * A provider's own client: `params` are its parameters for each row, `answered` those of the call with the results of tools.
 *
 * @typedef {{
 *   client: string
 *   vendorId: string
 *   start: (library: Library) => Promise<Simulator>
 *   headers: ReadonlyArray<string>
 *   params: Readonly<Record<string, Params>>
 *   loop: Params
 *   answered: (params: Params, raw: unknown) => Params
 *   call: (
 *     simulator: Simulator,
 *     params: Params,
 *     stream: boolean,
 *     sent: Simulator["requests"][number]["headers"],
 *     bedrock: Library["BedrockSimulator"]
 *   ) => Promise<Read>
 *   normalised: (body: unknown) => unknown
 * }} Oracle
 */

/** @type {ReadonlyArray<Oracle>} */
const oracles = (
  await Promise.all(["anthropic", "gemini", "bedrock"].map((name) => import(`./clients/${name}.mjs`)))
).flatMap(Object.values)

/**
 * The same call by both; each has a simulator of its own, so that neither finds the other's cache.
 *
 * @param {Oracle} oracle
 * @param {string} name
 * @param {Params} params
 * @param {boolean} stream
 */
const compared = (oracle, name, params, stream) =>
  beside(oracle, async (ours, theirs) => {
    const row = rows[name]
    if (row === undefined) throw new Error(`there is no row ${name}`)
    const { answer, read } = await both(oracle, row, params, stream, ours, theirs)
    return differences(oracle, ours, theirs, answer, read)
  })

/** An answer is sent back as each side keeps it, with the results of its calls. @param {Oracle} oracle */
const looped = (oracle) =>
  beside(oracle, async (ours, theirs) => {
    const first = await both(oracle, loop, oracle.loop, false, ours, theirs)
    const model = `${oracle.vendorId}/${oracle.loop.model ?? oracle.loop.modelId}`
    const messages = [
      ...loop.request.messages,
      gateway.remembered(first.answer, model),
      ...first.answer.toolCalls.map(({ id }, at) => ({ role: "tool", tool_call_id: id, content: toolResults[at] }))
    ]
    const row = { ...loop, request: { ...loop.request, messages } }
    const params = oracle.answered(oracle.loop, first.read.raw)
    const { answer, read } = await both(oracle, row, params, false, ours, theirs)
    return differences(oracle, ours, theirs, answer, read)
  })

/**
 * @template T
 * @param {Oracle} oracle
 * @param {(ours: Simulator, theirs: Simulator) => Promise<T>} compare
 */
async function beside(oracle, compare) {
  const [ours, theirs] = [await oracle.start(gateway.simulators), await oracle.start(gateway.simulators)]
  try {
    return await compare(ours, theirs)
  } finally {
    await Promise.all([ours.stop(), theirs.stop()])
  }
}

/** @param {Oracle} oracle @param {Row} row @param {Params} params @param {boolean} stream @param {Simulator} ours @param {Simulator} theirs */
async function both(oracle, { effort, request }, params, stream, ours, theirs) {
  const model = params.model ?? params.modelId ?? ""
  /** @type {Asked} */
  const call = { baseUrl: ours.baseUrl, effort, maxOutputTokens, model, request, stream, vendorId: oracle.vendorId }
  const answer = await gateway.ask(call)
  const { headers } = lastOf(ours)
  return { answer, read: await oracle.call(theirs, params, stream, headers, gateway.simulators.BedrockSimulator) }
}

/** @param {Simulator} simulator */
function lastOf({ requests }) {
  const last = requests.at(-1)
  if (last === undefined) throw new Error("nothing was sent")
  return last
}

/** Of the last request of each, and of what was read. @param {Oracle} oracle @param {Simulator} ours @param {Simulator} theirs @param {Answer} answer @param {Read} read */
function differences(oracle, ours, theirs, answer, { raw: _raw, ...read }) {
  const [sent, official] = [lastOf(ours), lastOf(theirs)]
  return (
    difference("target", [sent.method, sent.path], [official.method, official.path]) ??
    difference("headers", pick(sent.headers, oracle.headers), pick(official.headers, oracle.headers)) ??
    difference("body", normalised(oracle, sent.text), normalised(oracle, official.text)) ??
    difference("rejections", [...ours.rejections, ...theirs.rejections], []) ??
    difference("answer", withoutIds(readBy(answer)), withoutIds(read))
  )
}

/** @param {Oracle} oracle @param {string} text */
const normalised = (oracle, text) => oracle.normalised(JSON.parse(text))

/** @param {Readonly<Record<string, unknown>>} headers @param {ReadonlyArray<string>} names */
const pick = (headers, names) => Object.fromEntries(names.map((name) => [name, headers[name]]))

/** @param {Answer} answer */
const readBy = ({ reasoning, text, toolCalls, usage }) => ({
  text,
  reasoning: reasoning.map((block) => (block.kind === "encrypted" ? "" : block.text)).join(""),
  calls: toolCalls.map((call) => [call.id, call.name, JSON.parse(call.arguments)]),
  output: usage === null ? 0 : usage.outputTokens + usage.reasoningTokens
})

/** Ids are derived from the bytes of the request, in which the order of keys may differ; there has to be one. @param {Read} answer */
const withoutIds = (answer) => ({
  ...answer,
  calls: answer.calls.map(([id, ...call]) => [typeof id === "string" && id !== "", ...call])
})

/** @param {string} what @param {unknown} ours @param {unknown} theirs */
function difference(what, ours, theirs) {
  return isDeepStrictEqual(ours, theirs)
    ? undefined
    : `${what} differs\nours:   ${JSON.stringify(ours)}\ntheirs: ${JSON.stringify(theirs)}`
}

const gateway = await startGateway()
/** @type {Array<Result>} */
const results = []
for (const oracle of oracles) {
  const problem = await looped(oracle).catch((error) => String(error.stack ?? error))
  results.push({ client: `${oracle.client}, plain`, check: "reasoning and results", problem })
  for (const stream of [false, true]) {
    for (const [name, params] of Object.entries(oracle.params)) {
      const problem = await compared(oracle, name, params, stream).catch((error) => String(error.stack ?? error))
      results.push({ client: `${oracle.client}, ${stream ? "streamed" : "plain"}`, check: name, problem })
    }
  }
}
await gateway.stop()
process.exitCode = print([...Object.keys(rows), "reasoning and results"], results) ? 0 : 1
