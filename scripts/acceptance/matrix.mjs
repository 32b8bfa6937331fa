// @ts-check
// The checks that every client goes through. A check passes or throws with what was wrong.
import { inspect } from "node:util"
import { until } from "./gateway.mjs"
import { askCity, askWeather, endless, sentence, speak } from "./tasks.mjs"
import { answers, breaks, lateBreaks } from "./upstream.mjs"

/** @import { Access, Gateway } from "./gateway.mjs" */
/** @import { Result } from "./report.mjs" */
/** @import { Upstream } from "./upstream.mjs" */
/** `quiet` runs one call at a time. @typedef {{ main: Gateway, quiet: Gateway, upstream: Upstream }} World */
/** @typedef {{ model: string, prompt: string }} Asked */
/** @typedef {Asked & { signal: AbortSignal, onText: (text: string) => unknown }} AskedStream */

/**
 * What a client can do; `check` is there when it goes through checks of its own.
 *
 * @typedef {{
 *   client: string
 *   models?: (access: Access) => Promise<ReadonlyArray<string>>
 *   text?: (access: Access, asked: Asked) => Promise<unknown>
 *   stream?: (access: Access, asked: AskedStream) => Promise<unknown>
 *   loop?: (access: Access, asked: Asked) => Promise<unknown>
 *   object?: (access: Access, asked: Asked) => Promise<unknown>
 *   extra?: { run: (access: Access) => Promise<void> }
 *   refusalIsError?: boolean
 *   check?: (adapter: Adapter, at: number, world: World) => Promise<ReadonlyArray<Result>>
 * }} Adapter
 */

/** @typedef {NonNullable<Adapter["text"]>} Text */
/** @typedef {NonNullable<Adapter["stream"]>} Stream */

/** A client that neither answers nor fails for this long hangs. */
const maxCallMillis = 15_000
/** For a call that its client has left to be over. */
const settleMillis = 5_000

export const columns = [
  "models",
  "create",
  "stream",
  "tools",
  "object",
  "errors",
  "fails before",
  "falls back",
  "fails after",
  "every event",
  "leaves",
  "extra"
]

/** Runs what the adapter can do, a check for each. @param {Adapter} adapter @param {number} at @param {World} world */
export const checkClient = async (adapter, at, world) => {
  /** @type {Array<Result>} */
  const results = []
  for (const [check, run] of Object.entries(checksOf(adapter, at, world))) {
    const problem = await withinTime(run()).then(
      () => undefined,
      (error) => describe(error)
    )
    results.push({ client: adapter.client, check, problem })
  }
  return results
}

/** @param {Adapter} adapter @param {number} at @param {World} world @returns {Record<string, () => Promise<void>>} */
const checksOf = ({ extra, loop, models, object, refusalIsError = false, stream, text }, at, world) => {
  const { access } = world.main
  return {
    ...(models && { models: () => listsModels(models, access) }),
    ...(text && {
      create: async () => expectEqual(await text(access, { model: "sim/fast", prompt: speak }), sentence),
      errors: () => namesErrors(text, access)
    }),
    ...(stream && { stream: () => streams(stream, access) }),
    ...(loop && {
      tools: async () =>
        expectContains(await loop(access, { model: "sim/fast", prompt: askWeather }), "sunny with 21 degrees in Rome")
    }),
    ...(object && {
      object: async () =>
        expectEqual(
          JSON.stringify(await object(access, { model: "sim/fast", prompt: askCity })),
          '{"city":"Rome","inhabitants":2800000}'
        )
    }),
    ...(text &&
      stream && {
        "fails before": () => failsBefore(text, stream, access),
        "falls back": () => fallsBack(text, stream, at, world)
      }),
    ...(stream && {
      "fails after": () => failsAfter(stream, access),
      "every event": () => failsAtEveryEvent(stream, access, refusalIsError),
      leaves: () => leaves(stream, world.quiet)
    }),
    ...(extra && { extra: () => extra.run(access) })
  }
}

/** @param {NonNullable<Adapter["models"]>} models @param {Access} access */
const listsModels = async (models, access) => {
  const ids = await models(access)
  expectEqual(ids[0], "auto")
  for (const id of ["auto:fallback0", "sim/fast", "scripted/text"])
    if (!ids.includes(id)) throw new Error(`${id} is not listed`)
  if (ids.some((id) => id === "sim/cut-mid")) throw new Error("an unlisted model is listed")
}

/** @param {Stream} stream @param {Access} access */
const streams = async (stream, access) => {
  const { error, pieces } = await readStream(stream, access, { model: "sim/fast", prompt: speak })
  if (error !== undefined) throw error
  expectEqual(pieces.join(""), sentence)
  if (pieces.filter((piece) => piece !== "").length < 3) throw new Error("it came in one piece")
}

/** @param {Text} text @param {Access} access */
const namesErrors = async (text, access) => {
  expectContains(describe(await failureOf(text(access, { model: "none/such", prompt: speak }))), "model_not_found")
  const stranger = { ...access, apiKey: "mrg_sk_nobody" }
  expectContains(describe(await failureOf(text(stranger, { model: "sim/fast", prompt: speak }))), "invalid_api_key")
}

/**
 * Pinned models have no fallback: plain or streamed, the client hears of a 502. None of these is tried again: that takes
 * longer than the head of a stream is held here.
 *
 * @param {Text} text
 * @param {Stream} stream
 * @param {Access} access
 */
const failsBefore = async (text, stream, access) => {
  for (const model of ["sim/overloaded", "sim/cut", "sim/malformed", "sim/empty"]) {
    expectContains(describe(await failureOf(text(access, { model, prompt: speak }))), "502", model)
    const { error, pieces } = await readStream(stream, access, { model, prompt: speak })
    if (error === undefined) throw new Error(`${model} streamed without an error`)
    expectContains(describe(error), "502", model)
    expectEqual(pieces.join(""), "")
  }
}

