import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import { type ChatEvent, type Finish, finishReasons } from "../../../src/domain/ChatEvent.ts"
import { decodeReasoning } from "../../../src/wire/ReasoningContinuity.ts"
import { responseObject } from "../../../src/wire/responses/ResponsesObject.ts"
import { OutputItem } from "../../../src/wire/responses/ResponsesObjectSchema.ts"
import { isObject } from "../../../src/wire/validation/Guard.ts"
import { answerOf, decoded, head, metadata, someUsage } from "./ResponsesFixtures.ts"
import {
  clientOf,
  complete,
  decodeEvent,
  type Frame,
  fail,
  framesOf,
  parsed,
  text,
  types
} from "./ResponsesStreamFixtures.ts"

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
    { _tag: "ResponseInfo", serviceTier: "flex", model: "large-1" },
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
  const finish = fc.constantFrom(...finishReasons).map((reason): Finish => ({ _tag: "Finish", reason, native: reason }))
  const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 5 })

  /** Blocks one after the other, then what is said, then the calls. */
  const orderly = fc
    .tuple(several(block), fc.array(fc.oneof(message, aside), { maxLength: 6 }), several(toolCall))
    .map(([reasoning, said, calls]) => ({ threads: [...reasoning, said, ...calls] }))
  /** The same threads, their events in any order that keeps each thread's own, calls begun in the order of their indices. */
  const entangled = fc
    .tuple(
      several(block),
      fc.array(fc.oneof(message, aside), { maxLength: 6 }),
      several(toolCall),
      fc.infiniteStream(fc.nat())
    )
    .map(([reasoning, said, calls, choices]) => interleave([...reasoning, said, ...calls], choices))

  const request = decoded({
    tools: [
      { type: "function", name: "f" },
      { type: "custom", name: "patch" },
      { type: "namespace", name: "mail", tools: [{ type: "function", name: "send" }] }
    ]
  })

  it("an answer in the models' order arrives as the very object of a non-streaming response", async () => {
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
        expect(deltas(all)).toEqual(whole(all))
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

/** The events without the reopening of parts: at most one text and one refusal, as a non-streaming response has them. */
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

/** The texts of each part as their deltas add up to, and as the events that end them say. */
const place = (frame: Frame) => [frame["item_id"], frame["content_index"] ?? frame["summary_index"] ?? 0].join(" ")
const deltas = (frames: ReadonlyArray<Frame>) => {
  const texts = new Map<string, string>()
  for (const frame of frames)
    if (typeof frame["delta"] === "string") texts.set(place(frame), (texts.get(place(frame)) ?? "") + frame["delta"])
  return new Map([...texts].filter(([, text]) => text !== "").sort())
}
const whole = (frames: ReadonlyArray<Frame>) =>
  new Map(
    frames
      .filter((frame) => /(text|refusal|arguments|input)\.done$/.test(frame.type))
      .map(
        (frame) => [place(frame), frame["text"] ?? frame["refusal"] ?? frame["arguments"] ?? frame["input"]] as const
      )
      .filter(([, text]) => text !== "")
      .sort()
  )

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

/** What an output says, however it is cut into items: texts joined, reasoning by block, calls as they are but for their status. */
const gist = (output: unknown) => {
  const items = Schema.decodeUnknownSync(Schema.Array(OutputItem))(output)
  const parts = items.flatMap((item) => (item.type === "message" ? item.content : []))
  const texts = parts.flatMap((part) => (part.type === "output_text" ? [part] : []))
  const blocks = new Map<string, string>()
  for (const item of items) {
    if (item.type !== "reasoning") continue
    const detail = decodeReasoning(item.encrypted_content ?? "", item.summary.map((part) => part.text).join(""))
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
