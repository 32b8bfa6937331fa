import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { describe, expect, it } from "vitest"
import type { ChatEvent } from "../../../src/domain/ChatEvent.ts"
import { ProviderError } from "../../../src/domain/ProviderError.ts"
import * as StreamProvider from "../../../src/provider/StreamProvider.ts"
import * as Scripted from "../../../src/testing/doubles/ScriptedProvider.ts"
import * as VirtualTimers from "../../../src/testing/doubles/VirtualTimers.ts"
import { call, open } from "../../provider/protocols/calls.ts"

describe("a scripted provider", () => {
  const playing = (script: Scripted.Script) => {
    const timers = VirtualTimers.make(0)
    const provider = Scripted.make({ id: "acme", timers, script: Scripted.inTurn(script) })
    return { timers, provider, ...open(provider, call()) }
  }

  it("plays its steps in their time", () => {
    const { timers, recorder } = playing([Scripted.text("a"), Scripted.wait(100), ...Scripted.answer("b")])
    timers.advance(99)
    expect([recorder.text, recorder.outcome]).toEqual(["a", "open"])
    timers.advance(1)
    expect([recorder.text, recorder.outcome]).toEqual(["ab", "ended"])
  })

  it("fails as told, hangs as told, and is cut off when its script runs out", () => {
    for (const [script, outcome] of [
      [[Scripted.fail({ _tag: "ModelGone" })], "ModelGone"],
      [[Scripted.text("a"), Scripted.hang, Scripted.end], "open"],
      [[Scripted.text("a")], "Disconnected"]
    ] as const) {
      const { timers, recorder } = playing(script)
      timers.runAll()
      expect(recorder.outcome).toBe(outcome)
    }
  })

  it("is silent after close, holds still while paused, and records both", () => {
    const { timers, recorder, provider, upstream } = playing([
      Scripted.text("a"),
      Scripted.wait(10),
      ...Scripted.answer("b")
    ])
    timers.advance(0)
    upstream.pause()
    timers.advance(1000)
    expect(recorder.text).toBe("a")
    upstream.resume()
    expect(recorder.text).toBe("a")
    upstream.close()
    upstream.close()
    timers.runAll()
    const [recorded] = provider.calls
    expect([
      recorder.text,
      recorder.outcome,
      recorded?.state(),
      recorded?.pauses(),
      recorded?.closedAtMillis()
    ]).toEqual(["a", "open", "closed", 1, 1000])
    expect(provider.running()).toBe(0)
  })

  it("gives each call in turn its script, the last one forever", () => {
    const timers = VirtualTimers.make(0)
    const script = Scripted.inTurn([Scripted.fail({ _tag: "Disconnected" })], Scripted.answer("ok"))
    const provider = Scripted.make({ id: "acme", timers, script })
    const outcomes = [0, 1, 2].map(() => {
      const { recorder } = open(provider, call())
      timers.runAll()
      return recorder.outcome
    })
    expect(outcomes).toEqual(["Disconnected", "ended", "ended"])
  })
})

describe("a provider written as a stream", () => {
  const finish: ChatEvent = { _tag: "Finish", reason: "stop", native: "stop" }
  const text = (value: string): ChatEvent => ({ _tag: "Text", text: value })

  const run = async <E>(stream: Stream.Stream<ChatEvent, E>) => {
    const provider = await Effect.runPromise(StreamProvider.make("mine", () => stream))
    return open(provider, call())
  }

  it("delivers its events, and its end is whole only after a finish", async () => {
    const whole = (await run(Stream.make(text("a"), text("b"), finish))).recorder
    await whole.over
    expect([whole.text, whole.outcome, whole.activities]).toEqual(["ab", "ended", 3])
    const cut = (await run(Stream.make(text("a")))).recorder
    await cut.over
    expect([cut.text, cut.outcome]).toEqual(["a", "Disconnected"])
  })

  it("passes its error on as it is; any other error and a defect keep their cause", async () => {
    const error = new ProviderError({ providerId: "mine", reason: { _tag: "QuotaExhausted" } })
    const failed = (await run(Stream.fail(error))).recorder
    await failed.over
    expect(failed.errors).toEqual([error])
    for (const stream of [Stream.die("bug"), Stream.fail("bug")]) {
      const { recorder } = await run(stream)
      await recorder.over
      expect(recorder.errors.map(({ cause, facts, reason }) => [reason._tag, cause, facts.mayFallBack])).toEqual([
        ["Failed", "bug", true]
      ])
    }
  })

  it("close interrupts the stream and silences it", async () => {
    const interrupted = Deferred.unsafeMake<void>(await Effect.runPromise(Effect.fiberId))
    const stream = Stream.make(text("a")).pipe(
      Stream.concat(Stream.never),
      Stream.ensuring(Deferred.succeed(interrupted, undefined))
    )
    const { recorder, upstream } = await run(stream)
    await recorder.until((r) => r.events.length === 1)
    upstream.close()
    await Effect.runPromise(Deferred.await(interrupted))
    expect([recorder.text, recorder.outcome]).toEqual(["a", "open"])
  })

  it("a paused reader holds the stream back", async () => {
    let made = 0
    const stream = Stream.repeatEffect(Effect.sync(() => text(String(made++))))
    const { recorder, upstream } = await run(stream)
    await recorder.until((r) => r.events.length > 3)
    upstream.pause()
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    const held = recorder.events.length
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(recorder.events.length).toBe(held)
    upstream.resume()
    await recorder.until((r) => r.events.length > held)
    upstream.close()
  })
})
