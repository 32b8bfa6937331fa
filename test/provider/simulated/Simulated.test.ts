import { randomUUID } from "node:crypto"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { ChatRequest, Tool } from "../../../src/domain/Chat.ts"
import { Accumulator } from "../../../src/domain/Completion.ts"
import { RequestId } from "../../../src/domain/Ids.ts"
import { completionTokens } from "../../../src/domain/Usage.ts"
import type { ProviderCall } from "../../../src/provider/Provider.ts"
import { Filler } from "../../../src/provider/simulated/JsonSchema.ts"
import { models } from "../../../src/provider/simulated/Models.ts"
import * as Simulated from "../../../src/provider/simulated/Simulated.ts"
import * as VirtualTimers from "../../../src/testing/doubles/VirtualTimers.ts"
import { call, open, saying } from "../protocols/calls.ts"

const modelOf = (id: string) => {
  const model = models.find((each) => each.id === id)
  if (model === undefined) throw new Error(`no model ${id}`)
  return model
}

const start = (id: string, asked: Partial<ChatRequest>, more: Partial<ProviderCall> = {}) => {
  const timers = VirtualTimers.make(0)
  const model = modelOf(id)
  const provider = Simulated.make(timers).find((each) => each.id === model.providerId)
  if (provider === undefined) throw new Error(`no provider ${model.providerId}`)
  return { timers, ...open(provider, { ...call(asked, { model, maxOutputTokens: 4096 }), ...more }) }
}

const run = (id: string, asked: Partial<ChatRequest>, more: Partial<ProviderCall> = {}) => {
  const { recorder, timers } = start(id, asked, more)
  timers.runAll()
  const accumulator = new Accumulator()
  for (const event of recorder.events) accumulator.add(event)
  return { recorder, answer: accumulator.answer, millis: timers.now() }
}

const weather: Tool = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", minimum: 2 } },
      required: ["city", "days"]
    }
  }
}
const search: Tool = { type: "custom", custom: { name: "web_search" } }

