import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import OpenAI from "openai"
import { type ChatEvent, type Finished, finishReasons } from "../../src/domain/ChatEvent.ts"
import type { WireError } from "../../src/wire/ErrorBody.ts"
import { isObject } from "../../src/wire/Guard.ts"
import { ResponsesEvent } from "../../src/wire/ResponsesEventSchema.ts"
import { responseObject } from "../../src/wire/ResponsesObject.ts"
import { OutputItem } from "../../src/wire/ResponsesObjectSchema.ts"
import { recover } from "../../src/wire/ResponsesReasoning.ts"
import { ResponsesStream } from "../../src/wire/ResponsesStream.ts"
import { answerOf, decoded, head, idHex, metadata, someUsage } from "./ResponsesFixtures.ts"

const stop: Finished = { _tag: "Finish", reason: "stop", native: "stop" }
const error: WireError = {
  message: "The provider failed.",
  type: "provider_error",
  code: "stream_stalled",
  param: null
}
const plain = decoded({})

const framesOf = (events: ReadonlyArray<ChatEvent>, end: (stream: ResponsesStream) => void, request = plain) => {
  const frames: Array<string> = []
  const stream = new ResponsesStream(head, request, (frame) => {
    frames.push(frame)
    return true
  })
  for (const event of events) stream.event(event)
  end(stream)
  return frames
}

const complete =
  (finish: Finished = stop) =>
  (stream: ResponsesStream) => {
    stream.complete(finish, someUsage, metadata)
  }
const fail = (stream: ResponsesStream) => stream.fail(error)

interface Frame {
  readonly [key: string]: unknown
  readonly type: string
}
const parsed = (frames: ReadonlyArray<string>): ReadonlyArray<Frame> =>
  frames
    .filter((frame) => frame !== "data: [DONE]\n\n")
    .map((frame) => {
      const match = /^event: (\S+)\ndata: (.*)\n\n$/.exec(frame)
      const json: Frame = JSON.parse(match?.[2] ?? "null")
      expect(json.type).toBe(match?.[1])
      return json
    })
const decodeEvent = Schema.decodeUnknownSync(ResponsesEvent, { onExcessProperty: "error" })
const types = (frames: ReadonlyArray<string>) => parsed(frames).map((frame) => frame.type)

/** What the official client makes of the bytes when they arrive in pieces of these sizes. */
const clientOf = (frames: ReadonlyArray<string>, sizes: ReadonlyArray<number> = []) => {
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

const text = (value: string): ChatEvent => ({ _tag: "Text", text: value })
const think = (index: number, value: string, signature?: string): ChatEvent => ({
  _tag: "Reasoning",
  index,
  kind: "text",
  text: value,
  ...(signature === undefined ? {} : { signature })
})
const call = (index: number, args: string, first = false): ChatEvent => ({
  _tag: "ToolCall",
  index,
  kind: "function",
  arguments: args,
  ...(first ? { id: `call_${index}`, name: `tool_${index}` } : {})
})

describe("the sequence of a whole answer", () => {
  it("tells thoughts, text and a call each from added to done, in order", () => {
    const events = [think(0, "hm"), text("Hel"), text("lo"), call(0, "", true), call(0, "{}")]
    expect(types(framesOf(events, complete()))).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.reasoning_summary_part.added",
      "response.reasoning_summary_text.delta",
      "response.reasoning_summary_text.done",
      "response.reasoning_summary_part.done",
      "response.output_item.done",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.completed"
    ])
  })
})

