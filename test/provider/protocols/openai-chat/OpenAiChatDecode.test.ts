import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { ChatEvent } from "../../../../src/domain/ChatEvent.ts"
import { Accumulator } from "../../../../src/domain/Completion.ts"
import type { ProviderFailure } from "../../../../src/domain/ProviderError.ts"
import * as OpenAiChat from "../../../../src/provider/protocols/openai-chat/OpenAiChat.ts"
import { compatible, openAi } from "../../../../src/provider/protocols/openai-chat/Quirks.ts"
import { call, requestId } from "../calls.ts"

const protocol = OpenAiChat.make(openAi)

interface Decoded {
  readonly events: ReadonlyArray<ChatEvent>
  readonly ending: "complete" | ProviderFailure["_tag"]
}

const decode = (stream: string, places: ReadonlyArray<number> = [], from = protocol): Decoded => {
  const whole = new TextEncoder().encode(stream)
  const reader = from.stream.open(call())
  const events: Array<ChatEvent> = []
  const at = [0, ...[...places].map((place) => place % (whole.length + 1)).sort((a, b) => a - b), whole.length]
  for (let n = 1; n < at.length; n++) {
    const step = reader.push(whole.subarray(at[n - 1], at[n]))
    events.push(...step.events)
    if (step.progress !== "incomplete") return { events, ending: nameOf(step.progress) }
  }
  const last = reader.end()
  return {
    events: [...events, ...last.events],
    ending: last.progress === "incomplete" ? "Disconnected" : nameOf(last.progress)
  }
}

const nameOf = (progress: "complete" | ProviderFailure): Decoded["ending"] =>
  progress === "complete" ? "complete" : progress._tag

const frame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const chunk = (delta: unknown, finish: string | null = null, more: object = {}): string =>
  frame({ choices: [{ index: 0, delta, finish_reason: finish }], ...more })
const done = "data: [DONE]\n\n"
const text = (value: string): string => chunk({ content: value })
const toolCall = (fragment: object): string => chunk({ tool_calls: [fragment] })
const finish = chunk({}, "stop")

const added = (events: ReadonlyArray<ChatEvent>) => {
  const accumulator = new Accumulator()
  for (const event of events) accumulator.add(event)
  return accumulator.answer
}

