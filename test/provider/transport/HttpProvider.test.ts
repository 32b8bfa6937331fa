import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import * as OpenAiChat from "../../../src/provider/protocols/openai-chat/OpenAiChat.ts"
import { openAi } from "../../../src/provider/protocols/openai-chat/Quirks.ts"
import type { ResponseHeaders } from "../../../src/provider/protocols/shared/Protocol.ts"
import * as Auth from "../../../src/provider/transport/Auth.ts"
import * as Endpoint from "../../../src/provider/transport/Endpoint.ts"
import * as HttpProvider from "../../../src/provider/transport/HttpProvider.ts"
import type { AnswerHandler } from "../../../src/provider/transport/Transport.ts"
import { VirtualTimers } from "../../../src/testing/index.ts"
import { call, Recorder } from "../protocols/calls.ts"

/** A call over a connection on which the test itself answers. */
const opened = (options: { readonly stream?: boolean; readonly credential?: string } = {}) => {
  const timers = VirtualTimers.make()
  const handlers: Array<AnswerHandler> = []
  let closed = 0
  const provider = HttpProvider.make({
    id: "acme",
    protocol: OpenAiChat.make(openAi),
    endpoint: Endpoint.of("http://127.0.0.1/v1"),
    auth: options.credential === undefined ? Auth.none : Auth.bearer(Redacted.make(options.credential)),
    transport: {
      send: (_, handler) => {
        handlers.push(handler)
        return { pause: () => {}, resume: () => {}, close: () => closed++ }
      }
    },
    timers
  })
  const recorder = new Recorder()
  provider.open(call({ stream: options.stream ?? false }), recorder)
  const [handler] = handlers
  if (handler === undefined) throw new Error("nothing was sent")
  return {
    recorder,
    timers,
    closed: () => closed,
    head: (status: number, headers: ResponseHeaders = { "content-type": "application/json" }) =>
      handler.head(status, headers),
    data: (text: string) => handler.data(Buffer.from(text)),
    end: () => handler.end()
  }
}

const reasonOf = ({ recorder }: ReturnType<typeof opened>) => recorder.errors[0]?.reason

describe("a provider's error", () => {
  it("is read for two seconds at most, and is then what has come of it", () => {
    const answer = opened()
    answer.head(400)
    answer.data('{"error":')
    answer.timers.advance(1_999)
    expect(answer.recorder.outcome).toBe("open")
    answer.timers.advance(1)
    expect(answer.recorder.outcome).toBe("RequestRejected")
    expect(answer.closed()).toBe(1)
  })

  it("is read to 64 KiB at most", () => {
    const answer = opened()
    answer.head(500)
    answer.data("x".repeat(64 * 1024))
    expect(answer.recorder.outcome).toBe("open")
    answer.data("x")
    expect(reasonOf(answer)).toEqual({ _tag: "ServerError", status: 500 })
  })

  it("is told as it is where nothing of the credential is in it", () => {
    const answer = opened({ credential: "abcdefghijklmnopqrst" })
    answer.head(400)
    answer.data(JSON.stringify({ error: { message: "there is no tool by that name" } }))
    answer.end()
    expect(reasonOf(answer)).toMatchObject({ _tag: "RequestRejected", message: "there is no tool by that name" })
  })

  it.each([
    ["whole", "abcdefghijklmnopqrst"],
    ["in pieces", "abcdefghij klmnopqrst"],
    ["in part", "ghijklmnopqr"]
  ])("is not told with the credential in it, %s", (_, said) => {
    const answer = opened({ credential: "abcdefghijklmnopqrst" })
    answer.head(400)
    answer.data(JSON.stringify({ error: { message: `the key ${said} is not known` } }))
    answer.end()
    const reason = reasonOf(answer)
    expect(reason?._tag).toBe("RequestRejected")
    expect(JSON.stringify(reason).replace(/\s/g, "")).not.toContain(said.replace(/\s/g, "").slice(0, 10))
  })
})

describe("an answer", () => {
  it("that is encoded is none, because nobody has asked for that", () => {
    const answer = opened()
    answer.head(200, { "content-type": "application/json", "content-encoding": "gzip" })
    expect(reasonOf(answer)).toEqual({ _tag: "BadResponse", detail: "an encoded answer" })
  })

  it("of another content type is none", () => {
    const answer = opened()
    answer.head(200, { "content-type": "text/html" })
    expect(reasonOf(answer)).toEqual({ _tag: "BadResponse", detail: "an answer of another content type" })
  })

  it("of more than 32 MiB is none", () => {
    const answer = opened()
    const half = " ".repeat(16 * 1024 * 1024)
    answer.head(200)
    answer.data(half)
    answer.data(half)
    expect(answer.recorder.outcome).toBe("open")
    answer.data(" ")
    expect(answer.recorder.outcome).toBe("BadResponse")
    expect(answer.closed()).toBe(1)
  })
})

describe("a stream that is whole", () => {
  const whole = () => {
    const answer = opened({ stream: true })
    answer.head(200, { "content-type": "text/event-stream" })
    answer.data('data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
    expect(answer.recorder.outcome).toBe("ended")
    return answer
  }

  it("may take a second to end, so that its connection can be used again", () => {
    const answer = whole()
    answer.timers.advance(999)
    answer.end()
    answer.timers.advance(10_000)
    expect(answer.closed()).toBe(0)
  })

  it("is closed after a second", () => {
    const answer = whole()
    answer.timers.advance(999)
    expect(answer.closed()).toBe(0)
    answer.timers.advance(1)
    expect(answer.closed()).toBe(1)
  })
})