describe("what no sequence of events can break", () => {
  const logprob = (token: string) => ({ token, logprob: -0.5, bytes: [...Buffer.from(token)], top_logprobs: [] })
  const piece = fc.oneof(
    fc.constant(""),
    fc.constantFrom("a", "ß", "\n\n", "data: [DONE]", "😀", "\u2028"),
    fc.string()
  )
  const message = fc.oneof(
    piece.map(text),
    piece.map((value): ChatEvent => ({ _tag: "Text", text: value, logprobs: value === "" ? [] : [logprob(value)] })),
    piece.map((value): ChatEvent => ({ _tag: "Refusal", text: value })),
    fc.constant<ChatEvent>({
      _tag: "Annotation",
      annotation: { type: "url_citation", url_citation: { url: "https://x", title: "x", start_index: 0, end_index: 1 } }
    })
  )
  const aside = fc.constantFrom<ChatEvent>(
    { _tag: "Served", serviceTier: "flex", model: "large-1" },
    { _tag: "Usage", usage: someUsage },
    { _tag: "Audio", audio: { id: "a" } },
    { _tag: "Annotation", annotation: { type: "other" } }
  )
  const block = (index: number) =>
    fc
      .record({
        kind: fc.constantFrom("text" as const, "summary" as const, "encrypted" as const),
        pieces: fc.array(fc.record({ text: piece, signature: fc.option(fc.string(), { nil: undefined }) }), {
          maxLength: 4
        })
      })
      .map(({ kind, pieces }) =>
        pieces.map(
          ({ signature, text }, at): ChatEvent => ({
            _tag: "Reasoning",
            index,
            kind,
            text,
            ...(signature === undefined ? {} : { signature }),
            ...(at === 0 ? { id: `block_${index}` } : {})
          })
        )
      )
  const toolCall = (index: number) =>
    fc
      .record({
        kind: fc.constantFrom("function" as const, "custom" as const),
        name: fc.constantFrom("f", "mail__send", "patch"),
        id: fc.constantFrom(`call_${index}`, "same", ""),
        pieces: fc.array(piece, { minLength: 1, maxLength: 4 }),
        extra: fc.boolean()
      })
      .map(({ extra, id, kind, name, pieces }) =>
        pieces.map(
          (args, at): ChatEvent => ({
            _tag: "ToolCall",
            index,
            kind,
            arguments: args,
            ...(at === 0 ? { id, name } : {}),
            ...(at === 0 && extra ? { extraContent: { signature: "s" } } : {})
          })
        )
      )
  const several = (make: (index: number) => fc.Arbitrary<ReadonlyArray<ChatEvent>>) =>
    fc.nat(3).chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => make(index))))
  const finish = fc
    .constantFrom(...finishReasons)
    .map((reason): Finished => ({ _tag: "Finish", reason, native: reason }))
  const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 5 })

  /** Blocks one after the other, then what is said, then the calls. */
  const orderly = fc
    .tuple(several(block), fc.array(fc.oneof(message, aside), { maxLength: 6 }), several(toolCall))
    .map(([thoughts, said, calls]) => ({ threads: [...thoughts, said, ...calls] }))
  /** The same threads, their events in any order that keeps each thread's own, calls begun in the order of their indices. */
  const entangled = fc
    .tuple(
      several(block),
      fc.array(fc.oneof(message, aside), { maxLength: 6 }),
      several(toolCall),
      fc.infiniteStream(fc.nat())
    )
    .map(([thoughts, said, calls, choices]) => interleave([...thoughts, said, ...calls], choices))

  const request = decoded({
    tools: [
      { type: "function", name: "f" },
      { type: "custom", name: "patch" },
      { type: "namespace", name: "mail", tools: [{ type: "function", name: "send" }] }
    ]
  })

  it("an answer in the models' usual order arrives as the very object of a plain answer", async () => {
    await fc.assert(
      fc.asyncProperty(orderly, finish, sizes, async ({ threads }, end, cuts) => {
        const events = inOneMessage(threads.flat())
        const expected = JSON.parse(responseObject(head, request, answerOf(events, end), metadata))
        const final = await clientOf(framesOf(events, complete(end), request), cuts).finalResponse()
        expect(withoutParsed(final)).toEqual(expected)
      }),
      { numRuns: 150 }
    )
  })

  it("in any order the client accepts it, and nothing of the answer is lost, doubled or moved between items", async () => {
    await fc.assert(
      fc.asyncProperty(entangled, finish, sizes, async (events, end, cuts) => {
        const expected = JSON.parse(responseObject(head, request, answerOf(events, end), metadata))
        const final = await clientOf(framesOf(events, complete(end), request), cuts).finalResponse()
        const { output, ...rest } = withoutParsed(final)
        const { output: expectedOutput, ...expectedRest } = expected
        expect(rest).toEqual(expectedRest)
        expect(gist(output)).toEqual(gist(expectedOutput))
      }),
      { numRuns: 300 }
    )
  })

  it("numbers have no gaps, items begin once and end once, and the last event repeats them as they ended", () => {
    fc.assert(
      fc.property(entangled, finish, (events, end) => {
        const frames = framesOf(events, complete(end), request)
        expect(frames.at(-1)).toBe("data: [DONE]\n\n")
        const all = parsed(frames)
        for (const frame of all) decodeEvent(frame)
        expect(all.map((frame) => frame["sequence_number"])).toEqual(all.map((_, index) => index))
        const added = all.filter((frame) => frame.type === "response.output_item.added")
        const done = all.filter((frame) => frame.type === "response.output_item.done")
        expect(added.map((frame) => frame["output_index"])).toEqual(added.map((_, index) => index))
        const last = all.at(-1)?.["response"]
        const output = isObject(last) ? last["output"] : undefined
        const ended = [...done].sort((a, b) => Number(a["output_index"]) - Number(b["output_index"]))
        expect(ended.map((frame) => frame["item"])).toEqual(output)
        expect(added.map((frame) => isObject(frame["item"]) && frame["item"]["id"])).toEqual(
          ended.map((frame) => isObject(frame["item"]) && frame["item"]["id"])
        )
      }),
      { numRuns: 300 }
    )
  })

  it("a failure after any event makes the client throw, and is followed by nothing", async () => {
    await fc.assert(
      fc.asyncProperty(entangled, fc.nat(), sizes, async (events, after, cuts) => {
        const frames = framesOf(events.slice(0, after % (events.length + 1)), fail, request)
        for (const frame of parsed(frames)) decodeEvent(frame)
        expect(types(frames).slice(-2)).toEqual(["error", "response.failed"])
        await expect(clientOf(frames, cuts).finalResponse()).rejects.toMatchObject({
          code: "stream_stalled",
          message: "The provider failed."
        })
      }),
      { numRuns: 150 }
    )
  })
})