describe("how a stream ends", () => {
  const table: ReadonlyArray<readonly [string, string, Decoded["ending"]]> = [
    ["finish and [DONE]", text("a") + finish + done, "complete"],
    ["finish without [DONE]", text("a") + finish, "complete"],
    ["no finish", text("a"), "Disconnected"],
    ["[DONE] without finish after content", text("a") + done, "Disconnected"],
    ["[DONE] without anything", done, "EmptyCompletion"],
    ["nothing", "", "Disconnected"],
    ["a blank finish is none", text("a") + chunk({}, ""), "Disconnected"],
    ["half an event", `${text("a")}data: {"choi`, "Disconnected"],
    ["not JSON", "data: {\n\n", "BadResponse"],
    ["not an object", "data: 1\n\n", "BadResponse"],
    ["an object without choices", frame({ ping: 1 }), "BadResponse"],
    [
      "frames without data, and events of other names",
      `data:\n\n${text("a")}data: \n\nevent: ping\ndata: {"type":"ping"}\n\nevent: heartbeat\ndata: alive\n\n${finish}`,
      "complete"
    ],
    ["content under another name", `event: chunk\n${text("a")}event: chunk\n${finish}`, "complete"],
    ["an error under another name", `${text("a")}event: chunk\n${frame({ error: { message: "x" } })}`, "ServerError"],
    ["pings and no finish", `${text("a")}event: ping\ndata: {}\n\n`, "Disconnected"],
    ["malformed after content", `${text("a")}data: {\n\n`, "BadResponse"],
    ["an error first", frame({ error: { message: "x", type: "server_error" } }), "ServerError"],
    ["an error named by its event", `event: error\n${frame({ message: "x", type: "overloaded_error" })}`, "Overloaded"],
    ["an error beside empty choices", frame({ choices: [], error: { code: 429, message: "x" } }), "RateLimited"],
    ["an error inside a choice", frame({ choices: [{ index: 0, delta: {}, error: { code: 502 } }] }), "ServerError"],
    ["an error after content", text("a") + frame({ error: { message: "x" } }), "ServerError"],
    ["finish reason error", chunk({}, "error"), "ServerError"],
    ["finish reason __proto__ is only unknown", text("a") + chunk({}, "__proto__"), "BadResponse"],
    ["finish reason constructor is only unknown", text("a") + chunk({}, "constructor"), "BadResponse"],
    ["a second finish reason that is unknown", text("a") + finish + chunk({}, "abort"), "BadResponse"],
    ["a tool call that never gets a name", toolCall({ index: 0, id: "x" }) + finish, "BadResponse"],
    ["a function call in the deprecated form", chunk({ function_call: { name: "f", arguments: "" } }), "BadResponse"],
    ["its arguments alone", text("a") + chunk({ function_call: { arguments: "{}" } }) + finish, "BadResponse"],
    [
      "none in the deprecated form",
      chunk({ content: "a", function_call: { name: "", arguments: "" } }) + finish,
      "complete"
    ],
    ["an event that is too large", text("x".repeat(1_100_000)), "BadResponse"]
  ]
  for (const [name, stream, ending] of table) it(name, () => expect(decode(stream).ending).toBe(ending))

  it("what came before a failure has been delivered", () => {
    expect(decode(text("a") + frame({ error: { message: "x" } })).events).toEqual([{ _tag: "Text", text: "a" }])
  })

  it("finish reasons are mapped, the provider's word kept", () => {
    const finished = (reason: string) => decode(text("a") + chunk({}, reason)).events.at(-1)
    for (const [native, reason] of [
      ["stop", "stop"],
      ["length", "length"],
      ["model_length", "length"],
      ["content_filter", "content_filter"],
      // as vLLM finishes where a call was asked for and none was made: clients would look for one
      ["tool_calls", "stop"],
      ["tool_use", "stop"]
    ]) {
      expect(finished(native ?? "")).toEqual({ _tag: "Finish", reason, native })
    }
    const called = toolCall({ index: 0, id: "a", function: { name: "f", arguments: "{}" } })
    for (const native of ["stop", "tool_calls", "function_call"]) {
      expect(decode(called + chunk({}, native)).events.at(-1)).toEqual({ _tag: "Finish", reason: "tool_calls", native })
    }
  })
})

