import { describe, expect, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { decode } from "../../../src/wire/chat/ChatRequest.ts"

const tools = [
  { type: "function", function: { name: "f" } },
  { type: "function", function: { name: "g" } },
  { type: "custom", custom: { name: "patch" } }
]
const f = { type: "function", function: { name: "f" } }
const unknown = { type: "function", function: { name: "x" } }
const allowed = (mode: unknown, ...named: ReadonlyArray<unknown>) => ({
  type: "allowed_tools",
  allowed_tools: { mode, tools: named }
})
const read = (more: object) => decode({ model: "auto", messages: [{ role: "user", content: "hi" }], ...more })
const fault = (more: object) => {
  const { code, param } = Either.getOrThrow(Either.flip(read(more)))
  return `${code} ${param}`
}

describe("a tool choice", () => {
  it.each([
    "auto",
    "none",
    "required",
    f,
    { type: "custom", custom: { name: "patch" } },
    allowed("auto", f),
    allowed("required", f, { type: "custom", custom: { name: "patch" } })
  ])("%j is taken as it is", (tool_choice) => {
    expect(Either.getOrThrow(read({ tools, tool_choice })).toolChoice).toEqual(tool_choice)
  })

  it.each([
    [{}],
    [{ foo: 1 }],
    [{ type: "function" }],
    [{ type: "function", name: "f" }],
    [{ type: "function", function: { name: 5 } }],
    [{ function: { name: "f" } }],
    [{ type: "tool", name: "f" }],
    [{ type: "any" }],
    [{ type: "auto" }],
    [unknown],
    [{ type: "custom", custom: { name: "f" } }],
    [{ type: "function", function: { name: "patch" } }],
    [allowed("auto", unknown)],
    [allowed("auto", f, unknown)],
    [allowed("auto")],
    [allowed("any", f)],
    [allowed(undefined, f)],
    [{ type: "allowed_tools", mode: "auto", tools: [f] }],
    [allowed("auto", { type: "web_search" })],
    [allowed("auto", null)]
  ])("%j is refused", (tool_choice) => {
    expect(fault({ tools, tool_choice })).toBe("invalid_value tool_choice")
  })

  it("needs tools, where it asks for a call", () => {
    for (const none of [{}, { tools: null }, { tools: [] }]) {
      expect(fault({ ...none, tool_choice: "required" })).toBe("invalid_value tool_choice")
      expect(fault({ ...none, tool_choice: f })).toBe("invalid_value tool_choice")
      expect(Either.getOrThrow(read({ ...none, tool_choice: "auto" })).toolChoice).toBe("auto")
      expect(Either.getOrThrow(read({ ...none, tool_choice: "none" })).toolChoice).toBe("none")
    }
  })

  it("loses members that it does not have", () => {
    const tool_choice = { ...f, function: { name: "f", arguments: "{}" }, extra: 1 }
    expect(Either.getOrThrow(read({ tools, tool_choice })).toolChoice).toEqual(f)
  })
})
