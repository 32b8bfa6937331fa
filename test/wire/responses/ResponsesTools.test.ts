import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import type { Tool } from "../../../src/domain/Chat.ts"
import { ResponsesRequest } from "../../../src/wire/responses/ResponsesRequestSchema.ts"
import { decodeTools } from "../../../src/wire/responses/ResponsesTools.ts"
import { decoded, refused } from "./ResponsesFixtures.ts"

const f = { type: "function", name: "f", description: "d", parameters: { type: "object" }, strict: true }
const patch = { type: "custom", name: "patch", format: { type: "grammar", syntax: "lark", definition: "start: x" } }
const mail = {
  type: "namespace",
  name: "mail",
  description: "Mail tools.",
  tools: [{ type: "function", name: "send" }, patch]
}

interface Leaf {
  readonly type: string
  readonly name: string
  readonly namespace: string | undefined
}

const nameOf = (tool: Tool): string => (tool.type === "function" ? tool.function.name : tool.custom.name)

describe("tools", () => {
  it("functions and custom tools are nested as chat completions has them", () => {
    const tools = [f, patch]
    expect(Schema.is(ResponsesRequest)({ model: "auto", input: "hi", tools })).toBe(true)
    expect(decoded({ tools }).request.tools).toEqual([
      { type: "function", function: { name: "f", description: "d", parameters: { type: "object" }, strict: true } },
      {
        type: "custom",
        custom: { name: "patch", format: { type: "grammar", grammar: { syntax: "lark", definition: "start: x" } } }
      }
    ])
  })

  it("hosted web search vanishes and is named once, and the response does not claim it", () => {
    const { droppedTools, echo, request } = decoded({
      tools: [
        { type: "web_search" },
        { type: "web_search_preview_2025_03_11", search_context_size: "low" },
        { type: "web_search" },
        { type: "function", name: "g", parameters: null }
      ]
    })
    expect(droppedTools).toEqual(["web_search", "web_search_preview_2025_03_11"])
    expect(request.tools).toEqual([{ type: "function", function: { name: "g" } }])
    expect(echo.tools).toEqual([{ type: "function", name: "g", description: null, parameters: null, strict: null }])
  })

  it("fields that have no effect are named once, and the response does not claim them", () => {
    const given = {
      type: "function",
      name: "g",
      async: true,
      defer_loading: true,
      allowed_callers: ["programmatic"],
      output_schema: { type: "object" }
    }
    const inner = { type: "custom", name: "c" }
    const { echo, request } = decoded({
      tools: [given, { ...mail, tools: [{ ...inner, defer_loading: true }] }, { ...inner, async: false }]
    })
    expect(request.ignored).toEqual([
      "tools.async",
      "tools.defer_loading",
      "tools.allowed_callers",
      "tools.output_schema"
    ])
    expect(request.tools[0]).toEqual({ type: "function", function: { name: "g" } })
    expect(echo.tools).toEqual([
      { type: "function", name: "g", description: null, parameters: null, strict: null },
      { ...mail, tools: [inner] },
      inner
    ])
    expect(decoded({ tools: [{ ...given, async: null, defer_loading: false }] }).request.ignored).toEqual([
      "tools.allowed_callers",
      "tools.output_schema"
    ])
    expect(decoded({ tools: [f, mail] }).request.ignored).toBeUndefined()
  })

  it("a dropped name can never break a header", () => {
    expect(refused({ tools: [{ type: "web_search\r\nx: y" }] })).toBe("unsupported_tool tools[0]")
    expect(refused({ tools: [{ type: "web_search_ä" }] })).toBe("unsupported_tool tools[0]")
  })

  it.each([
    "file_search",
    "code_interpreter",
    "image_generation",
    "mcp",
    "computer_use_preview",
    "local_shell",
    "shell"
  ])("%s is refused", (type) => {
    expect(refused({ tools: [f, { type }] })).toBe("unsupported_tool tools[1]")
  })

  it.each<[unknown, string]>([
    [{ type: "function" }, "missing_required_parameter tools[0].name"],
    [{ name: "f" }, "missing_required_parameter tools[0].type"],
    [{ ...f, parameters: "x" }, "invalid_type tools[0].parameters"],
    [{ type: "custom", name: "c", format: { type: "regex" } }, "invalid_value tools[0].format.type"],
    [{ type: "namespace", name: "n" }, "missing_required_parameter tools[0].tools"],
    [{ type: "namespace", name: "n", tools: [{ type: "mcp" }] }, "unsupported_tool tools[0].tools[0]"]
  ])("%j is refused", (tool, expected) => {
    expect(refused({ tools: [tool] })).toBe(expected)
  })

  it("no more than 1 024 are taken, those of namespaces counted", () => {
    const inner = Array.from({ length: 1_024 }, (_, index) => ({ type: "function", name: `f${index}` }))
    expect(refused({ tools: [f, { type: "namespace", name: "n", tools: inner }] })).toBe("invalid_value tools")
  })
})

