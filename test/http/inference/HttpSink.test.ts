import { EventEmitter } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { describe, expect, it } from "vitest"
import { usage } from "../../../src/domain/Usage.ts"
import { HttpSink, type HttpSinkOptions } from "../../../src/http/inference/HttpSink.ts"
import type { StreamEncoder } from "../../../src/http/inference/StreamSink.ts"
import { openAiFormat } from "../../../src/http/WireFormat.ts"
import { VirtualTimers } from "../../../src/testing/index.ts"
import { requestId } from "../../provider/protocols/calls.ts"
import { metadata } from "../../wire/responses/ResponsesFixtures.ts"

/** What of node's response a sink uses. */
class Response extends EventEmitter {
  headersSent = false
  closed = false
  written = ""
  state: "open" | "ended" | "destroyed" = "open"

  writeHead(): void {
    this.headersSent = true
  }
  write(text: string): boolean {
    this.written += text
    return true
  }
  end(): void {
    this.state = "ended"
  }
  destroy(): void {
    this.state = "destroyed"
  }
}

const throwing = () => {
  throw new Error("boom")
}

const sinkWith = (
  encoder: Partial<StreamEncoder>,
  more: Partial<Pick<HttpSinkOptions, "abandon" | "isKept">> = {},
  response = new Response()
) => {
  const timers = VirtualTimers.make()
  const start = { requestId, createdSeconds: 0, model: "one/m" }
  const sink = new HttpSink({
    exchange: {
      requestId,
      format: openAiFormat,
      request: new EventEmitter() as IncomingMessage,
      response: response as unknown as ServerResponse
    },
    timers,
    headers: {},
    headHoldMillis: 1_000,
    heartbeatMillis: 1_000,
    heartbeat: ": keep-alive\n\n",
    encoder: (_, write) => ({
      event: (event) => (event._tag === "Text" ? write(event.text) : true),
      complete: () => void write("whole"),
      fail: () => void write("failed"),
      ...encoder
    }),
    startBeforeResponse: start,
    abandon: () => {},
    isKept: false,
    ...more
  })
  return { response, timers, sink, start }
}

const error = { type: "server_error", code: "internal_error", message: "x", param: null }

describe("a stream whose error cannot be written either", () => {
  it("is cut: no client takes that for a complete response", () => {
    const { response, sink, start, timers } = sinkWith({ fail: throwing })
    sink.begin(start)
    sink.failWith(error)
    expect(response.state).toBe("destroyed")
    // nothing is left that would write to it
    while (timers.next()) {}
    expect(response.written).toBe("")
  })

  it("is ended in good order when it can", () => {
    const { response, sink, start } = sinkWith({})
    sink.begin(start)
    sink.failWith(error)
    expect(response.state).toBe("ended")
    expect(response.written).toBe("failed")
  })
})

const text = (value: string) => ({ _tag: "Text", text: value }) as const
const heartbeat = ": keep-alive\n\n"

describe("heartbeats", () => {
  it("come when nothing else has been written for their time, and not between chunks", () => {
    const { response, sink, start, timers } = sinkWith({})
    sink.begin(start)
    for (let n = 0; n < 5; n++) {
      timers.advance(900)
      sink.event(text("."))
    }
    expect(response.written).toBe(".....")
    timers.advance(999)
    expect(response.written).toBe(".....")
    timers.advance(1)
    expect(response.written).toBe(`.....${heartbeat}`)
    timers.advance(1_000)
    expect(response.written).toBe(`.....${heartbeat}${heartbeat}`)
  })

  it("end with the answer", () => {
    const { response, sink, start, timers } = sinkWith({})
    sink.begin(start)
    sink.failWith(error)
    timers.advance(10_000)
    expect(response.written).toBe("failed")
    expect(timers.pending()).toBe(0)
  })
})