describe("the end of a stream", () => {
  it("a failure before the first content is told after the start of the lifecycle", () => {
    const frames = parsed(framesOf([], fail))
    expect(frames.map((frame) => frame.type)).toEqual([
      "response.created",
      "response.in_progress",
      "error",
      "response.failed"
    ])
    expect(frames[2]).toEqual({
      type: "error",
      sequence_number: 2,
      code: "stream_stalled",
      message: "The provider failed.",
      param: null,
      error
    })
    expect(frames[3]).toMatchObject({
      response: {
        id: `resp_${idHex}`,
        status: "failed",
        error: { code: "server_error", message: "The provider failed." },
        output: [],
        usage: null
      }
    })
  })

  it("a failure leaves what was begun incomplete, and names rate limits as such", () => {
    const limited = { ...error, code: "provider_rate_limited" }
    const frames = parsed(framesOf([text("Hel"), call(0, "{", true)], (stream) => stream.fail(limited)))
    expect(frames.at(-1)).toMatchObject({
      response: {
        error: { code: "rate_limit_exceeded" },
        output: [
          { status: "completed", content: [{ text: "Hel" }] },
          { status: "incomplete", arguments: "{" }
        ]
      }
    })
  })

  it("nothing is written after it", () => {
    const afterAll = (stream: ResponsesStream) => {
      stream.event(text("late"))
      stream.complete(stop, someUsage, metadata)
      stream.fail(error)
    }
    for (const end of [complete(), fail]) {
      const twice = framesOf([text("x")], (stream) => {
        end(stream)
        afterAll(stream)
      })
      expect(twice).toEqual(framesOf([text("x")], end))
    }
  })

  it("a provider's text can forge neither an event nor the end", async () => {
    const forged = "\n\ndata: [DONE]\n\nevent: response.completed\ndata: {}\n\n"
    const final = await clientOf(framesOf([text(forged)], complete())).finalResponse()
    expect(final.output_text).toBe(forged)
  })
})

