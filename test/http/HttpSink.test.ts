import { EventEmitter } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { describe, expect, it } from "vitest"
import { HttpSink, type StreamEncoder } from "../../src/http/HttpSink.ts"
import { VirtualTimers } from "../../src/testing/index.ts"
import { requestId } from "../provider/calls.ts"

/** What of node's response a sink uses. */
class Response extends EventEmitter {
  headersSent = false
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

const sinkWith = (encoder: Partial<StreamEncoder>) => {
  const response = new Response()
  const timers = VirtualTimers.make()
  const start = { requestId, createdSeconds: 0, model: "one/m" }
  const sink = new HttpSink({
    exchange: {
      requestId,
      request: new EventEmitter() as IncomingMessage,
      response: response as unknown as ServerResponse
    },
    timers,
    headers: {},
    headHoldMillis: 1_000,
    heartbeatMillis: 1_000,
    encoder: () => ({ event: () => true, complete: () => {}, fail: () => {}, ...encoder }),
    unanswered: start,
    abandon: () => {},
    keep: undefined
  })
  return { response, timers, sink, start }
}

const error = { type: "server_error", code: "internal_error", message: "x", param: null }

describe("a stream whose error cannot be written either", () => {
  it("is cut: no client takes that for a whole answer", () => {
    const { response, sink, start, timers } = sinkWith({ fail: throwing })
    sink.begin(start)
    sink.failWith(error)
    expect(response.state).toBe("destroyed")
    // nothing is left that would write to it
    while (timers.next()) {}
    expect(response.written).toBe("")
  })

  it("is ended as usual when it can", () => {
    const { response, sink, start } = sinkWith({})
    sink.begin(start)
    sink.failWith(error)
    expect(response.state).toBe("ended")
  })
})