describe("tool calls", () => {
  const callsOf = (stream: string) =>
    added(decode(stream + finish).events)?.toolCalls.map(({ id, name, arguments: given }) => [id, name, given])

  it("parallel fragments come together by index", () => {
    const stream =
      toolCall({ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }) +
      toolCall({ index: 1, id: "b", type: "function", function: { name: "g", arguments: '{"y"' } }) +
      toolCall({ index: 0, function: { arguments: '{"x":1}' } }) +
      toolCall({ index: 1, function: { arguments: ":2}" } })
    expect(callsOf(stream)).toEqual([
      ["a", "f", '{"x":1}'],
      ["b", "g", '{"y":2}']
    ])
  })

  it("calls without arguments have an empty object, unless the response was cut short", () => {
    const blank = (index: number, id: string) =>
      toolCall({ index, id, type: "function", function: { name: id, arguments: "" } })
    expect(callsOf(blank(0, "a") + toolCall({ index: 0, function: { arguments: " " } }) + blank(1, "b"))).toEqual([
      ["a", "a", " {}"],
      ["b", "b", "{}"]
    ])
    expect(added(decode(blank(0, "a") + chunk({}, "length")).events)?.toolCalls).toMatchObject([{ arguments: "" }])
    const custom = toolCall({ index: 0, id: "c", type: "custom", custom: { name: "c", input: "" } })
    expect(callsOf(custom)).toEqual([["c", "c", ""]])
    const plain = (more: object) =>
      added(
        protocol.nonStreaming(
          call(),
          JSON.stringify({
            choices: [{ message: { tool_calls: [{ id: "a", function: { name: "a", arguments: "" } }] }, ...more }]
          })
        ).events
      )?.toolCalls
    expect(plain({ finish_reason: "tool_calls" })).toMatchObject([{ arguments: "{}" }])
    expect(plain({})).toMatchObject([{ arguments: "{}" }])
  })

  it("an upstream that gives every call the index 0 is split by its new ids", () => {
    const whole = (id: string, name: string) =>
      toolCall({ index: 0, id, function: { name, arguments: `{"n":"${id}"}` } })
    expect(callsOf(whole("a", "f") + whole("b", "f") + whole("c", "g"))).toEqual([
      ["a", "f", '{"n":"a"}'],
      ["b", "f", '{"n":"b"}'],
      ["c", "g", '{"n":"c"}']
    ])
  })

  it.each<readonly [string, object, object]>([
    ["without an id", { index: 0 }, { index: 0 }],
    ["with the same id", { index: 0, id: "a" }, { index: 0, id: "a" }],
    ["with the same id and no index", { id: "a" }, { id: "a" }],
    ["with nothing but a name", {}, {}]
  ])("whole calls at one index %s are two calls with an id each", (_, first, second) => {
    const stream =
      toolCall({ ...first, function: { name: "f", arguments: '{"a":1}' } }) +
      toolCall({ ...second, function: { name: "f", arguments: '{"b":2}' } }) +
      toolCall({ ...second, function: { name: "g", arguments: "{}" } })
    const calls = callsOf(stream) ?? []
    expect(calls.map(([, name, given]) => [name, given])).toEqual([
      ["f", '{"a":1}'],
      ["f", '{"b":2}'],
      ["g", "{}"]
    ])
    expect(new Set(calls.map(([id]) => id)).size).toBe(3)
    const atOnce = chunk({
      tool_calls: [
        { ...first, function: { name: "f", arguments: '{"a":1}' } },
        { ...second, function: { name: "f", arguments: '{"b":2}' } }
      ]
    })
    expect(callsOf(atOnce)?.map(([, , given]) => given)).toEqual(['{"a":1}', '{"b":2}'])
  })

  it("a name that is repeated with nothing, or before the arguments are complete, is no other call", () => {
    const named = (id: string | undefined, args: string) =>
      toolCall({ index: 0, id, function: { name: "f", arguments: args } })
    for (const id of ["a", undefined]) {
      const stream = named(id, "") + named(id, '{"x"') + named(id, ":1}") + named(id, "") + named(id, " ")
      expect(callsOf(stream)?.map(([, , given]) => given?.trim())).toEqual(['{"x":1}'])
    }
  })

  it("an id that is repeated in later fragments is not another call", () => {
    const stream =
      toolCall({ index: 0, id: "a", function: { name: "f", arguments: "1" } }) +
      toolCall({ index: 0, id: "a", function: { name: "f", arguments: "2" } })
    expect(callsOf(stream)).toEqual([["a", "f", "12"]])
  })

  it("a missing index is found by id, else by order; indexes with gaps are closed", () => {
    const stream =
      toolCall({ id: "a", function: { name: "f", arguments: "1" } }) +
      toolCall({ id: "b", function: { name: "g", arguments: "2" } }) +
      toolCall({ function: { arguments: "3" } }) +
      toolCall({ id: "a", function: { arguments: "4" } }) +
      toolCall({ index: 7, id: "c", function: { name: "h", arguments: "5" } })
    const { events } = decode(stream)
    expect(callsOf(stream)).toEqual([
      ["a", "f", "14"],
      ["b", "g", "23"],
      ["c", "h", "5"]
    ])
    expect(new Set(events.flatMap((event) => (event._tag === "ToolCall" ? [event.index] : [])))).toEqual(
      new Set([0, 1, 2])
    )
  })

  it("a missing id is made from the request's, the same each time", () => {
    const stream = toolCall({ index: 0, function: { name: "f", arguments: "{}" } })
    const id = `call_${requestId.replaceAll("-", "")}0`
    expect(callsOf(stream)).toEqual([[id, "f", "{}"]])
    expect(id.length).toBeLessThanOrEqual(40)
  })

  it("only the first fragment has id and name, also when the name comes late", () => {
    const { events } = decode(
      toolCall({ index: 0, id: "a", function: { arguments: "1" } }) +
        toolCall({ index: 0, function: { name: "f", arguments: "2" } }) +
        toolCall({ index: 0, id: "a", function: { name: "f", arguments: "3" } })
    )
    expect(events).toEqual([
      { _tag: "ToolCall", index: 0, kind: "function", id: "a", name: "f", arguments: "12" },
      { _tag: "ToolCall", index: 0, kind: "function", arguments: "3" }
    ])
  })

  it("custom calls, arguments as an object and extra content are understood", () => {
    const { events } = decode(
      toolCall({ index: 0, id: "a", type: "custom", custom: { name: "c", input: "raw" } }) +
        toolCall({
          index: 1,
          id: "b",
          function: { name: "f", arguments: { x: 1 } },
          extra_content: { google: { s: "t" } }
        })
    )
    expect(events).toEqual([
      { _tag: "ToolCall", index: 0, kind: "custom", id: "a", name: "c", arguments: "raw" },
      {
        _tag: "ToolCall",
        index: 1,
        kind: "function",
        id: "b",
        name: "f",
        arguments: '{"x":1}',
        extraContent: { google: { s: "t" } }
      }
    ])
  })
})