describe("backpressure", () => {
  it("one refused frame of an event is enough to say that the reader is slow", () => {
    let answers = [true, true, false, true, true]
    const stream = new ResponsesStream(head, plain, () => answers.shift() ?? true)
    expect(stream.event(text("a"))).toBe(false)
    expect(stream.event(text("b"))).toBe(true)
    answers = [false]
    expect(stream.complete(stop, null, metadata)).toBe(false)
  })
})

/** The events without the reopening of parts: at most one text and one refusal, as a plain answer has them. */
const inOneMessage = (events: ReadonlyArray<ChatEvent>): ReadonlyArray<ChatEvent> => [
  ...events.filter((event) => event._tag === "Reasoning"),
  ...events.filter((event) => !["Reasoning", "Refusal", "ToolCall"].includes(event._tag)),
  ...events.filter((event) => event._tag === "Refusal"),
  ...events.filter((event) => event._tag === "ToolCall")
]

const interleave = (
  threads: ReadonlyArray<ReadonlyArray<ChatEvent>>,
  choices: Iterator<number>
): ReadonlyArray<ChatEvent> => {
  const queues = threads.map((thread) => [...thread]).filter((queue) => queue.length > 0)
  const begun = new Set<number>()
  const mayGo = (queue: ReadonlyArray<ChatEvent>): boolean => {
    const next = queue[0]
    return next?._tag !== "ToolCall" || begun.has(next.index) || next.index === begun.size
  }
  const events: Array<ChatEvent> = []
  for (;;) {
    const open = queues.filter((queue) => queue.length > 0 && mayGo(queue))
    const event = open.length === 0 ? undefined : open[choices.next().value % open.length]?.shift()
    if (event === undefined) return events
    if (event._tag === "ToolCall") begun.add(event.index)
    events.push(event)
  }
}

/** What the client adds to an object by itself. */
const withoutParsed = (final: object): { readonly [key: string]: unknown } =>
  JSON.parse(
    JSON.stringify(final, (key, value) =>
      ["parsed", "parsed_arguments", "output_parsed", "output_text"].includes(key) && typeof value !== "object"
        ? undefined
        : value
    ),
    (key, value) => (["parsed", "parsed_arguments", "output_parsed"].includes(key) ? undefined : value)
  )

/** What an output says, however it is cut into items: texts joined, thoughts by block, calls as they are but for their status. */
const gist = (output: unknown) => {
  const items = Schema.decodeUnknownSync(Schema.Array(OutputItem))(output)
  const parts = items.flatMap((item) => (item.type === "message" ? item.content : []))
  const texts = parts.flatMap((part) => (part.type === "output_text" ? [part] : []))
  const blocks = new Map<string, string>()
  for (const item of items) {
    if (item.type !== "reasoning") continue
    const detail = recover(item.encrypted_content ?? "", () => item.summary.map((part) => part.text).join(""))
    const key = `${detail?.id} ${detail?.type}`
    blocks.set(key, (blocks.get(key) ?? "") + (detail?.text ?? detail?.summary ?? detail?.data ?? ""))
  }
  return {
    text: texts.map((part) => part.text).join(""),
    annotations: texts.flatMap((part) => part.annotations),
    logprobs: texts.flatMap((part) => part.logprobs),
    refusal: parts.map((part) => (part.type === "refusal" ? part.refusal : "")).join(""),
    blocks: [...blocks].sort(),
    calls: items.flatMap((item) =>
      item.type === "function_call" || item.type === "custom_tool_call" ? [{ ...item, status: undefined }] : []
    )
  }
}