describe("listed simulated models", () => {
  const listed = models.filter((model) => model.listed)

  it("are six with tools, vision and schemas, of different price and quality, two of them shared", () => {
    expect(listed.map((model) => model.id)).toEqual([
      "sim/fast",
      "sim/balanced",
      "sim/best",
      "sim/deep",
      "sim2/balanced",
      "sim2/deep"
    ])
    for (const { capabilities } of listed) {
      expect([capabilities.tools, capabilities.vision, capabilities["structured-output"]]).toEqual([true, true, true])
    }
    expect(models.filter((model) => model.alias === "balanced")).toHaveLength(2)
    expect(listed.filter((model) => model.reasoning?.depth).map((model) => model.id)).toEqual(["sim/deep", "sim2/deep"])
  })

  it("answer the same to the same, stream or plain, with usage that fits what was said", () => {
    for (const { id } of listed) {
      const streamed = run(id, { messages: saying("Tell me something") })
      const plain = run(id, { messages: saying("Tell me something"), stream: false })
      expect(streamed.recorder.outcome).toBe("ended")
      expect(streamed.answer).toEqual(plain.answer)
      expect(streamed.answer).toEqual(run(id, { messages: saying("Tell me something") }).answer)
      expect(streamed.answer?.text).toContain("Tell me something")
      expect(streamed.answer?.usage?.inputTokens).toBe(5)
      const usage = streamed.answer?.usage
      const said = streamed.recorder.events.filter(
        (event) => event._tag === "Text" || event._tag === "Reasoning"
      ).length
      expect(usage && completionTokens(usage)).toBe(said)
    }
  })

  it("stream at a set pace", () => {
    const { recorder, timers } = start("sim/fast", { messages: saying("count to 50") })
    timers.advance(14)
    expect(recorder.events).toEqual([])
    timers.advance(21)
    const early = recorder.text
    expect(early).toMatch(/^1, 2/)
    expect(early).not.toContain("50")
    timers.runAll()
    expect(recorder.text).toMatch(/^1, 2.*49, 50$/)
  })

  it("grant small wishes, obey the cap and the stop strings", () => {
    expect(run("sim/fast", { messages: saying("Reply with exactly: pong") }).answer?.text).toBe("pong")
    const capped = run("sim/fast", { messages: saying("count to 100") }, { maxOutputTokens: 3 }).answer
    expect([capped?.finish, capped?.usage?.outputTokens]).toEqual(["length", 3])
    expect(run("sim/fast", { messages: saying("count to 9"), stop: [", 5"] }).answer?.text).toBe("1, 2, 3, 4")
  })

  it("call a tool when the prompt asks for it, with arguments that fit its schema", () => {
    const asked = { tools: [weather, search], messages: saying("What is the weather in Rome?") }
    const { answer } = run("sim/balanced", asked)
    expect(answer?.finish).toBe("tool_calls")
    expect(answer?.toolCalls.map((made) => [made.name, made.arguments])).toEqual([
      ["get_weather", '{"city":"Rome","days":2}']
    ])
    expect(run("sim/balanced", { ...asked, messages: saying("Hello") }).answer?.toolCalls).toEqual([])
    expect(run("sim/balanced", { ...asked, toolChoice: "none" }).answer?.toolCalls).toEqual([])
  })

  it("call tools by the same ids each time the same is asked for, and by different ids within a response and a conversation", () => {
    const asked = { tools: [weather, search], messages: saying("Get the weather in Rome and search the web") }
    const idsOf = (more: Partial<ChatRequest> = {}, requestId = RequestId.make(randomUUID())) =>
      run("sim/fast", { ...asked, ...more }, { requestId }).answer?.toolCalls.map(({ id }) => id) ?? []
    const [first, second] = idsOf()
    expect(idsOf()).toEqual([first, second])
    expect(first).toMatch(/^call_[0-9a-f]{32}0$/)
    const later = idsOf({ messages: [...asked.messages, { role: "assistant", content: "Done" }, ...asked.messages] })
    expect(new Set([first, second, ...later]).size).toBe(4)
  })

  it("obey forced tools, allow-lists and a ban on parallel calls", () => {
    const made = (asked: Partial<ChatRequest>) =>
      run("sim/fast", { tools: [weather, search], ...asked }).answer?.toolCalls.map((toolCall) => toolCall.name)
    expect(made({ toolChoice: "required" })).toEqual(["get_weather"])
    expect(made({ toolChoice: { type: "custom", custom: { name: "web_search" } } })).toEqual(["web_search"])
    const both = saying("weather and search")
    expect(made({ messages: both })).toEqual(["get_weather", "web_search"])
    expect(made({ messages: both, parallelToolCalls: false })).toEqual(["get_weather"])
    const only = {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "custom", custom: { name: "web_search" } }] }
    }
    expect(made({ messages: both, toolChoice: only })).toEqual(["web_search"])
  })

  it("use the results of their tools", () => {
    const { answer } = run("sim/fast", {
      tools: [weather],
      messages: [
        ...saying("What is the weather in Rome?"),
        {
          role: "assistant",
          tool_calls: [{ id: "c", type: "function", function: { name: "get_weather", arguments: "{}" } }]
        },
        { role: "tool", tool_call_id: "c", content: "21 degrees" }
      ]
    })
    expect([answer?.finish, answer?.text]).toEqual(["stop", "The tools answered: 21 degrees"])
  })

  it("go on with the tool that a result names, until none does", () => {
    const edit: Tool = {
      type: "function",
      function: {
        name: "edit_file",
        parameters: { type: "object", properties: { line: { type: "string" } }, required: ["line"] }
      }
    }
    const answerAfter = (result: string) =>
      run("sim/fast", {
        tools: [weather, edit],
        messages: [
          ...saying("What is the weather in Rome?"),
          {
            role: "assistant",
            tool_calls: [{ id: "c", type: "function", function: { name: "get_weather", arguments: "{}" } }]
          },
          { role: "tool", tool_call_id: "c", content: result }
        ]
      }).answer
    expect(answerAfter('21 degrees. Continue with edit_file: "warm"')?.toolCalls).toMatchObject([
      { name: "edit_file", arguments: '{"line":"warm"}' }
    ])
    expect(answerAfter("Continue with no_such_tool.")?.text).toBe("The tools answered: Continue with no_such_tool.")
  })

  it("say what they see", () => {
    const { answer } = run("sim/fast", {
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
            { type: "image_url", image_url: { url: "https://example.com/cat.jpg" } }
          ]
        }
      ]
    })
    expect(answer?.text).toMatch(/an image \(image\/png, 3 bytes\) and an image \(at example\.com\)/)
    expect(answer?.usage?.inputTokens).toBe(4 + 2 * 85)
  })

  it("fill the schema that was asked for", () => {
    const schema = {
      type: "object",
      properties: { name: { type: "string" }, age: { type: "integer" } },
      required: ["name", "age"]
    }
    const { answer } = run("sim/fast", {
      messages: saying('"Ada" is 36'),
      responseFormat: { type: "json_schema", json_schema: { name: "person", schema } }
    })
    expect(JSON.parse(answer?.text ?? "")).toEqual({ name: "Ada", age: 36 })
    expect(JSON.parse(run("sim/fast", { responseFormat: { type: "json_object" } }).answer?.text ?? "")).toHaveProperty(
      "answer"
    )
  })

  it("think longer the harder they are asked to", () => {
    const reasoningCount = (effort: ProviderCall["effort"]) =>
      run("sim/deep", {}, { effort }).answer?.usage?.reasoningTokens ?? 0
    const asked = [1, "low", "medium", "high", 50, 100] as const
    const counts = asked.map(reasoningCount)
    expect(counts).toEqual([...counts].sort((a, b) => a - b))
    expect(new Set(counts).size).toBe(counts.length)
    expect(run("sim/balanced", {}).answer?.reasoning).toEqual([])
  })

  it("give log probabilities when asked", () => {
    expect(run("sim/fast", { messages: saying("say hi"), logprobs: true, topLogprobs: 1 }).answer?.logprobs).toEqual([
      {
        token: "hi",
        logprob: -0.01,
        bytes: [104, 105],
        top_logprobs: [{ token: "hi", logprob: -0.01, bytes: [104, 105] }]
      }
    ])
  })
})

