import { setImmediate as nextTurn } from "node:timers/promises"
import { it } from "@effect/vitest"
import * as fc from "fast-check"
import { afterEach } from "vitest"

/**
 * A run says something of the change it was made for: properties see the same inputs in each. Others are looked for on purpose,
 * with `PROPERTY_SEED=random`, or again with the seed that a failure printed.
 */
const seed = process.env["PROPERTY_SEED"] ?? "20260101"
if (seed !== "random") fc.configureGlobal({ seed: Number(seed) })

/**
 * `layer` of @effect/vitest replaces the methods of the one `it` of a process: files that share the process would run their
 * tests with the layer of an earlier file, on its clock. Vitest runs this before each file.
 */
const key = Symbol.for("gateway/test/setup")
const known: unknown = Reflect.get(globalThis, key)
if (known === undefined) {
  const { effect, live, prop, scoped, scopedLive } = it
  Reflect.set(globalThis, key, { effect, live, prop, scoped, scopedLive })
} else if (typeof known === "object") Object.assign(it, known)

/**
 * Tests that wait for nothing follow each other within one turn of the event loop. After a minute of that, Vitest takes its
 * own process for dead, and fails a run in which every test has passed.
 */
afterEach(() => nextTurn())
