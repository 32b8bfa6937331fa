import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import { artifactCall, edited, invalidity, tools } from "../../src/chat/ArtifactTools.ts"
import { maxArtifactBytes } from "../../src/wire/account/Chat.ts"

const callOf = (name: string, fields: object) => artifactCall(name, JSON.stringify(fields))
const reasonOf = <A>(either: Either.Either<A, string>) =>
  Either.match(either, { onLeft: (reason) => reason, onRight: () => "" })

const document = { name: "page.html", media_type: "text/html", content: "<p>" }
const edit = { name: "page.html", old_text: "<p>", new_text: "" }

describe("calls of the tools for artifacts", () => {
  it("are read with the fields that the tools declare", () => {
    expect(callOf("write_artifact", document)).toEqual(Either.right({ _tag: "Write", document }))
    expect(callOf("edit_artifact", edit)).toEqual(Either.right({ _tag: "Edit", edit }))
    const required = tools.map((tool) => tool.type === "function" && tool.function.parameters?.["required"])
    expect(required).toEqual([Object.keys(document), Object.keys(edit)])
  })

  it("name the tool, the field and the reason where nothing can be done, in a text that is not long", () => {
    expect(reasonOf(callOf("delete_artifact", document))).toBe("There is no tool 'delete_artifact'.")
    expect(reasonOf(artifactCall("write_artifact", "{"))).toMatch(/^The arguments are not valid: /)
    expect(reasonOf(callOf("write_artifact", { ...document, name: "a/b" }))).toMatch(/name: /)
    expect(reasonOf(callOf("edit_artifact", { ...edit, old_text: "" }))).toMatch(/old_text: /)
    expect(reasonOf(callOf("write_artifact", { ...document, name: "/".repeat(10_000) })).length).toBeLessThan(400)
  })
})

describe("an edit", () => {
  it("replaces a text that occurs once, and only that", () => {
    expect(edited("one two three", { old_text: "two", new_text: "$& 2" })).toEqual(Either.right("one $& 2 three"))
    expect(edited("one", { old_text: "one", new_text: "" })).toEqual(Either.right(""))
    expect(reasonOf(edited("one", { old_text: "two", new_text: "" }))).toMatch(/does not occur/)
    expect(reasonOf(edited("one one", { old_text: "one", new_text: "" }))).toMatch(/more than once/)
  })

  it("makes no text that could not be written", () => {
    expect(invalidity("a".repeat(maxArtifactBytes))).toBeUndefined()
    expect(invalidity("é".repeat(maxArtifactBytes / 2 + 1))).toBe("It would be too large.")
    expect(invalidity("a\0")).toBe("new_text must not contain NUL.")
  })
})
