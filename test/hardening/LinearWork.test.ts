import { createHash } from "node:crypto"
import * as Either from "effect/Either"
import { afterAll, describe, expect, it } from "vitest"
import type { ChatRequest } from "../../src/domain/Chat.ts"
import type { ChatEvent } from "../../src/domain/ChatEvent.ts"
import { Accumulator } from "../../src/domain/Completion.ts"
import { type StringLiteral, StringLiterals } from "../../src/domain/StringLiterals.ts"
import * as Estimate from "../../src/ledger/Estimate.ts"
import { anthropicMessages } from "../../src/provider/protocols/anthropic-messages/AnthropicMessages.ts"
import { bedrockConverse } from "../../src/provider/protocols/bedrock-converse/BedrockConverse.ts"
import * as Gemini from "../../src/provider/protocols/gemini/Gemini.ts"
import * as OpenAiChat from "../../src/provider/protocols/openai-chat/OpenAiChat.ts"
import { compatible } from "../../src/provider/protocols/openai-chat/Quirks.ts"
import type { Protocol } from "../../src/provider/protocols/shared/Protocol.ts"
import { answerTo } from "../../src/provider/simulated/Answers.ts"
import { promptOf, promptTokens } from "../../src/provider/simulated/Prompt.ts"
import { classify } from "../../src/routing/quality/Classify.ts"
import { requirementsOf } from "../../src/routing/Requirements.ts"
import { chatCompletion } from "../../src/wire/chat/ChatAnswer.ts"
import * as ChatDecoding from "../../src/wire/chat/ChatRequest.ts"
import { ChatStream } from "../../src/wire/chat/ChatStream.ts"
import { messageObject } from "../../src/wire/messages/MessagesObject.ts"
import * as MessagesDecoding from "../../src/wire/messages/MessagesRequest.ts"
import { MessagesStream } from "../../src/wire/messages/MessagesStream.ts"
import { responseObject } from "../../src/wire/responses/ResponsesObject.ts"
import * as ResponsesDecoding from "../../src/wire/responses/ResponsesRequest.ts"
import { ResponsesStream } from "../../src/wire/responses/ResponsesStream.ts"
import { boundsOf, marksOf } from "../../src/wire/validation/JsonBounds.ts"
import { Parsing } from "../../src/wire/validation/LongStrings.ts"
import { call, model } from "../provider/protocols/calls.ts"
import { chatRequest } from "../support/ChatRequests.ts"
import { counts, finished, head, metadata } from "../wire/chat/AnswerArbitraries.ts"
import { decoded } from "../wire/responses/ResponsesFixtures.ts"
import { type AnswerShape, answerShapes, eventShapes } from "./AnswerShapes.ts"
import { type RequestShape, requestShapes } from "./RequestShapes.ts"
import { allocatedBytes, WorkMeter } from "./Work.ts"

/** Twice the input, twice the work; what is not in proportion (a table that grows by doubling) has room. */
const maxRatio = 2.3
/** What the counting itself, warm code and the collector's own bookkeeping may add. */
const freeBlocks = 500
const freeBytes = 1024 * 1024

const meter = new WorkMeter((url) => url.includes("/src/") && !url.includes("/node_modules/"))
const plantedMeter = new WorkMeter((url) => url.endsWith("/LinearWork.test.ts"))
afterAll(() => {
  meter.close()
  plantedMeter.close()
})

interface Doubled {
  readonly blocks: readonly [number, number]
  readonly bytes: readonly [number, number]
}

const doubled = <Input>(
  counter: WorkMeter,
  input: (size: number) => Input,
  size: number,
  run: (input: Input) => unknown
): Doubled => {
  const [once, twice] = [input(size), input(2 * size)]
  run(once)
  const bytes = () => [allocatedBytes(() => run(once)), allocatedBytes(() => run(twice))] as const
  let measured = bytes()
  // garbage of before that is swept meanwhile makes one run look smaller than it is; code that copies too much does so each time
  for (let again = 0; again < maxAgain && areMoreBytes(measured); again++) measured = bytes()
  return { blocks: [counter.blocksOf(() => run(once)), counter.blocksOf(() => run(twice))], bytes: measured }
}

const maxAgain = 4

const areMoreBytes = ([once, twice]: Doubled["bytes"]): boolean => twice > maxRatio * once + freeBytes