describe("reasoning", () => {
  const reasoning = (stream: string, from = protocol) =>
    added(decode(stream + finish, [], from).events)?.reasoning.map(({ kind, text, signature }) => [
      kind,
      text,
      signature
    ])

  it("is read under each of its names, and once where several are sent", () => {
    expect(reasoning(chunk({ reasoning_content: "a" }) + chunk({ reasoning_content: "b" }))).toEqual([
      ["text", "ab", null]
    ])
    expect(reasoning(chunk({ reasoning: "a" }))).toEqual([["text", "a", null]])
    expect(reasoning(chunk({ reasoning: "a", reasoning_content: "a" }))).toEqual([["text", "a", null]])
    const detail = { type: "reasoning.text", text: "a", index: 0 }
    expect(reasoning(chunk({ reasoning: "a", reasoning_details: [detail] }))).toEqual([["text", "a", null]])
  })

  it("details keep their blocks, kinds and signatures apart", () => {
    const stream =
      chunk({ reasoning_details: [{ type: "reasoning.summary", summary: "s", index: 0 }] }) +
      chunk({ reasoning_details: [{ type: "reasoning.encrypted", data: "e", index: 1 }] }) +
      chunk({ reasoning_details: [{ type: "reasoning.text", text: "t", index: 2 }] }) +
      chunk({ reasoning_details: [{ type: "reasoning.text", signature: "g", index: 2 }] })
    expect(reasoning(stream)).toEqual([
      ["summary", "s", null],
      ["encrypted", "e", null],
      ["text", "t", "g"]
    ])
  })

  it("details tell once how their block is encoded", () => {
    const detail = (more: object) => chunk({ reasoning_details: [{ index: 0, format: "google-gemini-v1", ...more }] })
    const stream =
      detail({ type: "reasoning.text", id: "early", text: "" }) +
      detail({ type: "reasoning.text", text: "a" }) +
      detail({ type: "reasoning.text", text: "b" }) +
      detail({ type: "reasoning.encrypted", data: "e", format: null })
    const { events } = decode(stream + text("hi") + finish)
    expect(events.flatMap((event) => (event._tag === "Reasoning" ? [[event.text, event.providerFormat]] : []))).toEqual(
      [
        ["", undefined],
        ["a", "google-gemini-v1"],
        ["b", undefined],
        ["e", undefined]
      ]
    )
    expect(added(events)?.reasoning.map(({ providerFormat }) => providerFormat)).toEqual([
      "google-gemini-v1",
      undefined
    ])
  })

  it("reasoning in a list of content parts is not text", () => {
    const stream = chunk({
      content: [
        { type: "thinking", thinking: [{ type: "text", text: "t" }] },
        { type: "text", text: "a" }
      ]
    })
    expect([reasoning(stream), added(decode(stream + finish).events)?.text]).toEqual([[["text", "t", null]], "a"])
  })

  it("a vendor that repeats its reasoning so far is read once", () => {
    const repeating = OpenAiChat.make({ ...compatible, repeatsReasoning: true })
    const detail = (said: string) => chunk({ reasoning_details: [{ type: "reasoning.text", text: said, index: 0 }] })
    expect(reasoning(detail("One") + detail("One two") + detail("One two three"), repeating)).toEqual([
      ["text", "One two three", null]
    ])
  })
})

