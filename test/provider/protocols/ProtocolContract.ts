import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import type { ChatRequest, Message, Tool } from "../../../src/domain/Chat.ts"
import { isContent } from "../../../src/domain/ChatEvent.ts"
import { Accumulator, type Answer } from "../../../src/domain/Completion.ts"
import type { Model } from "../../../src/domain/Model.ts"
import type { ProviderError, ProviderFailure } from "../../../src/domain/ProviderError.ts"
import { Timers, type TimersShape } from "../../../src/domain/Timers.ts"
import { completionTokens, promptTokens } from "../../../src/domain/Usage.ts"
import type { Provider, ProviderCall } from "../../../src/provider/Provider.ts"
import type { Protocol } from "../../../src/provider/protocols/shared/Protocol.ts"
import type { AuthScheme } from "../../../src/provider/transport/Auth.ts"
import * as Endpoint from "../../../src/provider/transport/Endpoint.ts"
import * as HttpProvider from "../../../src/provider/transport/HttpProvider.ts"
import { Transport, type TransportShape } from "../../../src/provider/transport/Transport.ts"
import {
  type InjectedFault,
  retryAfterSeconds,
  type Simulator
} from "../../../src/testing/simulators/core/Simulator.ts"
import { pixelUrl } from "../../support/Pixel.ts"
import { call, open, type Recorder } from "./calls.ts"

/** A protocol and the simulator of who speaks it. */
export interface Subject {
  readonly name: string
  readonly start: () => Promise<Simulator>
  readonly protocol: Protocol
  readonly auth: AuthScheme
  /** Takes tools, images, schemas and stop sequences, and does not think unless told to. */
  readonly model: Model
  /** Thinks when asked for the effort `low`. */
  readonly reasoning: Model
  /** The reason that each fault has here, where it is another one than `usualReasons` says. */
  readonly reasons?: Readonly<Partial<Record<InjectedFault, ProviderFailure["_tag"]>>>
}

const defaultReasons: Readonly<Partial<Record<InjectedFault, ProviderFailure["_tag"]>>> = {
  overloaded: "Overloaded",
  "rate-limited": "RateLimited",
  quota: "QuotaExhausted",
  unauthorized: "CredentialRejected",
  "model-gone": "ModelGone",
  invalid: "RequestRejected",
  "context-length": "ContextLengthExceeded",
  "content-policy": "ContentPolicy",
  "server-error": "ServerError",
  html: "BadResponse"
}
const defaultStreamReasons: Readonly<Partial<Record<InjectedFault, ProviderFailure["_tag"]>>> = {
  "error-first": "Overloaded",
  "error-mid": "Overloaded",
  "malformed-mid": "BadResponse",
  "cut-mid": "Disconnected",
  "end-mid": "Disconnected"
}
const midFaults: ReadonlyArray<InjectedFault> = ["error-mid", "malformed-mid", "cut-mid", "end-mid"]
const silences = ["hang", "hang-mid"] as const

/** Every fault that the contract tries. */
export const triedFaults: ReadonlyArray<string> = [
  "refusal",
  ...silences,
  ...Object.keys(defaultReasons),
  ...Object.keys(defaultStreamReasons)
]

export const weather: Tool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Tells the weather.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
  }
}
export const clock: Tool = { type: "function", function: { name: "read_clock", description: "Tells the time." } }

/** The protocol's calls over the real transport. */
export interface Bench {
  readonly simulator: Simulator
  readonly provider: Provider
  /** Runs a call to its end. */
  readonly run: (asked: Partial<ChatRequest>, more?: Partial<ProviderCall>) => Promise<Run>
}

export interface Run {
  readonly recorder: Recorder
  readonly answer: Answer | undefined
  readonly error: ProviderError | undefined
}

export const benches = (subject: Pick<Subject, "start" | "protocol" | "auth" | "model">): (() => Bench) => {
  let scope: Scope.CloseableScope
  let transport: TransportShape
  let timers: TimersShape
  let bench: Bench
  beforeAll(async () => {
    scope = await Effect.runPromise(Scope.make())
    const live = Layer.merge(Transport.layer({ connectMillis: 1000 }), Timers.layer)
    const services = Effect.all([Transport, Timers]).pipe(
      Effect.provide(await Effect.runPromise(Layer.buildWithScope(live, scope)))
    )
    ;[transport, timers] = await Effect.runPromise(services)
  })
  beforeEach(async () => {
    const simulator = await subject.start()
    const provider = HttpProvider.make({
      id: subject.model.providerId,
      protocol: subject.protocol,
      endpoint: Endpoint.of(simulator.baseUrl),
      auth: subject.auth(Redacted.make("a-secret")),
      transport,
      timers,
      reportDefect: () => {}
    })
    bench = {
      simulator,
      provider,
      run: async (asked, more) => {
        const { recorder } = open(provider, call(asked, { model: subject.model, maxOutputTokens: 4000, ...more }))
        await recorder.over
        const accumulator = new Accumulator()
        for (const event of recorder.events) accumulator.add(event)
        return { recorder, answer: accumulator.answer, error: recorder.errors[0] }
      }
    }
  })
  afterEach(() => bench.simulator.stop())
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return () => bench
}