const excessOf = ({ blocks, bytes }: Doubled): ReadonlyArray<string> => [
  ...(blocks[1] > maxRatio * blocks[0] + freeBlocks ? [`blocks ${blocks.join(" -> ")}`] : []),
  ...(areMoreBytes(bytes) ? [`bytes ${bytes.join(" -> ")}`] : [])
]

const protocols: ReadonlyArray<readonly [string, Protocol]> = [
  ["openai-chat", OpenAiChat.make(compatible)],
  ["anthropic-messages", anthropicMessages],
  ["gemini with JSON schemas", Gemini.make("json")],
  ["gemini with the OpenAPI subset", Gemini.make("openapi")],
  ["bedrock-converse", bedrockConverse]
]

const byId: Readonly<Record<AnswerShape["protocol"], Protocol>> = {
  "openai-chat": OpenAiChat.make(compatible),
  "anthropic-messages": anthropicMessages,
  gemini: Gemini.make("json"),
  "bedrock-converse": bedrockConverse
}

const decoders: Readonly<Record<RequestShape["endpoint"], (json: unknown) => ChatRequest>> = {
  chat: (json) => Either.getOrThrow(ChatDecoding.decode(json)),
  responses: (json) => Either.getOrThrow(ResponsesDecoding.decode(json)).request,
  messages: (json) => Either.getOrThrow(MessagesDecoding.decode(json)).request
}
const decode = ({ endpoint }: RequestShape, json: unknown): ChatRequest => decoders[endpoint](json)

describe.each(requestShapes.map((shape) => [`${shape.endpoint}: ${shape.name}`, shape] as const))("%s", (_, shape) => {
  const excess: Record<string, ReadonlyArray<string>> = {}
  const step = <Input>(name: string, input: (size: number) => Input, run: (input: Input) => unknown): void => {
    const found = excessOf(doubled(meter, input, shape.size, run))
    if (found.length > 0) excess[name] = found
  }

  it("costs every step at most twice the work when it is twice as long", () => {
    const text = (size: number): string => JSON.stringify(shape.body(size))
    const json = (size: number): unknown => JSON.parse(text(size))
    const request = (size: number): ChatRequest => decode(shape, json(size))
    const bytes = (size: number): Buffer => Buffer.from(text(size))
    step("scan", text, (given) => marksOf(given))
    step("read", bytes, (given) => new Parsing(given, boundsOf(given).longStrings).end())
    const readBody = (size: number): { request: ChatRequest; literals: ReadonlyArray<StringLiteral> } => {
      const given = bytes(size)
      const read = new Parsing(given, boundsOf(given).longStrings).end()
      return { request: decode(shape, read.json), literals: read.literals?.take() ?? [] }
    }
    step("decode", json, (given) => decode(shape, given))
    step("needs", request, (given) => requirementsOf(given, false))
    step("measure", request, (given) => Estimate.estimatePrompt(given, () => 0.5))
    for (const [name, protocol] of protocols) {
      step(`lower for ${name}`, readBody, ({ literals, request: given }) =>
        protocol.lower(call({ ...given, stringLiterals: new StringLiterals(literals) }, { model: model() }))
      )
    }
    step("simulated", request, (given) => {
      promptTokens(given, 1)
      return answerTo(given, promptOf(given), "sim/fast")
    })
    expect(excess).toEqual({})
  })
})

describe.each(answerShapes.map((shape) => [`${shape.protocol}: ${shape.name}`, shape] as const))("%s", (_, shape) => {
  it("is decoded with at most twice the work when it is twice as long, and is whole", () => {
    const protocol = byId[shape.protocol]
    const read = (reads: ReadonlyArray<Uint8Array>): unknown => {
      const reader = protocol.stream.open(call())
      let { progress } = reader.push(new Uint8Array())
      for (const bytes of reads) if (progress === "incomplete") progress = reader.push(bytes).progress
      return progress === "incomplete" ? reader.end().progress : progress
    }
    expect(read(shape.stream(shape.size))).toBe("complete")
    expect(excessOf(doubled(meter, shape.stream, shape.size, read))).toEqual([])
  })
})

