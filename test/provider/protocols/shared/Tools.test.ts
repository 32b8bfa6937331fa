import { describe, expect, it } from "vitest"
import type { Tool, ToolChoice } from "../../../../src/domain/Chat.ts"
import { customToolsOf, toolSetOf } from "../../../../src/provider/protocols/shared/Tools.ts"

const tool = (name: string): Tool => ({ type: "function", function: { name } })
const tools = [tool("a"), tool("b")]
const named = (name: string) => ({ type: "function", function: { name } })

describe("the tools of a request", () => {
  it("are chosen from as the client says", () => {
    const all: ReadonlyArray<ToolChoice | undefined> = ["auto", "none", "required", named("b"), undefined]
    const choices = all.map((toolChoice) => toolSetOf({ tools, toolChoice }))
    expect(choices.map((offer) => ("_tag" in offer ? offer : offer.choice))).toEqual([
      { _tag: "Auto" },
      { _tag: "None" },
      { _tag: "Required" },
      { _tag: "Tool", name: "b" },
      undefined
    ])
  })

  it("are only the allowed ones", () => {
    const allowed = (mode: string, ...names: ReadonlyArray<string>) =>
      toolSetOf({ tools, toolChoice: { type: "allowed_tools", allowed_tools: { mode, tools: names.map(named) } } })
    expect(allowed("required", "b")).toMatchObject({ tools: [{ name: "b" }], choice: { _tag: "Required" } })
    expect(allowed("auto", "a", "c")).toMatchObject({ tools: [{ name: "a" }], choice: { _tag: "Auto" } })
    expect(allowed("required", "c")).toEqual({ tools: [], choice: undefined })
  })

  it("are none and are not chosen from when there are none", () => {
    expect(toolSetOf({ tools: [], toolChoice: "required" })).toEqual({ tools: [], choice: undefined })
  })

  it("do not include what is not there: choosing it is refused", () => {
    expect(toolSetOf({ tools, toolChoice: named("z") })).toMatchObject({
      _tag: "RequestRejected",
      param: "tool_choice"
    })
  })

  it("always have the schema of an object", () => {
    const parameters = [
      undefined,
      {},
      { type: "object" },
      { type: "object", properties: { x: {} } },
      { properties: { x: {} } }
    ]
    const offer = toolSetOf({
      tools: parameters.map((one) => ({ type: "function", function: { name: "f", ...(one && { parameters: one }) } })),
      toolChoice: undefined
    })
    expect("_tag" in offer ? offer : offer.tools.map((one) => one.parameters)).toEqual([
      { type: "object", properties: {} },
      { type: "object", properties: {} },
      { type: "object", properties: {} },
      { type: "object", properties: { x: {} } },
      { type: "object", properties: { x: {} } }
    ])
  })

  it("offer a custom tool as a function of one text that tells its grammar", () => {
    const custom: Tool = {
      type: "custom",
      custom: { name: "patch", format: { type: "grammar", grammar: { syntax: "lark", definition: "start: X" } } }
    }
    const offer = toolSetOf({ tools: [custom, tool("a")], toolChoice: { type: "custom", custom: { name: "patch" } } })
    expect(offer).toMatchObject({
      tools: [
        { name: "patch", parameters: { required: ["input"], properties: { input: { type: "string" } } } },
        { name: "a" }
      ],
      choice: { _tag: "Tool", name: "patch" }
    })
    expect(JSON.stringify(offer)).toContain("lark grammar:\\nstart: X")
    expect(customToolsOf({ tools: [custom, tool("a")] })).toEqual(new Set(["patch"]))
  })
})