describe("usage", () => {
  const usage = (value: unknown, more: object = {}) =>
    added(decode(frame({ choices: [], usage: value, ...more }) + text("a") + finish).events)?.usage
  const counts = (value: unknown) => {
    const u = usage(value)
    return u && [u.inputTokens, u.cacheReadTokens, u.cacheWriteTokens, u.outputTokens, u.reasoningTokens]
  }

  it("is told in disjoint counts, whatever the vendor's spelling", () => {
    const base = { prompt_tokens: 100, completion_tokens: 50 }
    expect(counts(base)).toEqual([100, 0, 0, 50, 0])
    expect(
      counts({
        ...base,
        prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
        completion_tokens_details: { reasoning_tokens: 10 }
      })
    ).toEqual([50, 30, 20, 40, 10])
    expect(counts({ ...base, prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40 })).toEqual([40, 60, 0, 50, 0])
    expect(counts({ ...base, cached_tokens: 10 })).toEqual([90, 10, 0, 50, 0])
    expect(counts({ ...base, total_tokens: 170, completion_tokens_details: { reasoning_tokens: 20 } })).toEqual([
      100, 0, 0, 50, 20
    ])
    expect(counts({ ...base, completion_tokens_details: { reasoning_tokens: 80 } })).toEqual([100, 0, 0, 50, 80])
    expect(counts({ ...base, prompt_tokens_details: { cached_tokens: 1000 } })).toEqual([0, 100, 0, 50, 0])
  })

  it("absurd counts are as if they had not come", () => {
    for (const absurd of [-1, 1.5, "10", null, 1e12, true]) {
      expect(usage({ prompt_tokens: absurd, completion_tokens: 5 })).toBeNull()
      expect(usage({ prompt_tokens: 5, completion_tokens: absurd })).toBeNull()
      expect(
        counts({ prompt_tokens: 5, completion_tokens: 5, prompt_tokens_details: { cached_tokens: absurd } })
      ).toEqual([5, 0, 0, 5, 0])
    }
  })

  it("the last one holds, wherever it stands", () => {
    const stream =
      frame({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }) +
      chunk({ content: "a" }, "stop", { x_groq: { usage: { prompt_tokens: 2, completion_tokens: 2 } } }) +
      frame({ choices: [{ index: 0, delta: {}, usage: { prompt_tokens: 3, completion_tokens: 3 } }] })
    expect(added(decode(stream).events)?.usage?.inputTokens).toBe(3)
  })
})

describe("the rest of an answer", () => {
  it("refusal, annotations, audio, log probabilities and who has served it", () => {
    const logprobs = [{ token: "a", logprob: -1, bytes: [97], top_logprobs: [] }]
    const answer = added(
      decode(
        chunk({ refusal: "no" }, null, { model: "m-1", service_tier: "flex", system_fingerprint: "fp" }) +
          chunk({ annotations: [{ type: "url_citation" }], audio: { id: "au", data: "QQ==" } }, null, {
            model: "m-1"
          }) +
          frame({ choices: [{ index: 0, delta: { content: "a" }, logprobs: { content: logprobs } }] }) +
          frame({ choices: [{ index: 1, delta: { content: "another choice" } }] }) +
          finish
      ).events
    )
    expect(answer).toMatchObject({
      text: "a",
      refusal: "no",
      annotations: [{ type: "url_citation" }],
      audio: { id: "au", data: "QQ==" },
      logprobs,
      servedModel: "m-1",
      serviceTier: "flex",
      systemFingerprint: expect.stringMatching(/^fp_[0-9a-f]{12}$/)
    })
  })
})

