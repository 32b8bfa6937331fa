import { expect } from "@effect/vitest"
import * as Schema from "effect/Schema"
import OpenAI from "openai"
import type { ChatEvent, Finish } from "../../../src/domain/ChatEvent.ts"
import type { WireError } from "../../../src/wire/ErrorBody.ts"
import { ResponsesEvent } from "../../../src/wire/responses/ResponsesEventSchema.ts"
import { ResponsesStream } from "../../../src/wire/responses/ResponsesStream.ts"
import { decoded, head, metadata, someUsage } from "./ResponsesFixtures.ts"

export const stop: Finish = { _tag: "Finish", reason: "stop", native: "stop" }
export const error: WireError = {
  message: "The provider failed.",
  type: "provider_error",
  code: "stream_stalled",
  param: null
}
export const plain = decoded({})

export const framesOf = (events: ReadonlyArray<ChatEvent>, end: (stream: ResponsesStream) => void, request = plain) => {
  const frames: Array<string> = []
  const stream = new ResponsesStream(head, request, (frame) => {
    frames.push(frame)
    return true
  })
  for (const event of events) stream.event(event)
  end(stream)
  return frames
}

export const complete =
  (finish: Finish = stop) =>
  (stream: ResponsesStream) => {
    stream.complete(finish, someUsage, metadata)
  }
export const fail = (stream: ResponsesStream) => stream.fail(error)

export interface Frame {
  readonly [key: string]: unknown
  readonly type: string
}
export const parsed = (frames: ReadonlyArray<string>): ReadonlyArray<Frame> =>
  frames
    .filter((frame) => frame !== "data: [DONE]\n\n")
    .map((frame) => {
      const match = /^event: (\S+)\ndata: (.*)\n\n$/.exec(frame)
      const json: Frame = JSON.parse(match?.[2] ?? "null")
      expect(json.type).toBe(match?.[1])
      return json
    })
export const decodeEvent = Schema.decodeUnknownSync(ResponsesEvent, { onExcessProperty: "error" })
export const types = (frames: ReadonlyArray<string>) => parsed(frames).map((frame) => frame.type)

/** What the official client makes of the bytes when they arrive in pieces of these sizes. */
export const clientOf = (frames: ReadonlyArray<string>, sizes: ReadonlyArray<number> = []) => {
  const bytes = Buffer.from(frames.join(""))
  const client = new OpenAI({
    apiKey: "key",
    baseURL: "http://gateway.test/v1",
    maxRetries: 0,
    fetch: async () => {
      let at = 0
      let turn = 0
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          if (at >= bytes.length) return controller.close()
          const size = sizes.length === 0 ? bytes.length : (sizes[turn++ % sizes.length] ?? 1)
          controller.enqueue(new Uint8Array(bytes.subarray(at, at + size)))
          at += size
        }
      })
      return new globalThis.Response(body, { headers: { "content-type": "text/event-stream" } })
    }
  })
  return client.responses.stream({ model: "auto", input: "hi" })
}

export const text = (value: string): ChatEvent => ({ _tag: "Text", text: value })
export const think = (index: number, value: string, signature?: string): ChatEvent => ({
  _tag: "Reasoning",
  index,
  kind: "text",
  text: value,
  ...(signature === undefined ? {} : { signature })
})
export const call = (index: number, args: string, first = false): ChatEvent => ({
  _tag: "ToolCall",
  index,
  kind: "function",
  arguments: args,
  ...(first ? { id: `call_${index}`, name: `tool_${index}` } : {})
})
