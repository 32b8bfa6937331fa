import { expect, it } from "vitest"
import { AttemptDeadlines } from "../../src/gateway/AttemptDeadlines.ts"
import * as VirtualTimers from "../../src/testing/doubles/VirtualTimers.ts"

/** First content within 100 ms, silence of 20 ms, 1 s in all. */
const started = () => {
  const timers = VirtualTimers.make()
  const expired: Array<string> = []
  const deadlines = new AttemptDeadlines({
    timers,
    firstMillis: 100,
    late: { _tag: "FirstContentTimeout" },
    idleMillis: 20,
    endsAtMillis: timers.now() + 1_000,
    expire: ({ _tag }) => {
      expired.push(_tag)
      deadlines.stop()
    }
  })
  deadlines.start()
  return { timers, deadlines, expired }
}

it("before the first byte only the first deadline and the end count, each to the millisecond", () => {
  const { timers, expired } = started()
  timers.advance(99)
  expect(expired).toEqual([])
  timers.advance(1)
  expect(expired).toEqual(["FirstContentTimeout"])
  expect(timers.pending()).toBe(0)
})

it("silence is measured from the last activity", () => {
  const { timers, deadlines, expired } = started()
  timers.advance(15)
  deadlines.mark()
  timers.advance(15)
  deadlines.mark()
  timers.advance(19)
  expect(expired).toEqual([])
  timers.advance(1)
  expect(expired).toEqual(["Stalled"])
})

it("activity does not put off the first deadline", () => {
  const { timers, deadlines, expired } = started()
  for (let n = 0; n < 20 && expired.length === 0; n++) {
    deadlines.mark()
    timers.advance(10)
  }
  expect(expired).toEqual(["FirstContentTimeout"])
})

it("a response that is held back is not silent, and silence counts again from when it goes on", () => {
  const { timers, deadlines, expired } = started()
  deadlines.mark()
  deadlines.pause()
  timers.advance(500)
  expect(expired).toEqual([])
  deadlines.resume()
  timers.advance(19)
  expect(expired).toEqual([])
  timers.advance(1)
  expect(expired).toEqual(["Stalled"])
})

it("the end of the call counts also while a response is held back", () => {
  const { timers, deadlines, expired } = started()
  deadlines.pause()
  timers.advance(999)
  expect(expired).toEqual([])
  timers.advance(1)
  expect(expired).toEqual(["RequestTimeout"])
})

it("the deadlines of an attempt need one timer, and none once they are stopped", () => {
  const { timers, deadlines } = started()
  deadlines.mark()
  deadlines.pause()
  deadlines.resume()
  expect(timers.pending()).toBe(1)
  // the check is put off to the end of the call here, and brought forward again
  deadlines.pause()
  timers.advance(500)
  deadlines.resume()
  expect(timers.pending()).toBe(1)
  deadlines.stop()
  expect(timers.pending()).toBe(0)
  deadlines.start()
  deadlines.resume()
  expect(timers.pending()).toBe(0)
})
