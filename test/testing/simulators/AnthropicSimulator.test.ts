import { it as effectIt } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { rejectedBy } from "../../../src/testing/simulators/anthropic/AnthropicRules.ts"
import { AnthropicSimulator } from "../../../src/testing/simulators/anthropic/AnthropicSimulator.ts"

interface Fields {
  readonly [field: string]: unknown
}

const text = (value: string) => ({ type: "text", text: value })
const user = (...content: ReadonlyArray<unknown>) => ({ role: "user", content })
const assistant = (...content: ReadonlyArray<unknown>) => ({ role: "assistant", content })
const use = (id: string) => ({ type: "tool_use", id, name: "f", input: {} })
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: [text("x")] })
const tool = (more: Fields = {}) => ({ name: "f", input_schema: { type: "object", properties: {} }, ...more })

const verdict = (
  more: Fields,
  version = "2023-06-01",
  headers: Readonly<Record<string, string>> = { "x-api-key": "k" }
) =>
  rejectedBy({
    method: "POST",
    path: "/v1/messages",
    headers: { "anthropic-version": version, "content-type": "application/json", ...headers },
    text: JSON.stringify({ model: "claude-haiku-4-5", max_tokens: 4000, messages: [user(text("hi"))], ...more }),
    closed: Promise.resolve("answered")
  })
const refusal = (more: Fields, version?: string): string | undefined => {
  const found = verdict(more, version)
  return "rejection" in found ? found.rejection.message : undefined
}
const says = (...messages: ReadonlyArray<unknown>): Fields => ({ messages })

