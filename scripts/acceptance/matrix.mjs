// The checks that every client goes through. A check passes or throws with what was wrong.
import { inspect } from "node:util"
import { until } from "./gateway.mjs"
import { askCity, askWeather, endless, sentence, speak } from "./tasks.mjs"
import { answers, breaks, lateBreaks } from "./upstream.mjs"

/** A client that neither answers nor fails for this long hangs. */
const mostMillis = 15_000
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

/** Runs what the adapter can do; one `{ client, check, problem }` for each, `problem` undefined when it has passed. */
export const checkClient = async (adapter, at, world) => {
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

const checksOf = (adapter, at, world) => ({
  ...(adapter.models && { models: () => listsModels(adapter, world) }),
  ...(adapter.text && {
    create: async () =>
      expectEqual(await adapter.text(world.main.door, { model: "sim/fast", prompt: speak }), sentence),
    errors: () => namesErrors(adapter, world)
  }),
  ...(adapter.stream && { stream: () => streams(adapter, world) }),
  ...(adapter.loop && {
    tools: async () =>
      expectContains(
        await adapter.loop(world.main.door, { model: "sim/fast", prompt: askWeather }),
        "sunny with 21 degrees in Rome"
      )
  }),
  ...(adapter.object && {
    object: async () =>
      expectEqual(
        JSON.stringify(await adapter.object(world.main.door, { model: "sim/fast", prompt: askCity })),
        '{"city":"Rome","inhabitants":2800000}'
      )
  }),
  ...(adapter.stream && {
    "fails before": () => failsBefore(adapter, world),
    "falls back": () => fallsBack(adapter, at, world),
    "fails after": () => failsAfter(adapter, world),
    "every event": () => failsAtEveryEvent(adapter, world),
    leaves: () => leaves(adapter, world)
  }),
  ...(adapter.extra && { extra: () => adapter.extra.run(world.main.door) })
})

const listsModels = async (adapter, { main }) => {
  const ids = await adapter.models(main.door)
  expectEqual(ids[0], "auto")
  for (const id of ["auto:fallback0", "sim/fast", "scripted/text"])
    if (!ids.includes(id)) throw new Error(`${id} is not listed`)
  if (ids.some((id) => id === "sim/cut-mid")) throw new Error("an unlisted model is listed")
}

const streams = async (adapter, { main }) => {
  const { error, pieces } = await readStream(adapter, main.door, { model: "sim/fast", prompt: speak })
  if (error !== undefined) throw error
  expectEqual(pieces.join(""), sentence)
  if (pieces.filter((piece) => piece !== "").length < 3) throw new Error("it came in one piece")
}

const namesErrors = async (adapter, { main }) => {
  expectContains(
    describe(await failureOf(adapter.text(main.door, { model: "none/such", prompt: speak }))),
    "model_not_found"
  )
  const stranger = { ...main.door, apiKey: "mrg_sk_nobody" }
  expectContains(
    describe(await failureOf(adapter.text(stranger, { model: "sim/fast", prompt: speak }))),
    "invalid_api_key"
  )
}

/**
 * Pinned models have no fallback: plain or streamed, the client hears of a 502. None of these is tried again: that takes
 * longer than the head of a stream is held here.
 */
const failsBefore = async (adapter, { main }) => {
  for (const model of ["sim/overloaded", "sim/cut", "sim/malformed", "sim/empty"]) {
    expectContains(describe(await failureOf(adapter.text(main.door, { model, prompt: speak }))), "502", model)
    const { error, pieces } = await readStream(adapter, main.door, { model, prompt: speak })
    if (error === undefined) throw new Error(`${model} streamed without an error`)
    expectContains(describe(error), "502", model)
    expectEqual(pieces.join(""), "")
  }
}

/** The best candidate is down: the next one answers, and the client notices nothing. */
const fallsBack = async (adapter, at, { main, upstream }) => {
  const before = upstream.requests(`down${at}`)
  expectEqual(await adapter.text(main.door, { model: `auto:fallback${at}`, prompt: speak }), sentence)
  const { error, pieces } = await readStream(adapter, main.door, { model: `auto:fallback${at}`, prompt: speak })
  if (error !== undefined) throw error
  expectEqual(pieces.join(""), sentence)
  if (upstream.requests(`down${at}`) - before < 2) throw new Error("the broken model was not tried")
}

const failsAfter = async (adapter, { main }) => {
  for (const model of ["sim/cut-mid", "sim/malformed-mid", "sim/stall-mid"]) {
    const { error, pieces } = await readStream(adapter, main.door, { model, prompt: speak })
    if (error === undefined) throw new Error(`${model} ended as if it were whole: ${pieces.join("")}`)
    if (pieces.join("") === "") throw new Error(`${model} said nothing before it failed`)
  }
}

/** Wherever and however the upstream breaks, the client ends with an error; unbroken, the same streams end well. */
const failsAtEveryEvent = async (adapter, { main }) => {
  const wrong = []
  for (const answer of Object.keys(answers)) {
    if (answer === "refusal" && adapter.refusalIsError) continue
    const { error } = await readStream(adapter, main.door, { model: `scripted/${answer}`, prompt: "go" })
    if (error !== undefined) wrong.push(`whole ${answer}: ${describe(error)}`)
  }
  for (const { model } of [...breaks, ...lateBreaks]) {
    const { error } = await readStream(adapter, main.door, { model: `scripted/${model}`, prompt: "go" })
    if (error === undefined) wrong.push(model)
  }
  if (wrong.length > 0) throw new Error(`ended as if they were whole: ${wrong.join(", ")}`)
}

/**
 * The balance of this gateway is enough for one hold: while the client listens nobody else can call, and as soon as it has
 * left somebody can again, which shows that its call was settled and its hold released.
 */
const leaves = async (adapter, { tight }) => {
  const before = await tight.counts()
  const leave = new AbortController()
  const heard = withResolvers()
  const reading = adapter
    .stream(tight.door, {
      model: "sim/best",
      prompt: endless,
      signal: leave.signal,
      onText: (text) => text !== "" && heard.resolve()
    })
    .then(
      () => heard.reject(new Error("it ended by itself")),
      (error) => heard.reject(error)
    )
  await heard.promise
  const other = () =>
    tight.post("/v1/chat/completions", { model: "sim/best", messages: [{ role: "user", content: "Say: hi" }] })
  expectEqual((await other()).status, 402, "another call while it listens")
  leave.abort()
  await reading
  const settled = await until(settleMillis, async () => {
    const now = await tight.counts()
    return now.cancelled === before.cancelled + 1 && now.inFlight === 0
  })
  if (!settled) throw new Error(`not settled as cancelled: ${inspect(await tight.counts())} after ${inspect(before)}`)
  expectEqual((await other()).status, 200, "another call after it has left")
}

const readStream = async (adapter, door, request) => {
  const pieces = []
  const error = await withinTime(
    adapter.stream(door, { ...request, signal: new AbortController().signal, onText: (text) => pieces.push(text) })
  ).then(
    () => undefined,
    (failure) => failure ?? new Error("failed with nothing")
  )
  if (error instanceof Hung) throw error
  return { error, pieces }
}

const failureOf = (promise) =>
  promise.then(
    (value) => {
      throw new Error(`succeeded with ${inspect(value)}`)
    },
    (error) => error
  )

class Hung extends Error {}

const withinTime = (promise) => {
  let timer
  const hung = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Hung(`neither answered nor failed in ${mostMillis} ms`)), mostMillis)
  })
  return Promise.race([promise, hung]).finally(() => clearTimeout(timer))
}

const withResolvers = () => {
  const resolvers = {}
  resolvers.promise = new Promise((resolve, reject) => Object.assign(resolvers, { resolve, reject }))
  return resolvers
}

const expectEqual = (actual, expected, about = "") => {
  if (actual !== expected) throw new Error(`${about} expected ${inspect(expected)}, got ${inspect(actual)}`.trim())
}

const expectContains = (text, part, about = "") => {
  if (typeof text !== "string" || !text.includes(part))
    throw new Error(`${about} expected ${inspect(part)} in ${text}`.trim())
}

/** With everything that hangs below it: clients keep status and code in many places. */
const describe = (error) => inspect(error, { depth: 8, maxStringLength: 4_000 })
