// @ts-check
// The checks that a coding agent goes through; each run is a process of its own.
import { until } from "../gateway.mjs"
import { endless, sentence, speak } from "../tasks.mjs"
import { breaks } from "../upstream.mjs"
import { start } from "./program.mjs"

/** @import { Access } from "../gateway.mjs" */
/** @import { Adapter, World } from "../matrix.mjs" */
/** @import { Ended, How, Program } from "./program.mjs" */
/** @typedef {(access: Access, model: string, prompt: string) => How} ProgramOf */
/** @typedef {(output: string) => string} SaidIn */
/** @typedef {(model: string, prompt: string, use?: (program: Program) => Promise<Ended>) => Promise<Ended>} Run */

const settleMillis = 10_000
const startMillis = 60_000
/** Two cores are common; more agents at once only make each of them slower. */
const maxAtOnce = 3

/**
 * `programOf(access, model, prompt)` says how to run the agent, `said(output)` what its last message was, and `shell` is the
 * name of its tool for commands. `retriesStatus` is for agents that try again on their own after a status of 502.
 *
 * @param {{
 *   client: string
 *   missing: string | undefined
 *   programOf: ProgramOf
 *   retriesStatus: boolean
 *   said: SaidIn
 *   shell: string
 * }} options
 * @returns {Adapter}
 */
export const agent = ({ client, missing, programOf, retriesStatus, said, shell }) => ({
  client,
  check: async (_, at, world) => {
    if (missing !== undefined) return [{ client, check: "create", skipped: missing }]
    /** @type {Run} */
    const run = (model, prompt, use = ended) => withProgram(programOf(world.main.access, model, prompt), use)
    const checks = {
      create: async () => expectSaid(said, await run("sim/fast", speak), sentence),
      tools: () => runsCommand(run, said, shell),
      "fails before": async () => expectFailed(await run("sim/malformed", speak), "502", "could not be parsed"),
      "falls back": () => fallsBack(run, said, at, world),
      "fails after": async () => expectFailed(await run("sim/cut-mid", speak), "was truncated"),
      "every event": () => failsAtEveryEvent(run, retriesStatus),
      leaves: () => leaves(programOf, world)
    }
    const results = Object.entries(checks).map(([check, act]) => async () => {
      const problem = await act().then(
        () => undefined,
        (error) => String(error instanceof Error ? error.stack : error)
      )
      return { client, check, problem }
    })
    return await atMost(maxAtOnce, results)
  }
})

/** A task of two steps: a command by the agent's own tool, then an answer that tells its result. @param {Run} run @param {SaidIn} said @param {string} shell */
const runsCommand = async (run, said, shell) => {
  const words = "made by the agent"
  await run("sim/fast", `Use ${shell}: "echo ${words} | tee made.txt"`, async (program) => {
    const result = await program.ended
    expectSaid(said, result, words)
    const made = (await program.read("made.txt")).trim()
    if (made !== words) throw new Error(`it made ${JSON.stringify(made)}`)
    return result
  })
}

/** @param {Run} run @param {SaidIn} said @param {number} at @param {World} world */
const fallsBack = async (run, said, at, { upstream }) => {
  const before = upstream.requests(`down${at}`)
  expectSaid(said, await run(`auto:fallback${at}`, speak), sentence)
  if (upstream.requests(`down${at}`) === before) throw new Error("the broken model was not tried")
}

/** @param {Run} run @param {boolean} retriesStatus */
const failsAtEveryEvent = async (run, retriesStatus) => {
  const whole = await run("scripted/text", "go")
  if (whole.code !== 0) throw new Error(`the whole stream failed: ${whole.output}`)
  // before the first content a failure is a status, which some agents answer with a minute of further attempts
  const inBand = breaks.filter(({ after, ending }) => ending === "error" && after >= 2)
  const tried = retriesStatus ? inBand : breaks
  const outcomes = await atMost(
    maxAtOnce,
    tried.map(({ model }) => async () => ({ model, ended: await run(`scripted/${model}`, "go") }))
  )
  const wrong = outcomes.filter(({ ended }) => ended.code === 0 && !/"type":"(error|turn.failed)"/.test(ended.output))
  if (wrong.length > 0) {
    throw new Error(
      `ended as if they were whole: ${wrong.map(({ ended, model }) => `${model}\n${ended.output}`).join("\n")}`
    )
  }
}

/** As with the other clients: while the agent listens its call holds money, and once it has left nothing is held. @param {ProgramOf} programOf @param {World} world */
const leaves = async (programOf, { quiet }) => {
  const before = await quiet.counts()
  const { spent } = await quiet.money()
  await withProgram(programOf(quiet.access, "sim/best", endless), async (program) => {
    if (!(await until(startMillis, async () => (await quiet.money()).held > 0))) throw new Error("it has not called")
    program.stop()
    await program.ended
    const settled = await until(settleMillis, async () => {
      const now = await quiet.counts()
      return now.cancelled > before.cancelled && now.inFlight === 0 && (await quiet.money()).held === 0
    })
    const after = { ...(await quiet.counts()), ...(await quiet.money()) }
    if (!settled) throw new Error(`not settled as cancelled: ${JSON.stringify({ before, after })}`)
    if (!(after.spent > spent)) throw new Error("nothing was charged")
  })
}

/** @param {Program} program */
const ended = (program) => program.ended

/** @template T @param {How} how @param {(program: Program) => Promise<T>} use @returns {Promise<T>} */
const withProgram = async (how, use) => {
  const program = await start(how)
  try {
    return await use(program)
  } finally {
    program.stop()
    await program.ended
    await program.remove()
  }
}

/**
 * The results of all tasks, so many of them at a time.
 *
 * @template T
 * @param {number} count
 * @param {ReadonlyArray<() => Promise<T>>} tasks
 */
const atMost = async (count, tasks) => {
  /** @type {Array<T>} */
  const results = []
  const waiting = [...tasks.entries()]
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) results[next[0]] = await next[1]()
  }
  await Promise.all(Array.from({ length: count }, worker))
  return results
}

/** @param {SaidIn} said @param {Ended} ended @param {string} words */
const expectSaid = (said, { code, output }, words) => {
  if (code !== 0 || !said(output).includes(words)) throw new Error(`it ended with ${code}:\n${output}`)
}

/** @param {Ended} ended @param {ReadonlyArray<string>} words */
const expectFailed = ({ code, output }, ...words) => {
  if (code === 0 || !words.every((word) => output.includes(word))) throw new Error(`it ended with ${code}:\n${output}`)
}