describe("non-streaming responses", () => {
  const plain = (body: unknown) => {
    const step = protocol.nonStreaming(call(), typeof body === "string" ? body : JSON.stringify(body))
    return { events: step.events, ending: step.progress === "incomplete" ? "incomplete" : nameOf(step.progress) }
  }
  const message = {
    role: "assistant",
    content: "ab",
    reasoning_content: "t",
    tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }]
  }
  const usage = { prompt_tokens: 1, completion_tokens: 2 }

  it("add up to the same as their stream", () => {
    const streamed = decode(
      chunk({ reasoning_content: "t" }, null, { model: "m" }) +
        text("a") +
        text("b") +
        toolCall({ index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } }) +
        chunk({}, "tool_calls") +
        frame({ choices: [], usage }) +
        done
    )
    const atOnce = plain({ model: "m", choices: [{ index: 0, message, finish_reason: "tool_calls" }], usage })
    expect(atOnce.ending).toBe("complete")
    expect(added(atOnce.events)).toEqual(added(streamed.events))
  })

  it("without a finish reason are whole all the same", () => {
    for (const finish_reason of [undefined, null, ""]) {
      const said = plain({ choices: [{ message: { content: "a" }, finish_reason }] })
      expect([said.ending, added(said.events)?.finish, added(said.events)?.text]).toEqual(["complete", "stop", "a"])
      const calls = [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }]
      const called = plain({ choices: [{ message: { content: null, tool_calls: calls }, finish_reason }] })
      expect([called.ending, added(called.events)?.finish]).toEqual(["complete", "tool_calls"])
    }
    expect(plain({ choices: [{ message: { content: "a" }, finish_reason: "abort" }] }).ending).toBe("BadResponse")
  })

  it("have as many calls as their list, with an id each", () => {
    const of = (...calls: ReadonlyArray<readonly [id: string | undefined, index: number | undefined, n: number]>) => {
      const tool_calls = calls.map(([id, index, n]) => ({
        id,
        index,
        function: { name: "f", arguments: `{"n":${n}}` }
      }))
      const { events } = plain({ choices: [{ message: { tool_calls }, finish_reason: "tool_calls" }] })
      return added(events)?.toolCalls ?? []
    }
    for (const calls of [
      of(["a", undefined, 1], ["a", undefined, 2]),
      of(["a", 0, 1], ["a", 0, 2]),
      of([undefined, 0, 1], [undefined, 0, 2]),
      of([undefined, undefined, 1], [undefined, undefined, 2])
    ]) {
      expect(calls.map((one) => one.arguments)).toEqual(['{"n":1}', '{"n":2}'])
      expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
    }
  })

  it("that are none are failures", () => {
    expect(plain("nonsense").ending).toBe("BadResponse")
    expect(plain("[]").ending).toBe("BadResponse")
    expect(plain({}).ending).toBe("BadResponse")
    expect(plain({ choices: [{ message: { content: "a", tool_calls: [{ id: "a", function: {} }] } }] }).ending).toBe(
      "BadResponse"
    )
    expect(plain({ choices: [{ message: { content: "" }, finish_reason: "" }] }).ending).toBe("EmptyCompletion")
    expect(plain({ choices: [] }).ending).toBe("EmptyCompletion")
    expect(plain({ choices: [{ index: 0, finish_reason: "stop" }] }).ending).toBe("BadResponse")
    expect(plain({ choices: [{ index: 0, message: null, finish_reason: "stop" }] }).ending).toBe("BadResponse")
    expect(plain({ error: { message: "x", code: "rate_limit_exceeded" } }).ending).toBe("RateLimited")
    expect(plain({ error: "something", status: 500 }).ending).toBe("ServerError")
  })
})

describe("properties", () => {
  const anyFrame = fc.oneof(
    fc.string({ maxLength: 6 }).map((value) => text(value)),
    fc.constantFrom(
      ": comment\n\n",
      finish,
      chunk({ reasoning: "r" }),
      toolCall({ index: 0, id: "a", function: { name: "f", arguments: "1" } }),
      toolCall({ index: 0, function: { arguments: "é" } }),
      frame({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }),
      frame({ error: { message: "x" } }),
      "data: {\r\n\r\n",
      done
    )
  )

  it("any split of the bytes gives the same events and the same ending", () => {
    fc.assert(
      fc.property(fc.array(anyFrame, { maxLength: 20 }), fc.array(fc.nat(), { maxLength: 10 }), (frames, places) => {
        const stream = frames.join("")
        expect(decode(stream, places)).toEqual(decode(stream))
      }),
      { numRuns: 500 }
    )
  })

  it("no JSON makes it throw, and an answer is whole only with a finish", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.json(),
            fc.json().map((json) => `{"choices":[{"delta":${json}}]}`)
          ),
          { maxLength: 5 }
        ),
        (values) => {
          const { events, ending } = decode(values.map((value) => `data: ${value}\n\n`).join(""))
          expect(ending === "complete").toBe(ending === "complete" && events.some((event) => event._tag === "Finish"))
        }
      )
    )
  })
})