describe("a reader", () => {
  const slow = () => {
    const abandoned: Array<number> = []
    const { response, sink, start, timers } = sinkWith({}, { abandon: () => abandoned.push(timers.now()) })
    let resumed = 0
    sink.begin(start)
    sink.drained(() => resumed++)
    return { abandoned, resumed: () => resumed, response, timers }
  }

  it("that takes nothing for a minute is given up", () => {
    const { abandoned, timers } = slow()
    timers.advance(59_999)
    expect(abandoned).toHaveLength(0)
    timers.advance(1)
    expect(abandoned).toHaveLength(1)
  })

  it("that goes on within a minute is not, then or later", () => {
    const { abandoned, response, resumed, timers } = slow()
    timers.advance(59_999)
    response.emit("drain")
    timers.advance(600_000)
    expect(resumed()).toBe(1)
    expect(abandoned).toHaveLength(0)
  })
})

describe("a stream that has ended", () => {
  it("is not ended again with an error", () => {
    const { response, sink, start } = sinkWith({})
    sink.begin(start)
    sink.failWith(error)
    sink.failWith(error)
    expect(response.written).toBe("failed")
  })
})

describe("a stream that is kept for a repetition", () => {
  const finish = { _tag: "Finish", reason: "stop", native: "stop" } as const

  it("is kept whole, but for its heartbeats, and ends for the client when it is delivered", () => {
    const { response, sink, start, timers } = sinkWith({}, { isKept: true })
    sink.begin(start)
    sink.event(text("a"))
    timers.advance(5_000)
    sink.event(text("b"))
    expect(sink.kept).toBeUndefined()
    sink.complete(finish, usage({}), metadata)
    expect(sink.kept).toBe("abwhole")
    expect(response.written).not.toContain("whole")
    expect(response.state).toBe("open")
    sink.deliver()
    expect(response.written.endsWith("bwhole")).toBe(true)
    expect(response.state).toBe("ended")
  })

  it("is kept with the failure of its provider, but not with the shutdown of this node", () => {
    const failing = (code: string) => {
      const { sink, start } = sinkWith({}, { isKept: true })
      sink.begin(start)
      sink.event(text("a"))
      sink.fail({ code, message: null })
      return sink.kept
    }
    expect(failing("provider_disconnected")).toBe("afailed")
    expect(failing("server_shutdown")).toBeUndefined()
  })

  it("is not kept when it is too long", () => {
    const { sink, start } = sinkWith({}, { isKept: true })
    sink.begin(start)
    sink.event(text("a".repeat(1024 * 1024)))
    sink.complete(finish, usage({}), metadata)
    expect(sink.kept).toBeUndefined()
    sink.deliver()
  })

  it("ends with an error, and nothing else of its end, where that could not be written", () => {
    const { response, sink, start } = sinkWith({ complete: throwing }, { isKept: true })
    sink.begin(start)
    expect(() => sink.complete(finish, usage({}), metadata)).toThrow()
    sink.deliver()
    expect(response.state).toBe("open")
    sink.failWith(error)
    sink.deliver()
    expect(response.written).toBe("failed")
    expect(response.state).toBe("ended")
  })

  it("goes on at full speed when its client had left before it was begun, and is kept whole", () => {
    const response = new Response()
    response.closed = true
    const { sink, start, timers } = sinkWith({}, { isKept: true }, response)
    let resumed = 0
    sink.begin(start)
    expect(sink.event(text("a"))).toBe(true)
    sink.drained(() => resumed++)
    expect(resumed).toBe(1)
    sink.complete(finish, usage({}), metadata)
    expect(sink.kept).toBe("awhole")
    sink.deliver()
    while (timers.next()) {}
    expect([response.written, response.headersSent, response.state]).toEqual(["", false, "open"])
  })

  it("goes on at full speed when its client has left, and is kept whole", () => {
    const { response, sink, start, timers } = sinkWith({}, { isKept: true })
    let resumed = 0
    sink.begin(start)
    sink.event(text("a"))
    sink.drained(() => resumed++)
    response.emit("close")
    expect(resumed).toBe(1)
    expect(sink.event(text("b"))).toBe(true)
    sink.drained(() => resumed++)
    expect(resumed).toBe(2)
    while (timers.next()) {}
    sink.complete(finish, usage({}), metadata)
    sink.deliver()
    expect(response.written).toBe("a")
    expect(sink.kept).toBe("abwhole")
  })
})
