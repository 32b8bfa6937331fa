import { expect, it } from "vitest"
import { Watch } from "../../src/gateway/Watch.ts"
import * as VirtualTimers from "../../src/testing/VirtualTimers.ts"

/** First content within 100 ms, silence of 20 ms, 1 s in all. */
const started = () => {
  const timers = VirtualTimers.make()
  const expired: Array<string> = []
  const watch = new Watch({
    timers,
    firstMillis: 100,
    late: { _tag: "FirstContentTimeout" },
    idleMillis: 20,
    endsAtMillis: timers.now() + 1_000,
    expire: ({ _tag }) => {
      expired.push(_tag)
      watch.stop()
    }
  })
  watch.start()
  return { timers, watch, expired }
}

it("before the first byte only the first deadline and the end count, each to the millisecond", () => {
  const { timers, expired } = started()
  timers.advance(99)
  expect(expired).toEqual([])
  timers.advance(1)
  expect(expired).toEqual(["FirstContentTimeout"])
  expect(timers.pending()).toBe(0)
})

it("silence is measured from the last mark", () => {
  const { timers, watch, expired } = started()
  timers.advance(15)
  watch.mark()
  timers.advance(15)
  watch.mark()
  timers.advance(19)
  expect(expired).toEqual([])
  timers.advance(1)
  expect(expired).toEqual(["Stalled"])
})

it("marks do not put off the first deadline", () => {
  const { timers, watch, expired } = started()
  for (let n = 0; n < 20 && expired.length === 0; n++) {
    watch.mark()
    timers.advance(10)
  }
  expect(expired).toEqual(["FirstContentTimeout"])
})

it("what is held back is not silent, and after it silence counts at once, however long it lasted", () => {
  const { timers, watch, expired } = started()
  watch.mark()
  watch.pause()
  timers.advance(500)
  expect(expired).toEqual([])
  watch.resume()
  timers.advance(19)
  expect(expired).toEqual([])
  timers.advance(1)
  expect(expired).toEqual(["Stalled"])
})

it("the end of the call comes over all of it, also while it is held back", () => {
  const { timers, watch, expired } = started()
  watch.pause()
  timers.advance(999)
  expect(expired).toEqual([])
  timers.advance(1)
  expect(expired).toEqual(["RequestTimeout"])
})

it("has one timer, and none once it is stopped", () => {
  const { timers, watch } = started()
  watch.mark()
  watch.pause()
  watch.resume()
  expect(timers.pending()).toBe(1)
  watch.stop()
  expect(timers.pending()).toBe(0)
  watch.start()
  watch.resume()
  expect(timers.pending()).toBe(0)
})
