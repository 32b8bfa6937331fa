import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Tool } from "../../../../src/domain/Chat.ts"
import { portableName, toolNamesOf } from "../../../../src/provider/protocols/shared/ToolNames.ts"

const tool = (name: string): Tool => ({ type: "function", function: { name } })

describe("tool names", () => {
  it("survive the way to a provider and back, stay apart, and are such as every provider takes", () => {
    const names = fc.uniqueArray(
      fc.oneof(
        fc.string({ minLength: 1, maxLength: 100 }),
        fc.constantFrom("a.b", "a/b", "a_b", "1st", "x".repeat(65), "x".repeat(66))
      )
    )
    fc.assert(
      fc.property(names, (given) => {
        const mapped = toolNamesOf({ tools: given.map(tool), messages: [] })
        const sent = given.map(mapped.toProvider)
        expect(new Set(sent).size).toBe(given.length)
        for (const name of sent) expect(name).toMatch(portableName)
        expect(sent.map(mapped.toClient)).toEqual(given)
      })
    )
  })

  it("stay as they are where they can, and readable where they cannot", () => {
    const mapped = toolNamesOf({ tools: [tool("get_weather"), tool("mcp.files/read file")], messages: [] })
    expect(mapped.toProvider("get_weather")).toBe("get_weather")
    expect(mapped.toProvider("mcp.files/read file")).toMatch(/^mcp_files_read_file_[0-9a-f]{8}$/)
  })

  it("are mapped in calls of the history too, alike with and without the tool", () => {
    const call = { id: "a", type: "function", function: { name: "a.b", arguments: "{}" } } as const
    const history = toolNamesOf({ tools: [], messages: [{ role: "assistant", tool_calls: [call] }] })
    expect(history.toProvider("a.b")).toBe(toolNamesOf({ tools: [tool("a.b")], messages: [] }).toProvider("a.b"))
  })
})