describe("the simulator of Anthropic", () => {
  it("takes what is right", () => {
    expect(refusal({})).toBeUndefined()
    expect(refusal({ system: [text("x")], temperature: 0.5, stop_sequences: ["END"], stream: true })).toBeUndefined()
    expect(
      refusal({
        tools: [tool()],
        ...says(user(text("a")), assistant(use("x"), use("y")), user(result("y"), result("x"), text("b")))
      })
    ).toBeUndefined()
    expect(refusal({ thinking: { type: "enabled", budget_tokens: 1024, display: "omitted" } })).toBeUndefined()
    expect(refusal({ top_p: 1, top_k: 0, stream: false, metadata: { user_id: "x" } })).toBeUndefined()
    const choice = { type: "tool", name: "f", disable_parallel_tool_use: true }
    expect(refusal({ tools: [tool({ type: "custom", description: "x" })], tool_choice: choice })).toBeUndefined()
  })

  it("takes system messages among the messages where the model does, between a user and an assistant message or last", () => {
    const system = { role: "system", content: [text("s")] }
    const of = (model: string, ...messages: ReadonlyArray<unknown>) => refusal({ model, messages }, "2026-10-21")
    const opus = (...messages: ReadonlyArray<unknown>) => of("claude-opus-4-8", ...messages)
    expect(opus(user(text("a")), system)).toBeUndefined()
    expect(opus(user(text("a")), system, assistant(text("b")), user(text("c")))).toBeUndefined()
    expect(of("claude-fable-5", user(text("a")), system)).toBeUndefined()
    for (const model of ["claude-opus-4-7", "claude-sonnet-5"])
      expect(of(model, user(text("a")), system)).toBe("role 'system' is not supported on this model")
    expect(opus(system, user(text("a")))).toContain("top-level 'system'")
    expect(opus(user(text("a")), assistant(text("b")), system)).toContain("must follow a user message")
    expect(opus(user(text("a")), system, system)).toContain("must be last or be followed by an assistant")
    expect(opus(user(text("a")), system, user(text("b")))).toContain("must be last or be followed by an assistant")
    expect(opus(user(text("a")), { role: "system", content: [use("x")] })).toContain("text only")
  })

  const wrong: ReadonlyArray<readonly [name: string, more: Fields, version?: string]> = [
    ["a missing cap", { max_tokens: undefined }],
    ["an unknown field", { seed: 1 }],
    ["no messages", says()],
    ["an assistant first", says(assistant(text("x")))],
    ["two users in a row", says(user(text("a")), user(text("b")))],
    ["another role", says({ role: "tool", content: [text("x")] })],
    ["an empty text", says(user(text("")))],
    ["a blank text", says(user(text(" \n")))],
    ["an empty turn", says(user())],
    ["an empty system", { system: [] }],
    ["blanks at the end of the last answer", says(user(text("a")), assistant(text("b ")))],
    ["a call without a result", says(user(text("a")), assistant(use("x")), user(text("b")))],
    ["a call at the end", says(user(text("a")), assistant(use("x")))],
    ["half of the results", says(user(text("a")), assistant(use("x"), use("y")), user(result("x")))],
    ["a result after text", says(user(text("a")), assistant(use("x")), user(text("b"), result("x")))],
    ["a result of no call", says(user(result("x")))],
    ["an id twice", says(user(text("a")), assistant(use("x"), use("x")), user(result("x"), result("x")))],
    ["a strange id", says(user(text("a")), assistant(use("x:1")), user(result("x:1")))],
    ["arguments as text", says(user(text("a")), assistant({ ...use("x"), input: "{}" }), user(result("x")))],
    [
      "an empty text in a result",
      says(user(text("a")), assistant(use("x")), user({ ...result("x"), content: [text("")] }))
    ],
    [
      "reasoning that nobody signed",
      says(user(text("a")), assistant({ type: "thinking", thinking: "x" }, text("b")), user(text("c")))
    ],
    [
      "another's signature",
      says(user(text("a")), assistant({ type: "thinking", thinking: "x", signature: "s" }, text("b")), user(text("c")))
    ],
    [
      "foreign redacted reasoning",
      says(user(text("a")), assistant({ type: "redacted_thinking", data: "d" }, text("b")), user(text("c")))
    ],
    ["an unknown block", says(user({ type: "image_url", image_url: { url: "x" } }))],
    [
      "an unknown image",
      says(user({ type: "image", source: { type: "base64", media_type: "image/tiff", data: "AAAA" } }))
    ],
    ["broken base64", says(user({ type: "image", source: { type: "base64", media_type: "image/png", data: "A" } }))],
    [
      "five breakpoints",
      says(user(...[1, 2, 3, 4, 5].map(() => ({ ...text("x"), cache_control: { type: "ephemeral" } }))))
    ],
    ["a hot temperature", { temperature: 1.1 }],
    ["temperature as text", { temperature: "1" }],
    ["a top_p above 1", { top_p: 1.1 }],
    ["a negative top_k", { top_k: -1 }],
    ["half a top_k", { top_k: 1.5 }],
    ["a stream that is not a boolean", { stream: "yes" }],
    ["an unknown field of a message", says({ ...user(text("x")), name: "x" })],
    ["an unknown field of a tool", { tools: [tool({ foo: 1 })] }],
    ["an unknown field of the metadata", { metadata: { foo: "x" } }],
    ["an unknown field of the reasoning", { thinking: { type: "enabled", budget_tokens: 1024, foo: 1 } }],
    ["a budget of no reasoning", { thinking: { type: "disabled", budget_tokens: 1024 } }],
    ["an unknown field of the choice", { tools: [tool()], tool_choice: { type: "auto", foo: 1 } }],
    ["a name in a choice of any tool", { tools: [tool()], tool_choice: { type: "any", name: "f" } }],
    ["an unknown field of the output", { output_config: { foo: 1 } }],
    [
      "an unknown field of the output's format",
      { output_config: { format: { type: "json_schema", schema: { type: "string" }, name: "x" } } }
    ],
    ["temperature with top_p", { temperature: 0.5, top_p: 0.5 }],
    ["temperature while reasoning", { temperature: 0.5, thinking: { type: "enabled", budget_tokens: 1024 } }],
    ["temperature for a model without it", { temperature: 1, model: "claude-opus-4-8" }],
    ["temperature in the newer version", { temperature: 1 }, "2026-10-21"],
    ["a small budget", { thinking: { type: "enabled", budget_tokens: 1023 } }],
    ["a budget of the whole cap", { thinking: { type: "enabled", budget_tokens: 4000 } }],
    [
      "a budget for an adaptive model",
      { model: "claude-opus-4-8", thinking: { type: "enabled", budget_tokens: 1024 } }
    ],
    ["adaptive reasoning for an older model", { thinking: { type: "adaptive" } }],
    ["no reasoning for one that must", { model: "claude-fable-5", thinking: { type: "disabled" } }],
    [
      "a forced tool while reasoning",
      { tools: [tool()], tool_choice: { type: "any" }, thinking: { type: "enabled", budget_tokens: 1024 } }
    ],
    [
      "a forced tool of one that always thinks",
      { model: "claude-fable-5", tools: [tool()], tool_choice: { type: "tool", name: "f" } }
    ],
    [
      "a budget amid tool calls without reasoning",
      {
        thinking: { type: "enabled", budget_tokens: 1024 },
        ...says(user(text("a")), assistant(use("x")), user(result("x")))
      }
    ],
    ["a strange tool name", { tools: [tool({ name: "a.b" })] }],
    ["a tool twice", { tools: [tool(), tool()] }],
    ["a tool without an object", { tools: [tool({ input_schema: { type: "string" } })] }],
    ["a choice without tools", { tool_choice: { type: "auto" } }],
    ["a choice of no tool", { tools: [tool()], tool_choice: { type: "tool", name: "g" } }],
    ["a strict tool that is open", { tools: [tool({ strict: true })] }],
    ["an open schema", { output_config: { format: { type: "json_schema", schema: { type: "object" } } } }],
    [
      "an unknown keyword",
      { output_config: { format: { type: "json_schema", schema: { type: "number", minimum: 1 } } } }
    ],
    ["an unknown effort", { output_config: { effort: "minimal" } }],
    ["a blank stop sequence", { stop_sequences: ["x", "\n"] }],
    ["another service tier", { service_tier: "flex" }],
    ["an unknown version", {}, "2030-01-01"]
  ]
  for (const [name, more, version] of wrong) {
    it(`refuses ${name}`, () => expect(refusal(more, version)).toEqual(expect.any(String)))
  }

  it("asks for a key, and does not know other models", () => {
    expect(verdict({}, "2023-06-01", {})).toMatchObject({ rejection: { status: 401 } })
    expect(verdict({ model: "gpt-5" })).toMatchObject({ rejection: { status: 404 } })
  })

  effectIt.effect("is a Layer whose server ends with it", () =>
    Effect.gen(function* () {
      const { baseUrl, rejections: refusals } = yield* AnthropicSimulator
      const answer = yield* Effect.promise(() => fetch(`${baseUrl}/messages`, { method: "POST", body: "{}" }))
      expect([answer.status, refusals]).toEqual([401, ["x-api-key header is required"]])
      yield* Effect.promise(() => answer.text())
    }).pipe(Effect.provide(AnthropicSimulator.layer))
  )
})
