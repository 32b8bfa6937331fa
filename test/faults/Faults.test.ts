// Promise: Never a silent truncation.
// Promise: Every fault is a complete response or an honest error.
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Avoided, type Course, catalogue, type End, type Row } from "./Catalogue.ts"
import type { VerdictRequest } from "./ClientVerdict.ts"
import { type Called, type FaultHarness, type Place, spare, startFaultHarness } from "./FaultHarness.ts"
import { fullText } from "./FaultServer.ts"

const endpoints = ["chat", "responses", "messages"] as const

interface Case {
  readonly row: Row
  readonly asked: VerdictRequest
  readonly course: Course
  readonly alone: Place
  readonly withOthers: Place
}

const cases: ReadonlyArray<Case> = catalogue.flatMap((row, index) =>
  endpoints.flatMap((endpoint) =>
    [true, false].flatMap((stream): ReadonlyArray<Case> => {
      const course = stream ? row.stream : row.plain
      if (course === null) return []
      const place = (use: string): Place => ({
        provider: `p${index}-${endpoint}-${stream ? "stream" : "plain"}-${use}`,
        fault: row.fault,
        atOrigin: row.atOrigin
      })
      return [
        { row, course, asked: { endpoint, stream, more: {} }, alone: place("alone"), withOthers: place("others") }
      ]
    })
  )
)

const nameOf = ({ asked, row }: Case): string =>
  `${row.number} ${row.name}: ${asked.endpoint}, ${asked.stream ? "stream" : "plain"}`

for (const timed of [false, true]) {
  const played = cases.filter(({ row }) => row.timed === timed)
  describe.concurrent(timed ? "faults in time" : "faults", () => {
    let harness: FaultHarness
    beforeAll(async () => {
      harness = await startFaultHarness(
        played.flatMap((each) => [each.alone, each.withOthers]),
        timed
      )
    })
    afterAll(async () => {
      const wrong = await harness.gateway.audit()
      const held = await harness.gateway.held()
      const elsewhere = harness.server.upstream.requests.filter(({ path }) => path === "/elsewhere").length
      await harness.stop()
      expect({ wrong, held, elsewhere }).toEqual({ wrong: [], held: 0, elsewhere: 0 })
    })

    for (const one of played) {
      it(nameOf(one), async () => {
        const { alone, asked, course, row, withOthers } = one
        const [first, other] = await Promise.all([harness.alone(alone, asked), harness.withOthers(withOthers, asked)])
        expectEnd(first, course.alone, asked)
        expect(first.settled.record.attempts.length).toBe(course.attempts)
        expectRescue(other, one)
        if (row.failures === 0) return
        await Promise.all(Array.from({ length: row.failures - 1 }, () => harness.alone(alone, asked)))
        let next = await harness.withOthers(alone, asked)
        for (let again = 0; row.isBrief && again < 10 && rankingOf(next, alone) !== row.avoided; again++) {
          await harness.alone(alone, asked)
          next = await harness.withOthers(alone, asked)
        }
        expect(rankingOf(next, alone)).toBe(row.avoided)
      })
    }
  })
}

const expectEnd = ({ seen, settled }: Called, end: End, asked: VerdictRequest): void => {
  const { record } = settled
  expect({ ends: seen.ends, code: seen.code }).toEqual({
    ends: end.ends,
    code: end.ends === "answered" ? null : end.code
  })
  const { isDone } = seen
  if (end.ends === "answered") {
    expect(seen.text).toBe(end.text)
    expect(isDone).toBe(asked.stream)
    expect(record.status).toBe("success")
    expect(record.error).toBeNull()
    expect(settled.state).toBe("settled")
    expect(record.cost.basis).toBe(end.basis)
    expect(record.cost.amount_microusd).toBeGreaterThanOrEqual(end.text === "" ? 0 : end.micros[0])
    expect(record.cost.amount_microusd).toBeLessThanOrEqual(end.micros[1])
    expect(record.cost.amount_microusd).toBeLessThanOrEqual(settled.hold.amount)
    return
  }
  expect(isDone).toBe(false)
  expect([record.status, record.error?.code]).toEqual([isTimeout(end.code) ? "timeout" : "error", end.code])
  if (end.atLimit === true) {
    expect([settled.state, settled.actual]).toEqual(["cancelled", record.cost.amount_microusd])
    expect(record.cost.amount_microusd).toBeLessThanOrEqual(settled.hold.amount)
  } else {
    expect([settled.state, settled.actual, record.cost.amount_microusd]).toEqual(["void", 0, 0])
    for (const attempt of record.attempts) expect(attempt.cost.amount_microusd).toBe(0)
  }
  if (end.ends === "broken") return
  expect(seen.status).toBe(end.status)
  const retryAfter = seen.headers.get("retry-after")
  const shouldRetry = seen.headers.get("x-should-retry")
  if (typeof end.retryAfter === "string") {
    expect([retryAfter, shouldRetry]).toEqual([null, end.retryAfter === "never" ? "false" : null])
  } else {
    expect(shouldRetry).toBeNull()
    expect(Number(retryAfter)).toBeGreaterThanOrEqual(end.retryAfter[0])
    expect(Number(retryAfter)).toBeLessThanOrEqual(end.retryAfter[1])
  }
}

const expectRescue = (called: Called, { asked, course, row }: Case): void => {
  if (course.withOthers === "same") {
    expectEnd(called, course.alone, asked)
    expect(called.settled.record.attempts.length).toBe(1)
    return
  }
  expect([called.seen.ends, called.seen.code]).toEqual(["answered", null])
  expect(called.seen.text).toBe(fullText)
  const { attempts, cost, status } = called.settled.record
  // an origin that cannot be reached costs the sibling its attempt too; who rejects a request may not be asked again
  expect(attempts.map((attempt) => attempt.status === "success")).toEqual(
    row.atOrigin ? [false, false, true] : [false, true]
  )
  expect([status, cost.amount_microusd, cost.basis]).toEqual(["success", 130, "charged"])
}

/** Whom the call that was ranked after the faults avoided. */
const rankingOf = ({ settled }: Called, { provider }: Place): Avoided => {
  const [first] = settled.record.pool.models
  return first === `${provider}/faulty` ? "nobody" : first === spare ? "provider" : "route"
}

const isTimeout = (code: string): boolean => code === "provider_timeout" || code === "stream_stalled"
