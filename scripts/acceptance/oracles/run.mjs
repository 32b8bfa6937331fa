// Holds what the adapters send against what the providers' own clients send for the same call, and lets those clients read what
// the simulators answer: `node scripts/acceptance/oracles/run.mjs`.
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import { print } from "../report.mjs"
import { startGateway } from "./gateway.mjs"
import { maxOutputTokens, rows } from "./matrix.mjs"

const here = dirname(fileURLToPath(import.meta.url))
if (!existsSync(join(here, "node_modules/.package-lock.json"))) {
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], { stdio: "inherit", cwd: here })
  if (status !== 0) process.exit(status ?? 1)
}
const oracles = (await Promise.all(["anthropic", "gemini", "bedrock"].map((name) => import(`./${name}.mjs`)))).flatMap(
  Object.values
)

/** The same call by both; each has a simulator of its own, so that neither finds the other's cache. */
async function compared(oracle, name, params, stream) {
  const [ours, theirs] = [await oracle.start(gateway.simulators), await oracle.start(gateway.simulators)]
  try {
    const { effort, request } = rows[name]
    const model = params.model ?? params.modelId
    const call = { baseUrl: ours.baseUrl, effort, maxOutputTokens, model, request, stream, vendorId: oracle.vendorId }
    const answer = await gateway.ask(call)
    const sent = ours.requests[0]
    const read = await oracle.call(theirs, params, stream, sent.headers, gateway.simulators.BedrockSimulator)
    const official = theirs.requests[0]
    return (
      difference("target", [sent.method, sent.path], [official.method, official.path]) ??
      difference("headers", pick(sent.headers, oracle.headers), pick(official.headers, oracle.headers)) ??
      difference("body", normalised(oracle, sent.text), normalised(oracle, official.text)) ??
      difference("refusals", [...ours.refusals, ...theirs.refusals], []) ??
      difference("answer", withoutIds(readBy(answer)), withoutIds(read))
    )
  } finally {
    await Promise.all([ours.stop(), theirs.stop()])
  }
}

const normalised = (oracle, text) => oracle.normalised(JSON.parse(text))

const pick = (headers, names) => Object.fromEntries(names.map((name) => [name, headers[name]]))

const readBy = ({ reasoning, text, toolCalls, usage }) => ({
  text,
  thoughts: reasoning.map((block) => (block.kind === "encrypted" ? "" : block.text)).join(""),
  calls: toolCalls.map((call) => [call.id, call.name, JSON.parse(call.arguments)]),
  output: usage.outputTokens + usage.reasoningTokens
})

/** Ids are derived from the bytes of the request, in which the order of keys may differ; there has to be one. */
const withoutIds = (answer) => ({
  ...answer,
  calls: answer.calls.map(([id, ...call]) => [typeof id === "string" && id !== "", ...call])
})

function difference(what, ours, theirs) {
  return isDeepStrictEqual(ours, theirs)
    ? undefined
    : `${what} differs\nours:   ${JSON.stringify(ours)}\ntheirs: ${JSON.stringify(theirs)}`
}

const gateway = await startGateway()
const results = []
for (const oracle of oracles) {
  for (const stream of [false, true]) {
    for (const [name, params] of Object.entries(oracle.params)) {
      const problem = await compared(oracle, name, params, stream).catch((error) => String(error.stack ?? error))
      results.push({ client: `${oracle.client}, ${stream ? "streamed" : "plain"}`, check: name, problem })
    }
  }
}
await gateway.stop()
process.exitCode = print(Object.keys(rows), results) ? 0 : 1
