import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { answerOf, encoded, protocolIds } from "../../scripts/fuzz/answers.mjs"
import { randomOf } from "../../scripts/fuzz/random.mjs"
import type { ChatEvent } from "../../src/domain/ChatEvent.ts"
import type { ProtocolId } from "../../src/domain/Support.ts"
import type { Sink } from "../../src/gateway/Relay.ts"
import { Caller, Gateway } from "../../src/index.ts"
import type { Provider } from "../../src/provider/Provider.ts"
import { anthropicMessages } from "../../src/provider/protocols/anthropic-messages/AnthropicMessages.ts"
import { bedrockConverse } from "../../src/provider/protocols/bedrock-converse/BedrockConverse.ts"
import * as Gemini from "../../src/provider/protocols/gemini/Gemini.ts"
import * as OpenAiChat from "../../src/provider/protocols/openai-chat/OpenAiChat.ts"
import { compatible } from "../../src/provider/protocols/openai-chat/Quirks.ts"
import type { Protocol } from "../../src/provider/protocols/shared/Protocol.ts"
import * as Auth from "../../src/provider/transport/Auth.ts"
import * as HttpProvider from "../../src/provider/transport/HttpProvider.ts"
import type { TransportShape } from "../../src/provider/transport/Transport.ts"
import { TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { chatCompletion } from "../../src/wire/chat/ChatAnswer.ts"
import { ChatStream } from "../../src/wire/chat/ChatStream.ts"
import { messageObject } from "../../src/wire/messages/MessagesObject.ts"
import { MessagesStream } from "../../src/wire/messages/MessagesStream.ts"
import { responseObject } from "../../src/wire/responses/ResponsesObject.ts"
import { decode } from "../../src/wire/responses/ResponsesRequest.ts"
import { ResponsesStream } from "../../src/wire/responses/ResponsesStream.ts"
import { request } from "../provider/protocols/calls.ts"

/** Answers of each protocol; half of them streamed. */
const runs = 600

const protocols: Readonly<Record<Exclude<ProtocolId, "simulated">, Protocol>> = {
  "openai-chat": OpenAiChat.make(compatible),
  "anthropic-messages": anthropicMessages,
  "bedrock-converse": bedrockConverse,
  gemini: Gemini.make("json")
}

const timers = VirtualTimers.make()
/** What the next call is answered with, in pieces. */
let next: { readonly mediaType: string; readonly pieces: ReadonlyArray<Uint8Array> }

const transport: TransportShape = {
  send: (_, handler) => {
    const { mediaType, pieces } = next
    let isOpen = true
    timers.after(0, () => {
      handler.head(200, { "content-type": mediaType })
      for (const piece of pieces) if (isOpen) handler.data(piece)
      if (isOpen) handler.end()
    })
    return { pause: () => {}, resume: () => {}, close: () => (isOpen = false), wasSent: () => true }
  }
}

const providers = protocolIds.map(
  (id: string): Provider =>
    HttpProvider.make({
      id,
      protocol: protocols[id as keyof typeof protocols],
      endpoint: { origin: "http://127.0.0.1", basePath: "" },
      auth: Auth.none,
      transport,
      timers,
      reportDefect: (defect) => defects.push(defect)
    })
)

const responses = Either.getOrThrow(decode({ model: "auto", input: "x" }))

/** Writes an answer in the three formats, as the endpoints would. */
class EveryFormat implements Sink {
  written = ""
  /** Apart, since what it says has to be there for itself. */
  ofMessages = ""
  outcome: "complete" | string | undefined
  private chat: ChatStream | undefined
  private responses: ResponsesStream | undefined
  private messages: MessagesStream | undefined

  readonly begin: Sink["begin"] = (start) => {
    const write = (frame: string): boolean => {
      this.written += frame
      return true
    }
    this.chat = new ChatStream(start, { includeUsage: true, excludeReasoning: false }, write)
    this.responses = new ResponsesStream(start, responses, write)
    const ofMessages = (frame: string): boolean => {
      this.ofMessages += frame
      return true
    }
    this.messages = new MessagesStream(start, { omitReasoning: false }, ofMessages)
  }
  readonly event = (event: ChatEvent): boolean => {
    this.chat?.event(event)
    this.responses?.event(event)
    this.messages?.event(event)
    return true
  }
  readonly drained = (): void => {}
  readonly complete: Sink["complete"] = (finish, usage, metadata) => {
    this.chat?.complete(finish, usage, metadata)
    this.responses?.complete(finish, usage, metadata)
    this.messages?.complete(finish, usage, metadata)
    this.outcome = "complete"
  }
  readonly fail: Sink["fail"] = ({ code, message }) => {
    const error = { code, message: message ?? "", type: "provider_error", param: null }
    this.chat?.fail(error)
    this.responses?.fail(error)
    this.messages?.fail(error)
    this.outcome = code
  }
}

const layer = TestGateway.layer({
  models: protocolIds.map((id: string) => testModel(`${id}/m`, { protocol: id as ProtocolId })),
  providers,
  timers
})
let runtime: ManagedRuntime.ManagedRuntime<Gateway, never>
beforeAll(() => {
  runtime = ManagedRuntime.make(Layer.orDie(layer))
})
afterAll(() => runtime.dispose())

/** The text of the answer in OpenAI's formats and in Anthropic's. */
interface Outcome {
  readonly text?: string
  readonly ofMessages?: string
  readonly error?: string
}

const defects: Array<unknown> = []

/** The answer's text where it passes as whole, else why it does not. */
const asked = async (protocolId: string, streamed: boolean): Promise<Outcome> => {
  const call = { ...request({ model: `${protocolId}/m`, stream: streamed }) }
  const sink = new EveryFormat()
  const program = Effect.gen(function* () {
    const gateway = yield* Gateway
    if (streamed) {
      yield* gateway.relay(call, sink)
      const { ofMessages, outcome, written: text } = sink
      expect(ofMessages.includes("event: message_stop")).toBe(outcome === "complete")
      return outcome === "complete" ? { text, ofMessages } : { error: outcome ?? "no end" }
    }
    const completion = yield* gateway.complete(call)
    const { answer, metadata } = completion
    const chat = chatCompletion(completion, answer, metadata, { excludeReasoning: false })
    const text = chat + responseObject(completion, responses, answer, metadata)
    return { text, ofMessages: messageObject(completion, answer, metadata, { omitReasoning: false }) }
  }).pipe(
    Effect.catchAll((error) => Effect.succeed({ error: error._tag })),
    Effect.provideService(Caller, TestGateway.testCaller)
  )
  let outcome: Outcome | undefined
  const running = runtime.runPromise(program).then((value) => {
    outcome = value
  })
  for (let turn = 0; turn < 1_000 && outcome === undefined; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (outcome === undefined) timers.next()
  }
  if (outcome === undefined) return { error: "hang" }
  await running
  return outcome
}

describe.each(protocolIds)("2,000 and more answers that are changed at random, in %s", (protocolId) => {
  it("end, without a defect, and pass as whole only with all that they say", { timeout: 120_000 }, async () => {
    const outcomes = { whole: 0, failed: 0 }
    for (let seed = 1; seed <= runs; seed++) {
      const random = randomOf(seed)
      const streamed = seed % 2 === 0
      const answer = answerOf(random, protocolId, streamed)
      const { bytes, mediaType } = encoded(protocolId, answer)
      const cut = random.below(bytes.length + 1)
      next = { mediaType, pieces: [bytes.subarray(0, cut), bytes.subarray(cut)] }
      const { error, ofMessages = "", text } = await asked(protocolId, streamed)
      expect(error, `seed ${seed}`).not.toBe("hang")
      expect(defects, `seed ${seed}`).toEqual([])
      if (text === undefined) outcomes.failed++
      else {
        outcomes.whole++
        const missing = answer.words.filter((word: string) => !text.includes(word) || !ofMessages.includes(word))
        expect(missing, `seed ${seed}: ${bytes.toString("utf8").slice(0, 4_000)}`).toEqual([])
      }
    }
    // the generator makes enough of either for the promise to mean something
    expect(outcomes.whole).toBeGreaterThan(runs / 5)
    expect(outcomes.failed).toBeGreaterThan(runs / 5)
  })
})