describe("namespaces", () => {
  it("are flattened, and calls in the history follow", () => {
    const { echo, request, toolMap } = decoded({
      tools: [mail],
      input: [
        { type: "function_call", call_id: "a", name: "send", namespace: "mail", arguments: "{}" },
        { type: "function_call", call_id: "b", name: "send", arguments: "{}" },
        { type: "custom_tool_call", call_id: "c", name: "patch", namespace: "mail", input: "" },
        { type: "function_call", call_id: "d", name: "gone", namespace: "old", arguments: "{}" }
      ]
    })
    expect(request.tools.map(nameOf)).toEqual(["mail__send", "mail__patch"])
    expect(request.tools[0]).toEqual({
      type: "function",
      function: { name: "mail__send", description: "Mail tools." }
    })
    expect(request.messages[0]).toMatchObject({
      tool_calls: [
        { function: { name: "mail__send" } },
        { function: { name: "mail__send" } },
        { custom: { name: "mail__patch" } },
        { function: { name: "old__gone" } }
      ]
    })
    expect(toolMap.get("mail__send")).toEqual({ kind: "function", name: "send", namespace: "mail" })
    expect(echo.tools).toEqual([mail])
  })

  it("names are distinct, at most 64 characters in namespaces, safe there, reversible and the same each time", () => {
    const name = fc.oneof(
      fc.constantFrom("a", "b", "a__b", "b__c", "x".repeat(40), `${"x".repeat(39)}y`, "ä b"),
      fc.string({ minLength: 1, maxLength: 70 })
    )
    const leaf = fc.record({ type: fc.constantFrom("function", "custom"), name })
    const tool = fc.oneof(
      leaf,
      fc.record({ type: fc.constant("namespace"), name, tools: fc.array(leaf, { maxLength: 5 }) })
    )
    fc.assert(
      fc.property(fc.array(tool, { maxLength: 12 }), (given) => {
        const { map, nameOf: told, tools } = decodeTools(given)
        expect(decodeTools(given).tools).toEqual(tools)
        const leaves: ReadonlyArray<Leaf> = given.flatMap(
          (one): ReadonlyArray<Leaf> =>
            "tools" in one
              ? one.tools.map((inner) => ({ ...inner, namespace: one.name }))
              : [{ ...one, namespace: undefined }]
        )
        const byName = new Map<string, string>()
        leaves.forEach(({ name, namespace, type }, index) => {
          const kind = type === "custom" ? "custom" : "function"
          const upstream = tools[index] === undefined ? "" : nameOf(tools[index])
          expect(told({ kind, name, namespace })).toBe(upstream)
          const origin = map.get(upstream) ?? { kind: "function", name: upstream, namespace: undefined }
          expect(origin).toEqual({ kind, name, namespace })
          if (namespace !== undefined) expect(upstream).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
          const key = JSON.stringify([kind, name, namespace])
          expect(byName.get(upstream) ?? key).toBe(key)
          byName.set(upstream, key)
        })
      })
    )
  })
})

describe("the tool choice", () => {
  const choiceOf = (tool_choice: unknown, tools: ReadonlyArray<object> = [f, patch, mail]) => {
    const { echo, request } = decoded({ tools, tool_choice })
    return [request.toolChoice, echo.tool_choice]
  }
  const search = { type: "web_search" }

  it.each(["none", "auto", "required"])("%s stays", (choice) => {
    expect(choiceOf(choice)).toEqual([choice, choice])
  })

  it("a named tool is nested, by the name models know", () => {
    const named = { type: "function", name: "f" }
    expect(choiceOf(named)).toEqual([{ type: "function", function: { name: "f" } }, named])
    expect(choiceOf({ type: "custom", name: "patch" })[0]).toEqual({ type: "custom", custom: { name: "patch" } })
    expect(choiceOf({ type: "function", name: "send", namespace: "mail" })[0]).toEqual({
      type: "function",
      function: { name: "mail__send" }
    })
  })

  it("a list of allowed tools is nested and loses removed ones", () => {
    const tools = [{ type: "function", name: "f" }, search]
    expect(choiceOf({ type: "allowed_tools", mode: "required", tools })[0]).toEqual({
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "f" } }] }
    })
    expect(choiceOf({ type: "allowed_tools", mode: "required", tools: [search] })).toEqual(["auto", "auto"])
  })

  it("of a removed tool is auto, and without any tool there is none", () => {
    expect(choiceOf(search, [f, search])).toEqual(["auto", "auto"])
    expect(choiceOf(search, [search])).toEqual([undefined, "auto"])
    expect(choiceOf("required", [search])).toEqual([undefined, "auto"])
    expect(choiceOf("none", [])).toEqual([undefined, "none"])
    expect(refused({ tools: [], tool_choice: "required" })).toBe("invalid_value tool_choice")
    expect(refused({ tool_choice: "required" })).toBe("invalid_value tool_choice")
    expect(decoded({ tools: [search], parallel_tool_calls: true }).request.parallelToolCalls).toBeUndefined()
  })

  it.each<[unknown, string]>([
    ["always", "invalid_value tool_choice"],
    [1, "invalid_type tool_choice"],
    [{ type: "function", name: "nope" }, "invalid_value tool_choice"],
    [{ type: "custom", name: "f" }, "invalid_value tool_choice"],
    [{ type: "file_search" }, "unsupported_tool tool_choice"],
    [{ type: "allowed_tools", mode: "none", tools: [] }, "invalid_value tool_choice"],
    [{ type: "allowed_tools", mode: "auto", tools: [] }, "invalid_value tool_choice"],
    [{ type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "x" }] }, "invalid_value tool_choice"],
    [{}, "missing_required_parameter tool_choice"],
    [{ foo: 1 }, "missing_required_parameter tool_choice"],
    [{ type: "function", function: { name: "f" } }, "missing_required_parameter tool_choice"],
    [{ type: "tool", name: "f" }, "unsupported_tool tool_choice"],
    [{ type: "allowed_tools", mode: "auto", tools: [{ type: "mcp" }] }, "unsupported_tool tool_choice"]
  ])("%j is refused", (tool_choice, expected) => {
    expect(refused({ tools: [f], tool_choice })).toBe(expected)
  })
})
