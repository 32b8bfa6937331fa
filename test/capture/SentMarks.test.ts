import { expect, it } from "vitest"
import { maxMarkOf, sentMark } from "../../src/capture/SentMarks.ts"

it("a mark is what the provider was sent of it: none that is ignored, no hour where the time is ignored", () => {
  const sent = (...dropped: ReadonlyArray<string>) =>
    (["1h", "5m", null] as const).map((mark) => sentMark(mark, maxMarkOf(dropped)))
  expect(sent()).toEqual(["1h", "5m", null])
  expect(sent("user", "prompt_cache_key")).toEqual(["1h", "5m", null])
  expect(sent("cache_control.ttl")).toEqual(["5m", "5m", null])
  expect(sent("cache_control")).toEqual([null, null, null])
  expect(sent("messages.prompt_cache_breakpoint")).toEqual([null, null, null])
})