/**
 * The best candidate is down: the next one answers, and the client notices nothing.
 *
 * @param {Text} text
 * @param {Stream} stream
 * @param {number} at
 * @param {World} world
 */
const fallsBack = async (text, stream, at, { main, upstream }) => {
  const before = upstream.requests(`down${at}`)
  expectEqual(await text(main.access, { model: `auto:fallback${at}`, prompt: speak }), sentence)
  const { error, pieces } = await readStream(stream, main.access, { model: `auto:fallback${at}`, prompt: speak })
  if (error !== undefined) throw error
  expectEqual(pieces.join(""), sentence)
  if (upstream.requests(`down${at}`) - before < 2) throw new Error("the broken model was not tried")
}

/** @param {Stream} stream @param {Access} access */
const failsAfter = async (stream, access) => {
  for (const model of ["sim/cut-mid", "sim/malformed-mid", "sim/stall-mid"]) {
    const { error, pieces } = await readStream(stream, access, { model, prompt: speak })
    if (error === undefined) throw new Error(`${model} ended as if it were whole: ${pieces.join("")}`)
    if (pieces.join("") === "") throw new Error(`${model} said nothing before it failed`)
  }
}

/**
 * Wherever and however the upstream breaks, the client ends with an error; unbroken, the same streams end well.
 *
 * @param {Stream} stream
 * @param {Access} access
 * @param {boolean} refusalIsError
 */
const failsAtEveryEvent = async (stream, access, refusalIsError) => {
  /** @type {Array<string>} */
  const wrong = []
  for (const answer of Object.keys(answers)) {
    if (answer === "refusal" && refusalIsError) continue
    const { error } = await readStream(stream, access, { model: `scripted/${answer}`, prompt: "go" })
    if (error !== undefined) wrong.push(`whole ${answer}: ${describe(error)}`)
  }
  for (const { model } of [...breaks, ...lateBreaks]) {
    const { error } = await readStream(stream, access, { model: `scripted/${model}`, prompt: "go" })
    if (error === undefined) wrong.push(model)
  }
  if (wrong.length > 0) throw new Error(`ended as if they were whole: ${wrong.join(", ")}`)
}

/**
 * While the client listens its call holds money; once it has left the call is settled as cancelled for less than that, and
 * nothing is held any more.
 *
 * @param {Stream} stream
 * @param {Gateway} quiet
 */
const leaves = async (stream, quiet) => {
  const before = await quiet.counts()
  const { spent } = await quiet.money()
  const leave = new AbortController()
  const heard = withResolvers()
  const asked = { model: "sim/best", prompt: endless, signal: leave.signal }
  const reading = stream(quiet.access, { ...asked, onText: (text) => text !== "" && heard.resolve() }).then(
    () => heard.reject(new Error("it ended by itself")),
    (error) => heard.reject(error)
  )
  await heard.promise
  const { held } = await quiet.money()
  if (!(held > 0)) throw new Error(`${held} is held while it listens`)
  leave.abort()
  await reading
  const settled = await until(settleMillis, async () => {
    const now = await quiet.counts()
    return now.cancelled === before.cancelled + 1 && now.inFlight === 0 && (await quiet.money()).held === 0
  })
  const after = await quiet.money()
  const found = inspect({ ...(await quiet.counts()), ...after })
  if (!settled) throw new Error(`not settled as cancelled: ${found} after ${inspect({ ...before, spent, held })}`)
  if (!(after.spent > spent && after.spent - spent < held)) throw new Error(`${after.spent - spent} charged of ${held}`)
}

/** @param {Stream} stream @param {Access} access @param {Asked} asked */
const readStream = async (stream, access, asked) => {
  /** @type {Array<string>} */
  const pieces = []
  const error = await withinTime(
    stream(access, { ...asked, signal: new AbortController().signal, onText: (text) => pieces.push(text) })
  ).then(
    () => undefined,
    (/** @type {unknown} */ failure) => failure ?? new Error("failed with nothing")
  )
  if (error instanceof Hung) throw error
  return { error, pieces }
}

/** @param {Promise<unknown>} promise @returns {Promise<unknown>} */
const failureOf = (promise) =>
  promise.then(
    (value) => {
      throw new Error(`succeeded with ${inspect(value)}`)
    },
    (error) => error
  )

class Hung extends Error {}

/** @template T @param {Promise<T>} promise @returns {Promise<T>} */
const withinTime = (promise) => {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  /** @type {Promise<never>} */
  const hung = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Hung(`neither answered nor failed in ${maxCallMillis} ms`)), maxCallMillis)
  })
  return Promise.race([promise, hung]).finally(() => clearTimeout(timer))
}

const withResolvers = () => {
  let resolve = () => {}
  /** @type {(error: unknown) => void} */
  let reject = () => {}
  const promise = new Promise((onResolved, onRejected) => {
    resolve = () => onResolved(undefined)
    reject = onRejected
  })
  return { promise, resolve, reject }
}

/** @param {unknown} actual @param {unknown} expected @param {string} [about] */
const expectEqual = (actual, expected, about = "") => {
  if (actual !== expected) throw new Error(`${about} expected ${inspect(expected)}, got ${inspect(actual)}`.trim())
}

/** @param {unknown} text @param {string} part @param {string} [about] */
const expectContains = (text, part, about = "") => {
  if (typeof text !== "string" || !text.includes(part))
    throw new Error(`${about} expected ${inspect(part)} in ${text}`.trim())
}

/** With everything that hangs below it: clients keep status and code in many places. @param {unknown} error */
const describe = (error) => inspect(error, { depth: 8, maxStringLength: 4_000 })
