import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import * as OpenAiChat from "../../../src/provider/protocols/openai-chat/OpenAiChat.ts"
import { openAi } from "../../../src/provider/protocols/openai-chat/Quirks.ts"
import type { ResponseHeaders } from "../../../src/provider/protocols/shared/Protocol.ts"
import * as Auth from "../../../src/provider/transport/Auth.ts"
import * as Endpoint from "../../../src/provider/transport/Endpoint.ts"
import * as HttpProvider from "../../../src/provider/transport/HttpProvider.ts"
import { maxResponseBytes } from "../../../src/provider/transport/ResponseSize.ts"
import type { AnswerHandler } from "../../../src/provider/transport/Transport.ts"
import { VirtualTimers } from "../../../src/testing/index.ts"
import { call, Recorder } from "../protocols/calls.ts"

/** A call over a connection on which the test itself answers. */
const opened = (
  options: { readonly stream?: boolean; readonly credential?: string; readonly recorder?: Recorder } = {}
) => {
  const timers = VirtualTimers.make()
  const handlers: Array<AnswerHandler> = []
  const defects: Array<unknown> = []
  let closed = 0
  const provider = HttpProvider.make({
    id: "acme",
    protocol: OpenAiChat.make(openAi),
    endpoint: Endpoint.of("http://127.0.0.1/v1"),
    auth: options.credential === undefined ? Auth.none : Auth.bearer(Redacted.make(options.credential)),
    transport: {
      send: (_, handler) => {
        handlers.push(handler)
        return { pause: () => {}, resume: () => {}, close: () => closed++, wasSent: () => true }
      }
    },
    timers,
    reportDefect: (defect, { requestId }) => defects.push([defect, requestId])
  })
  const recorder = options.recorder ?? new Recorder()
  provider.open(call({ stream: options.stream ?? false }), recorder)
  const [handler] = handlers
  if (handler === undefined) throw new Error("nothing was sent")
  return {
    recorder,
    timers,
    defects,
    closed: () => closed,
    head: (status: number, headers: ResponseHeaders = { "content-type": "application/json" }) =>
      handler.head(status, headers),
    data: (text: string) => handler.data(Buffer.from(text)),
    bytes: (bytes: Buffer) => handler.data(bytes),
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

describe("an error within an answer", () => {
  const refusal = (credential: string, isStream: boolean, error: object) => {
    const answer = opened({ credential, stream: isStream })
    answer.head(200, { "content-type": isStream ? "text/event-stream" : "application/json" })
    const text = JSON.stringify({ error: { ...error, code: 400, type: "invalid_request_error" } })
    answer.data(isStream ? `data: ${text}\n\n` : text)
    if (answer.recorder.outcome === "open") answer.end()
    return reasonOf(answer)
  }

  it.each(["sk-1234", 'pa"s\\wrd', "abcdefghijklmnopqrst"])(
    "is not told with the credential %s in it",
    (credential) => {
      for (const isStream of [true, false]) {
        const reason = refusal(credential, isStream, {
          message: `the key ${credential} is not known`,
          param: credential
        })
        expect(reason).toEqual({ _tag: "RequestRejected", message: "the key [redacted] is not known", param: null })
      }
    }
  )

  it("is told as it is where nothing of the credential is in it", () => {
    for (const isStream of [true, false]) {
      const reason = refusal("sk-1234", isStream, { message: "there is no tool by that name", param: "tools[0]" })
      expect(reason).toEqual({ _tag: "RequestRejected", message: "there is no tool by that name", param: "tools[0]" })
    }
  })
})

describe("an answer", () => {
  it("that is encoded is none, because nobody has asked for that", () => {
    const answer = opened()
    answer.head(200, { "content-type": "application/json", "content-encoding": "gzip" })
    expect(reasonOf(answer)).toEqual({ _tag: "BadResponse", detail: "an encoded answer" })
  })

  it("that is neither JSON nor a stream is none", () => {
    for (const stream of [true, false]) {
      const answer = opened({ stream })
      answer.head(200, { "content-type": "text/html" })
      answer.data(" \n<html>")
      expect(reasonOf(answer)).toEqual({ _tag: "BadResponse", detail: "an answer that is neither JSON nor a stream" })
      const empty = opened({ stream })
      empty.head(200, { "content-type": "text/html" })
      empty.end()
      expect(reasonOf(empty)?._tag).toBe("BadResponse")
    }
  })

  const json = '{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}'
  const events = 'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
  it.each(["application/json", "text/event-stream", "text/plain", "application/octet-stream", ""])(
    "is what it begins with, also as %s, behind white space and a byte order mark, in any pieces",
    (type) => {
      for (const stream of [true, false]) {
        for (const body of [json, events]) {
          for (const lead of ["", "\ufeff", "\r\n", "\ufeff \n"]) {
            const bytes = Buffer.from(lead + body)
            for (const size of [1, 2, 7, bytes.length]) {
              const answer = opened({ stream })
              answer.head(200, type === "" ? {} : { "content-type": type })
              for (let at = 0; at < bytes.length; at += size) answer.bytes(bytes.subarray(at, at + size))
              if (answer.recorder.outcome === "open") answer.end()
              expect([type, stream, lead, size, answer.recorder.outcome, answer.recorder.text]).toEqual([
                type,
                stream,
                lead,
                size,
                "ended",
                "hi"
              ])
            }
          }
        }
      }
    }
  )

  it.each(["application/json", "text/event-stream", "text/plain"])("that is not UTF-8 is none, as %s", (type) => {
    for (const body of [json, events]) {
      const answer = opened({ stream: body === events })
      const invalid = Buffer.from(body)
      invalid[invalid.indexOf('"hi"') + 1] = 0xff
      answer.head(200, { "content-type": type })
      answer.bytes(invalid)
      if (answer.recorder.outcome === "open") answer.end()
      expect([answer.recorder.outcome, answer.recorder.text]).toEqual(["BadResponse", ""])
    }
  })

  it("is whole where the reads cut its characters", () => {
    for (const body of [json, events]) {
      const bytes = Buffer.from(body.replace('"hi"', '"ü€😀\ufffd"'))
      for (const size of [1, 2, 3]) {
        const answer = opened({ stream: body === events })
        answer.head(200)
        for (let at = 0; at < bytes.length; at += size) answer.bytes(bytes.subarray(at, at + size))
        if (answer.recorder.outcome === "open") answer.end()
        expect([answer.recorder.outcome, answer.recorder.text]).toEqual(["ended", "ü€😀\ufffd"])
      }
    }
  })

  it("of more than 32 MiB is none", () => {
    const answer = opened()
    const half = " ".repeat(16 * 1024 * 1024)
    answer.head(200)
    answer.data(half)
    answer.data(half)
    expect(answer.recorder.outcome).toBe("open")
    answer.data(" ")
    expect(answer.recorder.outcome).toBe("ResponseTooLarge")
    expect(answer.closed()).toBe(1)
  })
})

describe("the size of an answer", () => {
  const maxBytes = (maxOutputTokens: number, asked: Parameters<typeof call>[0]) =>
    maxResponseBytes(call(asked, { maxOutputTokens }))

  it("that its output cap explains is never too large, with every log probability that can be asked for", () => {
    const logprobs = { stream: true, logprobs: true, topLogprobs: 20 }
    for (const cap of [100, 16_609, 64_000, 128_000]) {
      expect(maxBytes(cap, logprobs)).toBeGreaterThan(2 * 2_020 * cap)
      expect(maxBytes(cap, { stream: true })).toBeGreaterThan(500 * cap)
      expect(maxBytes(cap, { stream: true, modalities: ["text", "audio"] })).toBeGreaterThan(3_200 * cap)
    }
    expect(maxBytes(64_000, { ...logprobs, stream: false })).toBeGreaterThan(2_020 * 64_000)
  })

  it("has a bound, whatever the cap", () => {
    const logprobs = { logprobs: true, topLogprobs: 20 }
    expect(maxBytes(Number.MAX_SAFE_INTEGER, { ...logprobs, stream: true })).toBe(2 ** 32)
    expect(maxBytes(Number.MAX_SAFE_INTEGER, { ...logprobs, stream: false })).toBe(2 ** 28)
    expect(maxBytes(1, { ...logprobs, stream: true })).toBe(2 ** 25)
  })

  it("is that of a stream too, whose events so far are delivered", () => {
    const answer = opened({ stream: true })
    answer.head(200, { "content-type": "text/event-stream" })
    answer.data('data: {"choices":[{"delta":{"content":"hi"}}]}\n\n')
    const comment = `: ${" ".repeat(1024 * 1024 - 4)}\n\n`
    for (let sent = 0; sent < 31; sent++) answer.data(comment)
    expect(answer.recorder.outcome).toBe("open")
    answer.data(comment)
    expect(answer.recorder).toMatchObject({ outcome: "ResponseTooLarge", text: "hi" })
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

describe("an answer at which its reader throws", () => {
  it("fails its call, and what was thrown is reported with the call", () => {
    const thrown = new TypeError("not foreseen")
    class Throwing extends Recorder {
      override readonly event = (): never => {
        throw thrown
      }
    }
    const answer = opened({ recorder: new Throwing() })
    answer.head(200)
    answer.data(`{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]}`)
    answer.end()
    expect(answer.defects).toEqual([[thrown, call({}).requestId]])
    expect(reasonOf(answer)).toMatchObject({ _tag: "BadResponse" })
  })
})