describe.each(eventShapes)("an answer of %s", (_, size, events) => {
  it("is encoded with at most twice the work when it is twice as long", () => {
    const encodeChat = (sent: ReadonlyArray<ChatEvent>): void => {
      const stream = new ChatStream(head, { includeUsage: true, excludeReasoning: false }, () => true)
      for (const event of sent) stream.event(event)
      stream.complete(finished, counts, metadata)
    }
    const encodeResponses = (sent: ReadonlyArray<ChatEvent>): void => {
      const stream = new ResponsesStream(head, decoded({}), () => true)
      for (const event of sent) stream.event(event)
      stream.complete(finished, counts, metadata)
    }
    const encodeMessages = (sent: ReadonlyArray<ChatEvent>): void => {
      const stream = new MessagesStream(head, { omitReasoning: false }, () => true)
      for (const event of sent) stream.event(event)
      stream.complete(finished, counts, metadata)
    }
    const whole = (sent: ReadonlyArray<ChatEvent>): string => {
      const answer = new Accumulator()
      for (const event of [...sent, finished]) answer.add(event)
      const done = answer.answer
      if (done === undefined) throw new Error("not whole")
      return (
        chatCompletion(head, done, metadata, { excludeReasoning: false }) +
        responseObject(head, decoded({}), done, metadata) +
        messageObject(head, done, metadata, { omitReasoning: false })
      )
    }
    expect(excessOf(doubled(meter, events, size, encodeChat))).toEqual([])
    expect(excessOf(doubled(meter, events, size, encodeResponses))).toEqual([])
    expect(excessOf(doubled(meter, events, size, encodeMessages))).toEqual([])
    expect(excessOf(doubled(meter, events, size, whole))).toEqual([])
  })
})

describe("a prompt that is classified", () => {
  const text = (size: number): string =>
    Array.from({ length: size }, (_, at) => `word${at} {x: ${at}} = [${at * 7}] **bold** $x_${at}$\n`).join("")
  const asked = (content: string): ChatRequest => chatRequest({ messages: [{ role: "user", content }] })
  let asks = 0
  /** As a text that was not asked about before: one that was is not read again. */
  const classifyAnew = (given: ChatRequest) => {
    const messages = given.messages.map((message) =>
      message.role === "user" ? { ...message, content: `${asks++} ${message.content}` } : message
    )
    return classify({ ...given, messages }, 100)
  }

  it("costs at most twice the work when it is twice as long", () => {
    expect(excessOf(doubled(meter, (size) => asked(text(size)), 20, classifyAnew))).toEqual([])
  })

  it("costs no more, however long it is, once it is longer than what is read of it", () => {
    const read = asked(text(200))
    const blocks = (given: ChatRequest): number => {
      classifyAnew(given)
      return meter.blocksOf(() => classifyAnew(given))
    }
    expect(blocks(asked(text(20_000)))).toBeLessThan(1.2 * blocks(read) + freeBlocks)
  })

  it("costs at most twice the work when the conversation has twice as many turns", () => {
    const conversation = (turns: number): ChatRequest =>
      chatRequest({
        messages: Array.from({ length: turns }, (_, at) => ({
          role: at % 2 === 0 ? ("user" as const) : ("assistant" as const),
          content: text(3)
        }))
      })
    expect(excessOf(doubled(meter, (size) => conversation(size + 1), 200, classifyAnew))).toEqual([])
  })
})

describe("the measure of work", () => {
  /** As tool ids were once told apart. */
  const toldApart = (ids: ReadonlyArray<string>): number => {
    const taken = new Set<string>()
    for (const id of ids) {
      let name = id
      for (let again = 1; taken.has(name); again++) name = createHash("sha1").update(`${again} ${id}`).digest("hex")
      taken.add(name)
    }
    return taken.size
  }

  /** As the content of assistant items was once put together. */
  const joined = (ids: ReadonlyArray<string>): ReadonlyArray<string> => {
    let all: ReadonlyArray<string> = []
    for (const id of ids) all = [...all, id]
    return all
  }

  const ids = (size: number): ReadonlyArray<string> => Array.from({ length: size }, () => "same")

  it("sees quadratic code by its blocks", () => {
    expect(excessOf(doubled(plantedMeter, ids, 100, toldApart))).toContainEqual(expect.stringMatching(/^blocks/))
  })

  it("sees quadratic copying by its bytes", () => {
    expect(excessOf(doubled(plantedMeter, ids, 1_000, joined))).toContainEqual(expect.stringMatching(/^bytes/))
  })

  it("lets linear code pass", () => {
    expect(excessOf(doubled(plantedMeter, ids, 20_000, (given) => given.map((id) => `${id}!`)))).toEqual([])
  })
})