describe("misbehaving simulated models", () => {
  const table: ReadonlyArray<readonly [string, string, boolean]> = [
    ["fail", "ServerError", false],
    ["fail-mid", "ServerError", true],
    ["unreachable", "Unreachable", false],
    ["connect-timeout", "ConnectTimeout", false],
    ["rate-limited", "RateLimited", false],
    ["overloaded", "Overloaded", false],
    ["quota", "QuotaExhausted", false],
    ["bad-credential", "CredentialRejected", false],
    ["gone", "ModelGone", false],
    ["stall", "open", false],
    ["stall-mid", "open", true],
    ["cut", "Disconnected", false],
    ["cut-mid", "Disconnected", true],
    ["malformed", "BadResponse", false],
    ["malformed-mid", "BadResponse", true],
    ["empty", "EmptyCompletion", false],
    ["reject", "RequestRejected", false],
    ["refuse", "ContentPolicy", false],
    ["context", "ContextLengthExceeded", false],
    ["slow", "ended", true]
  ]
  for (const [name, outcome, speaks] of table) {
    it(`sim/${name} is never listed and ends in ${outcome}`, () => {
      expect(modelOf(`sim/${name}`).listed).toBe(false)
      const { recorder } = run(`sim/${name}`, { messages: saying("count to 20") })
      expect([recorder.outcome, recorder.text !== ""]).toEqual([outcome, speaks])
    })
  }

  it("are all in this table", () => {
    const unlisted = models.filter((model) => !model.listed).map((model) => model.id)
    expect(unlisted.sort()).toEqual(table.map(([name]) => `sim/${name}`).sort())
  })

  it("name a time to come back when they limit the rate", () => {
    expect(run("sim/rate-limited", {}).recorder.errors[0]?.retryAfterMillis).toBe(5000)
  })
})

const fill = (schema: unknown, prompt: string): unknown => new Filler(prompt).fill(schema)

describe("filled schemas", () => {
  it("references, alternatives, bounds and recursion", () => {
    const tree = {
      $defs: {
        node: {
          type: "object",
          properties: { value: { type: "number" }, next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } }
        }
      },
      $ref: "#/$defs/node"
    }
    expect(fill(tree, "")).toMatchObject({ value: 1, next: { value: 1 } })
    expect(fill({ enum: ["red", "blue"] }, "a Blue one")).toBe("blue")
    expect(fill({ type: ["string", "null"], minLength: 9, maxLength: 9 }, "")).toHaveLength(9)
    expect(fill({ type: "array", items: { type: "integer", multipleOf: 5, minimum: 7 }, minItems: 3 }, "")).toEqual([
      10, 10, 10
    ])
    expect(
      fill(
        {
          allOf: [
            { properties: { a: { const: 1 } }, required: ["a"] },
            { properties: { b: { default: 2 } }, required: ["b"] }
          ]
        },
        ""
      )
    ).toEqual({ a: 1, b: 2 })
  })

  it("no schema makes it throw or run forever", () => {
    fc.assert(fc.property(fc.jsonValue(), fc.string(), (schema, prompt) => void fill(schema, prompt)))
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom("type", "properties", "items", "$ref", "anyOf", "allOf", "enum", "required"),
          fc.jsonValue()
        ),
        (schema) => void fill(schema, "x")
      )
    )
  })
})
