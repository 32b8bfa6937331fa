// @ts-check
// What capture costs on the turns of calls: off, on without opting in, and on for a call of 100 events with the hand-over of its
// body to a thread. Run: npm run bench:capture
import { performance } from "node:perf_hooks"
import { Worker } from "node:worker_threads"
import { importSources } from "../../lib/sources.mjs"

/** @type {typeof import("./sources.ts")} */
const { CaptureQueue, defaultSettings, usage } = await importSources(new URL("./sources.ts", import.meta.url))

const rounds = 7
const events = 100
const bodyBytes = 395_000
const project = /** @type {import("../../../src/domain/Ids.ts").ProjectId} */ ("00000000-0000-7000-8000-000000000001")
const window = {
  ...defaultSettings,
  enabled: true,
  projectId: project,
  configVersion: 1,
  salt: Buffer.alloc(16, 7),
  openedAt: new Date(0)
}
/** @typedef {import("../../../src/domain/CallObserver.ts").ObservedCall} ObservedCall */

const event = /** @type {const} */ ({ _tag: "Text", text: "some words of an answer " })
const end = /** @type {const} */ ({ _tag: "Finish", reason: "stop", native: "stop" })
const record = /** @type {import("../../../src/domain/Call.ts").CallRecord} */ (
  /** @type {unknown} */ ({ conversation: "00112233445566778899aabbccddeeff", usage: usage({}) })
)

/** @param {boolean} tokenDoctor @param {Uint8Array<ArrayBuffer>} [body] @returns {ObservedCall} */
const callOf = (tokenDoctor, body) =>
  /** @type {ObservedCall} */ (
    /** @type {unknown} */ ({
      caller: { projectId: project },
      request: { tokenDoctor, store: undefined, messages: [] },
      origin: "user",
      startedAtMillis: 1,
      body
    })
  )

/** @template A @param {A} value */
const constant = (value) => () => value

/** @param {boolean} enabled */
const queueOf = (enabled) =>
  new CaptureQueue({ peek: constant({ ...window, enabled }), lookUp: () => {}, added: () => {}, lost: () => {} })

/** The median of the rounds, in nanoseconds for one. @param {number} times @param {() => void} run */
const nanosOf = (times, run) => {
  const results = Array.from({ length: rounds }, () => {
    const started = performance.now()
    for (let at = 0; at < times; at++) run()
    return ((performance.now() - started) * 1e6) / times
  })
  return results.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0
}

/** @param {InstanceType<typeof CaptureQueue>} queue @param {ObservedCall} call */
const whole = (queue, call) => {
  const { admitted, chunk, settled } = queue.observer
  admitted?.(call)
  for (let at = 1; at < events; at++) chunk?.(call, event)
  chunk?.(call, end)
  settled?.(call, record)
}

/** @param {string} name @param {number} nanos @param {string} per */
const print = (name, nanos, per) =>
  console.log(
    `${name.padEnd(64)} ${nanos < 1_000 ? `${nanos.toFixed(1)} ns` : `${(nanos / 1_000).toFixed(2)} µs`} ${per}`
  )

const off = queueOf(false)
const on = queueOf(true)
const plain = callOf(false)
const opted = callOf(true)
for (let at = 0; at < 2_000; at++) {
  whole(on, opted)
  on.done(on.take(1))
  whole(off, opted)
  whole(on, plain)
}
print(
  "not opted in, admission",
  nanosOf(1_000_000, () => on.observer.admitted?.(plain)),
  "a call"
)
print(
  "not opted in, one event",
  nanosOf(1_000_000, () => on.observer.chunk?.(plain, event)),
  "an event"
)
print(
  "opted in, collection off: admission and settlement",
  nanosOf(1_000_000, () => {
    off.observer.admitted?.(opted)
    off.observer.settled?.(opted, record)
  }),
  "a call"
)
print(
  `taken: admission, ${events} events, settlement`,
  nanosOf(20_000, () => {
    whole(on, opted)
    on.done(on.take(1))
  }),
  "a call"
)

const thread = new Worker("require('node:worker_threads').parentPort.on('message', () => {})", { eval: true })
const times = 400
const bodies = Array.from({ length: times * rounds }, () => new Uint8Array(bodyBytes))
print(
  `hand-over of a body of ${bodyBytes / 1_000} KB to the thread`,
  nanosOf(times, () => {
    const body = bodies.pop()
    if (body !== undefined) thread.postMessage({ body }, [body.buffer])
  }),
  "a call"
)
await thread.terminate()