const user = (content: string): Message => ({ role: "user", content })

/** What every protocol promises, streamed and plain alike. */
export const protocolContract = (subject: Subject): void => {
  describe(`${subject.name} keeps the contract of protocols`, () => {
    const bench = benches(subject)

    const answered = async (asked: Partial<ChatRequest>, more?: Partial<ProviderCall>): Promise<Answer> => {
      const { answer, error } = await bench().run(asked, more)
      expect(bench().simulator.rejections).toEqual([])
      expect(error?.reason).toBeUndefined()
      if (answer === undefined) throw new Error("the answer has no end")
      return answer
    }

    for (const stream of [true, false]) {
      describe(stream ? "streamed" : "plain", () => {
        it("gives text, a finish and usage with both sides", async () => {
          const answer = await answered({ stream, messages: [user("Say exactly: héllo wörld 🌍")] })
          expect(answer).toMatchObject({
            text: "héllo wörld 🌍",
            finish: "stop",
            refusal: "",
            toolCalls: [],
            reasoning: []
          })
          const { usage } = answer
          if (usage === null) throw new Error("no usage")
          expect(promptTokens(usage)).toBeGreaterThan(0)
          expect(completionTokens(usage)).toBeGreaterThan(0)
        })

        it("calls two tools side by side, with their names, whole arguments and ids of their own", async () => {
          const answer = await answered({
            stream,
            tools: [weather, clock],
            messages: [user("What is the weather in Rome, and what does the clock say?")]
          })
          expect(answer.finish).toBe("tool_calls")
          expect(answer.toolCalls.map(({ name, arguments: text }) => [name, JSON.parse(text)])).toEqual([
            ["get_weather", { city: "Rome" }],
            ["read_clock", {}]
          ])
          const ids = new Set(answer.toolCalls.map(({ id }) => id))
          expect(ids.size).toBe(2)
          expect(ids.has("")).toBe(false)
        })

        it("takes the results of both back, in any order", async () => {
          const messages: ReadonlyArray<Message> = [user("What is the weather in Rome, and what does the clock say?")]
          const asked = await answered({ stream, tools: [weather, clock], messages })
          const [first, second] = asked.toolCalls
          if (first === undefined || second === undefined) throw new Error("two calls were expected")
          const answer = await answered({
            stream,
            tools: [weather, clock],
            messages: [
              ...messages,
              {
                role: "assistant",
                content: null,
                tool_calls: [first, second].map(({ arguments: text, extraContent, id, name }) => ({
                  id,
                  type: "function" as const,
                  function: { name, arguments: text },
                  ...(extraContent && { extra_content: extraContent })
                }))
              },
              { role: "tool", tool_call_id: second.id, content: "noon" },
              { role: "tool", tool_call_id: first.id, content: "sunny" }
            ]
          })
          const results = answer.text.replace("The tools answered: ", "").split("; ")
          expect(results.sort()).toEqual(["noon", "sunny"])
        })

        it("calls the tool that it must, and none when it must not", async () => {
          const tools = [weather, clock]
          const messages = [user("Hello.")]
          const named = { type: "function", function: { name: "read_clock" } }
          expect((await answered({ stream, tools, messages, toolChoice: named })).toolCalls).toMatchObject([
            { name: "read_clock" }
          ])
          expect((await answered({ stream, tools, messages, toolChoice: "required" })).toolCalls).toHaveLength(1)
          const none = await answered({ stream, tools, messages: [user("weather in Rome")], toolChoice: "none" })
          expect(none.toolCalls).toEqual([])
        })

        it("sees an image", async () => {
          const answer = await answered({
            stream,
            messages: [
              {
                role: "user",
                content: [
                  { type: "text", text: "What is this?" },
                  { type: "image_url", image_url: { url: pixelUrl } }
                ]
              }
            ]
          })
          expect(answer.text).toContain("image")
        })

        it("answers in the shape of a JSON schema, whatever keywords it has", async () => {
          const schema = {
            $schema: "https://json-schema.org/draft/2020-12/schema",
            type: "object",
            properties: {
              city: { type: "string", minLength: 2, pattern: "^[A-Z]" },
              days: { type: "integer", minimum: 1, maximum: 7 },
              additionalProperties: { type: ["string", "null"] },
              tags: { type: "array", items: { $ref: "#/$defs/tag" }, minItems: 2, uniqueItems: true }
            },
            required: ["city", "days", "additionalProperties", "tags"],
            additionalProperties: false,
            $defs: { tag: { type: "string", enum: ["a", "b"] } }
          }
          const answer = await answered({
            stream,
            messages: [user("The forecast for 3 days in Rome")],
            responseFormat: { type: "json_schema", json_schema: { name: "forecast", schema, strict: true } }
          })
          const value: Record<string, unknown> = JSON.parse(answer.text)
          expect(Object.keys(value).sort()).toEqual(["additionalProperties", "city", "days", "tags"])
          expect(value).toMatchObject({ city: "Rome", days: 3 })
        })

        it("ends at a stop sequence, and at the cap", async () => {
          const messages = [user("Count to 20")]
          const stopped = await answered({ stream, messages, stop: ["5"] })
          expect([stopped.finish, stopped.text.trimEnd()]).toEqual(["stop", "1, 2, 3, 4,"])
          const cut = await answered({ stream, messages }, { maxOutputTokens: 4 })
          expect(cut.finish).toBe("length")
          expect(cut.text.length).toBeLessThan(20)
        })

        it("thinks when it is told to, apart from what it says", async () => {
          const more = { model: subject.reasoning, effort: "low" } as const
          const { answer } = await bench().run({ stream, messages: [user("Say exactly: so")] }, more)
          expect(bench().simulator.rejections).toEqual([])
          expect(answer?.text).toBe("so")
          expect(answer?.reasoning.map(({ text }) => text).join("")).toContain("The question is")
        })

        it("passes a refusal of the model's on as a finish", async () => {
          bench().simulator.failNext("refusal")
          expect((await answered({ stream, messages: [user("Say exactly: no")] })).finish).toBe("content_filter")
        })

        it("names each fault before an answer, once", async () => {
          for (const [fault, reason] of Object.entries(defaultReasons) as ReadonlyArray<
            [InjectedFault, ProviderFailure["_tag"]]
          >) {
            bench().simulator.failNext(fault)
            const { error, recorder } = await bench().run({ stream, messages: [user("Say exactly: x")] })
            expect([fault, error?.reason._tag]).toEqual([fault, subject.reasons?.[fault] ?? reason])
            expect([fault, recorder.events.some(isContent), recorder.ended, recorder.errors.length]).toEqual([
              fault,
              false,
              0,
              1
            ])
            if (fault === "rate-limited") expect(error?.retryAfterMillis).toBe(retryAfterSeconds * 1000)
          }
        })
      })
    }

    it("names each fault inside a stream, after what has come of the answer", async () => {
      for (const [fault, reason] of Object.entries(defaultStreamReasons) as ReadonlyArray<
        [InjectedFault, ProviderFailure["_tag"]]
      >) {
        bench().simulator.failNext(fault)
        const { error, recorder } = await bench().run({ messages: [user("Say exactly: some words that take a while")] })
        expect([fault, error?.reason._tag]).toEqual([fault, subject.reasons?.[fault] ?? reason])
        expect([fault, recorder.text !== "", recorder.ended]).toEqual([fault, midFaults.includes(fault), 0])
      }
    })

    it("names each fault inside a non-streaming response, and takes nothing from it", async () => {
      const reasons = { ...defaultStreamReasons, "end-mid": "BadResponse" } as const
      for (const [fault, reason] of Object.entries(reasons) as ReadonlyArray<
        [InjectedFault, ProviderFailure["_tag"]]
      >) {
        bench().simulator.failNext(fault)
        const { error, recorder } = await bench().run({ stream: false, messages: [user("Say exactly: some words")] })
        expect([fault, error?.reason._tag]).toEqual([fault, subject.reasons?.[fault] ?? reason])
        expect([fault, recorder.text, recorder.ended]).toEqual([fault, "", 0])
      }
    })

    it("closes the socket at once when a call is cancelled, before and amid its answer", async () => {
      for (const fault of silences) {
        bench().simulator.failNext(fault)
        const begun = open(bench().provider, call({ messages: [user("Say exactly: x")] }, { model: subject.model }))
        const count = bench().simulator.requests.length
        if (fault === "hang-mid") await begun.recorder.until(({ events }) => events.some(isContent))
        else await bench().simulator.received(count + 1)
        begun.upstream.close()
        expect(await bench().simulator.requests.at(-1)?.closed).toBe("aborted")
        expect(begun.recorder.outcome).toBe("open")
      }
    })
  })
}
