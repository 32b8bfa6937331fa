import { LLMock } from "@copilotkit/aimock"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { ChatRequest } from "../../../src/domain/Chat.ts"
import { Accumulator, type Answer } from "../../../src/domain/Completion.ts"
import type { Model } from "../../../src/domain/Model.ts"
import type { Protocol, Step } from "../../../src/provider/protocols/shared/Protocol.ts"
import { call, saying } from "./calls.ts"
import { weather } from "./ProtocolContract.ts"

interface ForeignServer {
  readonly name: string
  readonly protocol: Protocol
  readonly model: Model
  /** Before the path of the protocol. */
  readonly root: string
  /** Of 3 and 4 tokens, as the vendor names them. */
  readonly usage: Readonly<Record<string, number>>
  /** What the vendor calls a rate limit. */
  readonly rateLimitType: string
}

/** The same interface as others have built it: what they send is understood, streamed and plain. */
export const understandsForeignServer = ({
  model,
  name,
  protocol,
  rateLimitType,
  root,
  usage
}: ForeignServer): void => {
  describe(`${name} by another hand`, () => {
    const mock = new LLMock({ port: 0, chunkSize: 5 })

    beforeAll(async () => {
      mock.on({ userMessage: "hello" }, { content: "Hi thére 🌍", usage })
      mock.on({ userMessage: "weather", hasToolResult: true }, { content: "It rains." })
      mock.on(
        { userMessage: "weather" },
        { toolCalls: ["Rome", "Oslo"].map((city) => ({ name: "get_weather", arguments: JSON.stringify({ city }) })) }
      )
      mock.on({ userMessage: "think" }, { content: "four", reasoning: "two and two" })
      mock.on({ userMessage: "rate" }, { error: { message: "slow", type: rateLimitType }, status: 429 })
      await mock.start()
    })
    afterAll(() => mock.stop())

    const ask = async (
      asked: Partial<ChatRequest>
    ): Promise<{ answer: Answer | undefined; progress: Step["progress"] }> => {
      const prepared = call(asked, { model })
      const body = protocol.lower(prepared)
      if (typeof body !== "string") throw new Error(JSON.stringify(body))
      const response = await fetch(mock.url + root + protocol.path(prepared), { method: "POST", body })
      if (!response.ok) {
        const error = { status: response.status, headers: {}, body: await response.text(), nowMillis: 0 }
        return { answer: undefined, progress: protocol.failure(error) }
      }
      const accumulator = new Accumulator()
      const take = ({ events, progress }: Step): Step["progress"] => {
        for (const event of events) accumulator.add(event)
        return progress
      }
      if (!prepared.request.stream) {
        const progress = take(protocol.nonStreaming(prepared, await response.text()))
        return { answer: accumulator.answer, progress }
      }
      const reader = protocol.stream.open(prepared)
      take(reader.push(new Uint8Array(await response.arrayBuffer())))
      return { progress: take(reader.end()), answer: accumulator.answer }
    }

    for (const stream of [true, false]) {
      it(`is understood ${stream ? "streamed" : "plain"}`, async () => {
        const hello = await ask({ stream, messages: saying("hello") })
        expect(hello.progress).toBe("complete")
        expect(hello.answer).toMatchObject({
          text: "Hi thére 🌍",
          finish: "stop",
          usage: { inputTokens: 3, outputTokens: 4 }
        })
        const asked = await ask({ stream, messages: saying("weather"), tools: [weather] })
        expect(asked.answer?.finish).toBe("tool_calls")
        expect(asked.answer?.toolCalls.map(({ arguments: text }) => text)).toEqual([
          '{"city":"Rome"}',
          '{"city":"Oslo"}'
        ])
        const tool_calls = (asked.answer?.toolCalls ?? []).map(({ arguments: text, id, name }) => ({
          id,
          type: "function" as const,
          function: { name, arguments: text }
        }))
        const results = tool_calls.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: "rain" }))
        const messages = [...saying("weather"), { role: "assistant" as const, content: null, tool_calls }, ...results]
        expect((await ask({ stream, messages, tools: [weather] })).answer?.text).toBe("It rains.")
        const reasoned = await ask({ stream, messages: saying("think") })
        expect(reasoned.answer).toMatchObject({ text: "four", reasoning: [{ kind: "text", text: "two and two" }] })
        expect((await ask({ stream, messages: saying("rate") })).progress).toMatchObject({ _tag: "RateLimited" })
      })
    }
  })
}
